package sim

import (
	"slices"

	"github.com/weftcrawl/weft/topics"
)

// sending is a record that a fetcher wrote to fetched; its offset is -1 until
// it is acknowledged.
type sending struct {
	partition int32
	offset    int64
	bytes     int
}

// book notes what is sent, for the judge alone: the fetcher counts by itself.
func (f *fetcher) book(partition int32, bytes int) *sending {
	s := &sending{partition, -1, bytes}
	f.sent = append(f.sent, s)
	return s
}

// forget drops what was acknowledged in a partition that is somebody else's.
func (f *fetcher) forget(partition int32) {
	f.sent = slices.DeleteFunc(f.sent, func(s *sending) bool { return s.partition == partition && s.offset >= 0 })
}

// judgeBehind judges, when a request passes the gate, how many bytes this
// fetcher has sent and parse has not committed: large and small bodies may each be
// as many as the limit.
func (f *fetcher) judgeBehind() {
	w := f.w
	parse := w.cluster.groups[w.names.Group(topics.Parse)]
	f.sent = slices.DeleteFunc(f.sent, func(s *sending) bool {
		return s.offset >= 0 && s.offset < parse.committed(place{w.names.Fetched, s.partition})
	})
	behind := 0
	for _, s := range f.sent {
		behind += s.bytes
	}
	if most := 2 * w.c.backlogBytes(); int64(behind) >= most {
		w.violate("backlog", "%s lets a request pass with %d bytes not parsed, of less than %d that may be", f.life.name, behind, most)
	}
}
