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
	out := bufio.NewWriterSize(w, frameBuffer)
	enc, err := newEncoder(out, c)
	return &frame{out: out, enc: enc}, err
}

// newEncoder returns an encoder; nil: c is None.
func newEncoder(w io.Writer, c Compression) (encoder, error) {
	switch c {
	case Gzip:
		return gzip.NewWriter(w), nil
	case Zstd:
		// With a concurrency of one the encoder works within Write, without goroutines.
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	default:
		return nil, nil
	}
}

// NewWriter returns a writer of a whole file, which is one frame.
func NewWriter(w io.Writer, c Compression) (io.WriteCloser, error) {
	enc, err := newEncoder(w, c)
	if err != nil || enc != nil {
		return enc, err
	}
	return plain{w}, nil
}

// plain is a writer that does not compress.
type plain struct{ io.Writer }

func (plain) Close() error { return nil }

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
