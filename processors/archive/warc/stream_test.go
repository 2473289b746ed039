package warc

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// A whole file is read as its members are. What is cut is an error behind the records before it.
func TestRecords(t *testing.T) {
	for _, c := range []Compression{Gzip, Zstd} {
		file, index := write(t, Options{Compression: c}, all()...)
		blocks := map[string][]byte{}
		for _, l := range index {
			r, err := ReadMember(file[l.Offset : l.Offset+l.Length])
			must(t, err)
			blocks[r.Field("WARC-Record-ID")] = r.Block
		}
		read, kinds := 0, map[string]int{}
		for r, err := range Records(bytes.NewReader(file)) {
			must(t, err)
			kinds[r.Field("WARC-Type")]++
			if want, indexed := blocks[r.Field("WARC-Record-ID")]; indexed {
				if read++; !bytes.Equal(r.Block, want) {
					t.Errorf("%s: %s is %q, want %q", c, r.Field("WARC-Record-ID"), r.Block, want)
				}
			}
		}
		if read != len(index) || kinds["warcinfo"] != 1 || kinds["request"] != len(index) {
			t.Errorf("%s: %d of %d responses, %v", c, read, len(index), kinds)
		}
		records, failures := 0, 0
		for _, err := range Records(bytes.NewReader(file[:len(file)-20])) {
			if records++; err != nil {
				failures++
			}
		}
		if failures != 1 || records < len(index) {
			t.Errorf("%s: a file that is cut has %d records and %d errors", c, records, failures)
		}
	}
}

// A member that becomes too large is an error, before it takes the memory.
func TestMembersAreBounded(t *testing.T) {
	text := bytes.Repeat([]byte{'a'}, 2001)
	for _, c := range []Compression{Gzip, Zstd} {
		p, err := NewPacker(Options{Compression: c})
		must(t, err)
		member, err := p.format.pack(nil, text)
		must(t, err)
		for limit, fits := range map[int]bool{2000: false, 2001: true} {
			u := unpacker{limit: limit}
			got, err := u.unpack(bufio.NewReader(bytes.NewReader(member)), member)
			u.close()
			if (err == nil) != fits || fits && !bytes.Equal(got, text) {
				t.Errorf("%s, at most %d bytes: %d bytes, %v", c, limit, len(got), err)
			}
		}
	}
	// A frame of one segment that says that it has 600 MiB.
	large := binary.LittleEndian.AppendUint32([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xa0}, 600<<20)
	large = append(large, 1<<3|1<<1|1, 0, 0, 'a')
	if _, err := ReadMember(large); !errors.Is(err, ErrRecord) || !errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		t.Error(err)
	}
}

// Whatever a file has, reading it ends, and every error is one of records.
func FuzzRecords(f *testing.F) {
	for _, c := range []Compression{Gzip, Zstd} {
		file, _ := write(f, Options{Compression: c}, all()...)
		f.Add(file)
		f.Add(file[:len(file)/2])
	}
	f.Add(storedGzip([]byte("WARC/1.1\r\nContent-Length: 400000000\r\n\r\nshort")))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, file []byte) {
		for r, err := range Records(bytes.NewReader(file)) {
			if err != nil && !errors.Is(err, ErrRecord) {
				t.Fatal(err)
			}
			if err == nil && r.Field("Content-Length") == "" {
				t.Fatalf("a record without a length: %q", r.Block)
			}
		}
	})
}
