package warc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// largestBlock bounds the block of a record in a stream: a record of parsed, or an exchange with a
// body of 256 MiB.
const largestBlock = 512 << 20

// Records yields the records of a whole file, from its beginning to its end. It stops after an error.
func Records(file io.Reader) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		in, end, err := stream(file)
		if err != nil {
			yield(Record{}, err)
			return
		}
		defer end()
		for {
			r, err := readRecord(in)
			if err == io.EOF { // a record that is cut wraps it
				return
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// stream returns a reader of all members without their compression, and a function that ends it.
func stream(file io.Reader) (in *bufio.Reader, end func(), err error) {
	packed := bufio.NewReaderSize(file, 64<<10)
	begin, _ := packed.Peek(2)
	if bytes.Equal(begin, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(packed)
		if err != nil {
			return nil, nil, fmt.Errorf("%w: %w", ErrRecord, err)
		}
		return bufio.NewReaderSize(z, 64<<10), func() {}, nil
	}
	z, err := zstd.NewReader(packed, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	return bufio.NewReaderSize(z, 64<<10), z.Close, nil
}

// readRecord reads the next record. The error is io.EOF if there is none.
func readRecord(in *bufio.Reader) (Record, error) {
	var text []byte
	for len(text) == 0 || !bytes.HasSuffix(text, []byte("\r\n\r\n")) {
		line, err := in.ReadBytes('\n')
		text = append(text, line...)
		switch {
		case errors.Is(err, io.EOF) && len(text) == 0:
			return Record{}, io.EOF
		case err != nil || len(text) > InfoBytes:
			return Record{}, fmt.Errorf("%w: its head is cut: %w", ErrRecord, err)
		}
	}
	r, _ := recordIn(text) // without its block
	size, err := strconv.Atoi(r.Field("Content-Length"))
	if err != nil || size < 0 || size > largestBlock {
		return r, fmt.Errorf("%w: its length is %q", ErrRecord, r.Field("Content-Length"))
	}
	var block bytes.Buffer // which grows with what is there, and not with what is announced
	if _, err := io.CopyN(&block, in, int64(size+len(recordEnd))); err != nil {
		return r, fmt.Errorf("%w: its block is cut: %w", ErrRecord, errors.Join(err, io.ErrUnexpectedEOF))
	}
	r.Block = block.Bytes()[:size]
	return r, nil
}
