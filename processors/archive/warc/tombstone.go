package warc

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// erasedField is the field in the block of a tombstone that names the erasure.
const erasedField = "weft-erased"

// Tombstone is a member of a given length, which takes the place of a record that was erased. It says
// nothing of that record. erasure names the erasure, and when is its time.
func Tombstone(file string, offset, length int64, erasure string, when time.Time) ([]byte, error) {
	c := compressionOf(file)
	overhead, perBlock := int64(len(storedGzip(nil))-5), int64(5)
	if c == Zstd {
		overhead, perBlock = int64(len(storedZstd(nil))-3), 3
	}
	blocks := (length - overhead + mostStored + perBlock - 1) / (mostStored + perBlock)
	text := tombstone(file, offset, length-overhead-perBlock*blocks, erasure, when)
	if text == nil {
		return nil, fmt.Errorf("the record in %s at %d has only %d bytes: a tombstone has no room", file, offset, length)
	}
	parts := [][]byte{text}
	if int64(len(text)) <= mostStored*(blocks-1) {
		parts = append(parts, nil) // a last block that is empty
	}
	if c == Zstd {
		return appendZstdSum(appendRawZstd(appendZstdHeader(nil, parts), parts), parts), nil
	}
	return appendGzipEnd(appendStoredDeflate(bytes.Clone(gzipHeader), parts), parts), nil
}

// tombstone is a record of a given length; nil: the length is too small. Spaces in its block fill it.
func tombstone(file string, offset, length int64, erasure string, when time.Time) []byte {
	id := uuid.NewSHA1(uuid.NameSpaceURL, []byte(erasedField+"\x00"+file+"\x00"+strconv.FormatInt(offset, 10)))
	var text []byte
	text = append(text, "WARC/1.1\r\n"...)
	text = appendField(text, "WARC-Type", "metadata")
	text = appendField(text, "WARC-Record-ID", "<urn:uuid:"+id.String()+">")
	text = appendField(text, "WARC-Date", when.UTC().Format(time.RFC3339))
	text = appendField(text, "Content-Type", "application/warc-fields")
	text = append(text, "Content-Length: "...)
	says := erasedField + ": " + erasure
	rest := int(length) - len(text) - len("\r\n\r\n") - len(recordEnd) // for the number and the block
	digits := 1
	for len(strconv.Itoa(rest-digits)) > digits {
		digits++
	}
	fill := rest - digits - len(says) - len("\r\n")
	if fill < 0 {
		return nil
	}
	// A zero before the number is allowed, and needed where one more digit would be one byte too many.
	text = fmt.Appendf(text, "%0*d\r\n\r\n%s%s\r\n", digits, rest-digits, says, strings.Repeat(" ", fill))
	return append(text, recordEnd...)
}

// compressionOf is the compression of a file by its name.
func compressionOf(file string) Compression {
	if strings.HasSuffix(file, Zstd.Extension()) {
		return Zstd
	}
	return Gzip
}

// Erasure names the erasure whose tombstone the record is; empty: it is a record.
func (r Record) Erasure() string {
	text, ok := bytes.CutPrefix(r.Block, []byte(erasedField+": "))
	if !ok || r.Field("WARC-Type") != "metadata" {
		return ""
	}
	return string(bytes.TrimSpace(text))
}
