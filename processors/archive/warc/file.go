package warc

import (
	"fmt"
	"io"
	"time"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
)

// File writes what follows the head of one WARC file. Its bytes are a function of the
// exchanges that are added. It is not safe for concurrent use.
type File struct {
	out    *counter
	packer *Packer
	// payloads are the payloads in this file, by digest.
	payloads map[string]int // its entry in index
	index    []Entry
	oldest   time.Time
}

// NewFile returns a file whose records go to w.
func NewFile(w io.Writer, p *Packer) *File {
	return &File{out: &counter{w: w}, packer: p, payloads: map[string]int{}}
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

// Add adds the records of an exchange; at is its record in fetched. The exchange is not kept after
// the call.
func (f *File) Add(x *weftpb.Fetched, at codecs.ParsedArchived) error {
	facts := factsOf(x, at)
	if facts.Aside {
		x = x.GetRobots()
	}
	records := f.records(x, facts)
	if len(records) > 0 {
		f.has(time.UnixMilli(codecs.ExchangedMs(x)))
	}
	for i := range records {
		r := &records[i]
		at := f.out.n
		if err := f.write(r); err != nil {
			return fmt.Errorf("write WARC: %w", err)
		}
		if r.entry != nil {
			r.entry.Offset, r.entry.Length = at, f.out.n-at
			f.index = append(f.index, *r.entry)
		}
	}
	return nil
}

func (f *File) write(r *record) error {
	member, err := f.packer.member(r)
	if err == nil {
		_, err = f.out.Write(member)
	}
	return err
}

// has remembers the date of a record.
func (f *File) has(date time.Time) {
	if f.oldest.IsZero() || date.Before(f.oldest) {
		f.oldest = date
	}
}

// Oldest is the date of the oldest record; zero: there is none.
func (f *File) Oldest() time.Time { return f.oldest }

// Size is the length of what was written.
func (f *File) Size() int64 { return f.out.n }

// Index has an entry for each response, in the order of the file. Offsets count from the
// end of the head.
func (f *File) Index() []Entry { return f.index }
