package fetch

import (
	"sync"

	"github.com/weftcrawl/weft/processors/fetch/httpclient"
)

// partition is one partition that is assigned to this process.
type partition struct {
	visits   *ReleasedVisits
	inFlight *inFlight
	// takenOver: its takeover is complete. Only completeTakeovers uses it.
	takenOver bool
}

// partitions are those that are assigned to this process, by number. They are safe
// for concurrent use.
type partitions struct{ sync.Map } // int32 → *partition

// get returns a partition, nil when it is not assigned.
func (s *partitions) get(number int32) *partition {
	p, _ := s.Load(number)
	assigned, _ := p.(*partition)
	return assigned
}

// len is the number of partitions.
func (s *partitions) len() (n int) {
	s.Range(func(any, any) bool { n++; return true })
	return n
}

// inFlight returns the requests in flight of a partition, nil when it is not
// assigned.
func (s *partitions) inFlight(number int32) *inFlight {
	if p := s.get(number); p != nil {
		return p.inFlight
	}
	return nil
}

// put adds a partition, in place of one that was assigned before.
func (s *partitions) put(number int32, p *partition) {
	s.remove(number)
	s.Store(number, p)
}

// remove ends the work on a partition.
func (s *partitions) remove(number int32) {
	if p, assigned := s.LoadAndDelete(number); assigned {
		p.(*partition).visits.End(httpclient.ErrLeaseLost)
	}
}

// end ends the work on every partition.
func (s *partitions) end() {
	for _, p := range s.Range {
		p.(*partition).visits.End(httpclient.ErrLeaseLost)
	}
}

// takingOver returns the partitions whose takeover is not complete.
func (s *partitions) takingOver() map[int32]*partition {
	waiting := map[int32]*partition{}
	for number, p := range s.Range {
		if p := p.(*partition); !p.takenOver {
			waiting[number.(int32)] = p
		}
	}
	return waiting
}
