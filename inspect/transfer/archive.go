package transfer

import (
	"cmp"
	"errors"
	"io"
	"path/filepath"
	"slices"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// Archive is an export that was checked and can be imported.
type Archive struct {
	Manifest
	dir string
}

// OpenArchive opens the export in dir and checks all its files. The error wraps ErrExport
// and names a missing or damaged file.
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

// entry is a record of an export, and its log.
type entry struct {
	*weftpb.Archived
	log Log
}

// each calls visit with the records of a topic, by its short name. Records of one partition
// come in order, records of several partitions about in the order of their time.
func (a *Archive) each(topic string, visit func(entry) error) error {
	type stream struct {
		in   *segmentReader
		head entry
	}
	var open []*stream
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
		s := &stream{in: in, head: entry{log: l}}
		open = append(open, s)
		if s.head.Archived, err = in.next(); err != nil {
			return err // a file has at least one record
		}
	}
	for len(open) > 0 {
		first := slices.MinFunc(open, func(a, b *stream) int {
			return cmp.Or(cmp.Compare(a.head.TimestampMs, b.head.TimestampMs), cmp.Compare(a.head.log.Partition, b.head.log.Partition))
		})
		if err := visit(first.head); err != nil {
			return err
		}
		var err error
		first.head.Archived, err = first.in.next()
		if errors.Is(err, io.EOF) {
			first.in.close()
			open = slices.DeleteFunc(open, func(s *stream) bool { return s == first })
		} else if err != nil {
			return err
		}
	}
	return nil
}
