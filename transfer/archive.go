package transfer

import (
	"cmp"
	"container/heap"
	"errors"
	"io"
	"path/filepath"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// Archive is an export that was checked, ready to be imported.
type Archive struct {
	Manifest
	dir string
}

// OpenArchive opens the export in dir and checks every file of it. The error
// wraps ErrExport and names the file that is missing or damaged.
func OpenArchive(dir string) (*Archive, error) {
	m, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	for _, l := range m.Logs {
		if l.File == "" {
			continue
		}
		if err := checkSegment(filepath.Join(dir, l.File), l); err != nil {
			return nil, err
		}
	}
	return &Archive{*m, dir}, nil
}

// entry is a record of an export, and the log that it was in.
type entry struct {
	*weftpb.Archived
	log Log
}

// each calls visit with the records of a topic, by its short name: those of a
// partition in order, those of different ones about in the order of their time.
func (a *Archive) each(topic string, visit func(entry) error) error {
	var open streams
	defer func() {
		for _, s := range open {
			s.in.close()
		}
	}()
	for _, l := range a.logs(topic) {
		if l.File == "" {
			continue
		}
		in, err := openSegment(filepath.Join(a.dir, l.File))
		if err != nil {
			return err
		}
		s := &stream{log: l, in: in}
		open = append(open, s)
		if s.head, err = in.next(); err != nil {
			return err // a file has at least one record
		}
	}
	heap.Init(&open)
	for len(open) > 0 {
		first := open[0]
		if err := visit(entry{first.head, first.log}); err != nil {
			return err
		}
		var err error
		switch first.head, err = first.in.next(); {
		case err == nil:
			heap.Fix(&open, 0)
		case errors.Is(err, io.EOF):
			heap.Pop(&open)
			first.in.close()
		default:
			return err
		}
	}
	return nil
}

// stream is a segment that is being read, and the record that comes next.
type stream struct {
	log  Log
	in   *segmentReader
	head *weftpb.Archived
}

// streams is a heap: the one whose next record is oldest is first.
type streams []*stream

func (s streams) Len() int      { return len(s) }
func (s streams) Swap(i, j int) { s[i], s[j] = s[j], s[i] }
func (s *streams) Push(x any)   { *s = append(*s, x.(*stream)) }

func (s streams) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(s[i].head.TimestampMs, s[j].head.TimestampMs), cmp.Compare(s[i].log.Partition, s[j].log.Partition)) < 0
}

func (s *streams) Pop() any {
	last := (*s)[len(*s)-1]
	*s = (*s)[:len(*s)-1]
	return last
}
