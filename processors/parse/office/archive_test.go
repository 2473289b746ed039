package office

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/weftcrawl/weft/processors/parse/extract"
)

// zip64 makes an archive of names and contents in turn, with all sizes and offsets in fields of ZIP64, as programs
// write that do not know the size of a file ahead.
func zip64(parts ...string) []byte {
	var b, directory bytes.Buffer
	put := func(w *bytes.Buffer, numbers ...any) {
		for _, n := range numbers {
			_ = binary.Write(w, binary.LittleEndian, n)
		}
	}
	for i := 0; i < len(parts); i += 2 {
		name, content, at := parts[i], parts[i+1], uint64(b.Len())
		sum, size := crc32.ChecksumIEEE([]byte(content)), uint64(len(content))
		b.WriteString(localHeader)
		put(&b, uint16(45), uint16(0), uint16(0), uint32(0), sum, uint32(large), uint32(large), uint16(len(name)), uint16(20))
		b.WriteString(name)
		put(&b, uint16(1), uint16(16), size, size)
		b.WriteString(content)
		directory.WriteString(directoryHeader)
		put(&directory, uint16(45), uint16(45), uint16(0), uint16(0), uint32(0), sum, uint32(large), uint32(large), uint16(len(name)),
			uint16(5+28), uint16(0), uint16(0), uint16(0), uint32(0), uint32(large))
		directory.WriteString(name)
		put(&directory, uint16(7), uint16(1), byte(0), uint16(1), uint16(24), size, size, at)
	}
	from, size := uint64(b.Len()), uint64(directory.Len())
	b.Write(directory.Bytes())
	end := uint64(b.Len())
	b.WriteString(end64Header)
	put(&b, uint64(44), uint16(45), uint16(45), uint32(0), uint32(0), uint64(len(parts)/2), uint64(len(parts)/2), size, from)
	b.WriteString(locator)
	put(&b, uint32(0), end, uint32(1))
	b.WriteString(directoryEnd)
	put(&b, uint16(0), uint16(0), uint16(0xffff), uint16(0xffff), uint32(large), uint32(large), uint16(0))
	return b.Bytes()
}

func TestZip64(t *testing.T) {
	body := zip64("[Content_Types].xml", "<Types/>", "word/document.xml", wordHead+`</w:body></w:document>`)
	if got := Read(body, options()); got.Text != "before" || got.Outcome != extract.Whole {
		t.Errorf("%q, %q", got.Text, got.Outcome)
	}
	for n := range body { // a part of it is damaged, and harms nothing
		Read(body[:n], options())
		changed := bytes.Clone(body)
		changed[n] ^= 0xff
		Read(changed, options())
	}
}
