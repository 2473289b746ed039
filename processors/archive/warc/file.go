package warc

import (
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// File writes what follows the head of one WARC file. Its bytes are a function of the
// exchanges that are added. It is not safe for concurrent use.
type File struct {
	out  *counter
	gz   *gzip.Writer
	zst  *zstd.Encoder
	text []byte // of a record, before zstd
	// payloads are the payloads in this file, by digest.
	payloads map[string]int // its entry in index
	index    []Entry
}

// NewFile returns a file whose records go to w.
func NewFile(w io.Writer, o Options) (*File, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	f := &File{out: &counter{w: w}, payloads: map[string]int{}}
	var err error
	if o.Compression == Zstd {
		f.zst, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.EncoderLevel(o.Level)), zstd.WithLowerEncoderMem(true))
	} else {
		f.gz, err = gzip.NewWriterLevel(f.out, o.Level)
	}
	if err != nil {
		return nil, fmt.Errorf("warc: %w", err)
	}
	return f, nil
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// Add adds the records of an exchange. The exchange is not kept after the call.
func (f *File) Add(x *weftpb.Fetched) error {
	if x.GetRobots() != nil {
		x = x.GetRobots()
	}
	records := f.records(x)
	for i := range records {
		r := &records[i]
		at := f.out.n
		if err := f.member(r); err != nil {
			return fmt.Errorf("write WARC: %w", err)
		}
		if r.entry != nil {
			r.entry.Offset, r.entry.Length = at, f.out.n-at
			f.index = append(f.index, *r.entry)
		}
	}
	return nil
}

// Size is the length of what was written.
func (f *File) Size() int64 { return f.out.n }

// Index has an entry for each response, in the order of the file. Offsets count from the
// end of the head.
func (f *File) Index() []Entry { return f.index }

func (f *File) member(r *record) error {
	if f.gz != nil {
		f.gz.Reset(f.out)
		for _, part := range r.parts() {
			if _, err := f.gz.Write(part); err != nil {
				return err
			}
		}
		return f.gz.Close()
	}
	f.text = f.text[:0]
	for _, part := range r.parts() {
		f.text = append(f.text, part...)
	}
	frame := f.zst.EncodeAll(f.text, nil)
	if cap(f.text) > largeText {
		f.text = nil
	}
	_, err := f.out.Write(frame)
	return err
}

// largeText is the size of a buffer that is not kept.
const largeText = 1 << 20
