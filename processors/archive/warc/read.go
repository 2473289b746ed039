package warc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Record is a record that was read.
type Record struct {
	fields []Field
	// Block is the whole block.
	Block []byte
}

// ErrRecord means that a member is not one record of WARC.
var ErrRecord = errors.New("this is not a WARC record")

// ReadMember reads the record in a member of a file.
func ReadMember(member []byte) (r Record, err error) {
	var in io.Reader
	if bytes.HasPrefix(member, []byte{0x1f, 0x8b}) {
		in, err = gzip.NewReader(bytes.NewReader(member))
	} else {
		var d *zstd.Decoder
		if d, err = zstd.NewReader(bytes.NewReader(member), zstd.WithDecoderConcurrency(1)); err == nil {
			defer d.Close()
			in = d
		}
	}
	if err != nil {
		return Record{}, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return Record{}, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	head, block, ok := bytes.Cut(text, []byte("\r\n\r\n"))
	if !ok || !bytes.HasPrefix(head, []byte("WARC/1.1\r\n")) {
		return Record{}, ErrRecord
	}
	for line := range strings.SplitSeq(string(head), "\r\n") {
		if name, value, ok := strings.Cut(line, ": "); ok {
			r.fields = append(r.fields, Field{name, value})
		}
	}
	size, err := strconv.Atoi(r.Field("Content-Length"))
	if err != nil || size < 0 || size > len(block) {
		return Record{}, fmt.Errorf("%w: its length is %q", ErrRecord, r.Field("Content-Length"))
	}
	r.Block = block[:size]
	return r, nil
}

// Field returns the value of a field; empty if there is none.
func (r Record) Field(name string) string {
	for _, f := range r.fields {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// Message divides a block that is an HTTP message.
func (r Record) Message() (head, payload []byte) {
	end := len(r.Block)
	for _, empty := range []string{"\r\n\r\n", "\n\n"} {
		if i := bytes.Index(r.Block, []byte(empty)); i >= 0 {
			end = min(end, i+len(empty))
		}
	}
	return r.Block[:end], r.Block[end:]
}
