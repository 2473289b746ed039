package jsonl

import (
	"bufio"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// frame compresses what is written between two flushes. Its end makes a whole gzip
// member or zstd frame in the file. The next write begins another one.
type frame struct {
	out *bufio.Writer
	enc encoder // nil: uncompressed
	// open: something was written since the last end.
	open bool
}

type encoder interface {
	io.WriteCloser
	Reset(io.Writer)
}

const frameBuffer = 256 << 10

func newFrame(w io.Writer, c Compression) (*frame, error) {
	f := &frame{out: bufio.NewWriterSize(w, frameBuffer)}
	switch c {
	case Gzip:
		f.enc = gzip.NewWriter(f.out)
	case Zstd:
		// With a concurrency of one the encoder works within Write, without goroutines.
		enc, err := zstd.NewWriter(f.out, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		f.enc = enc
	}
	return f, nil
}

// Write adds to the open frame.
func (f *frame) Write(p []byte) (int, error) {
	if f.enc == nil {
		return f.out.Write(p)
	}
	if !f.open {
		f.enc.Reset(f.out)
		f.open = true
	}
	return f.enc.Write(p)
}

// end closes the open frame, if any, and writes everything out.
func (f *frame) end() error {
	if f.open {
		f.open = false
		if err := f.enc.Close(); err != nil {
			return err
		}
	}
	return f.out.Flush()
}

// reset drops what is buffered and goes on with another writer.
func (f *frame) reset(w io.Writer) {
	f.open = false
	f.out.Reset(w)
}
