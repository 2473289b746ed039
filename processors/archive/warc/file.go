package warc

import (
	"crypto/sha1"
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
	payloads map[[sha1.Size]byte]int64 // its entry in index
	index    spool
	oldest   time.Time
}

// NewFile returns a file whose records go to w. The index is collected in scratch, which is empty; nil:
// the file gets no exchanges.
func NewFile(w io.Writer, scratch Scratch, p *Packer) *File {
	return &File{out: &counter{w: w}, packer: p, payloads: map[[sha1.Size]byte]int64{}, index: spool{file: scratch}}
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
	records, err := f.records(x, facts)
	if err != nil {
		return err
	}
	if len(records) > 0 {
		f.has(time.UnixMilli(codecs.ExchangedMs(x)))
	}
	for i := range records {
		r := &records[i]
		at := f.out.n
		if err := f.write(r); err != nil {
			return fmt.Errorf("write WARC: %w", err)
		}
		if r.entry == nil {
			continue
		}
		r.entry.Offset, r.entry.Length = at, f.out.n-at
		place, err := f.index.add(r.entry)
		if err != nil {
			return err
		}
		if r.entry.original {
			f.payloads[r.entry.sum] = place
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

// Responses is the number of responses, which are in the index.
func (f *File) Responses() int { return f.index.entries }

// Index returns the sorted index of a file with this name, whose head has headBytes. It is a part of the
// scratch file. All of it is in memory meanwhile.
func (f *File) Index(name string, headBytes int64) (*io.SectionReader, error) {
	return f.index.sorted(name, headBytes)
}
