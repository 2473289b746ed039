package duplicates

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kgo"
)

// partition is what the process knows of a partition besides what is on disk.
type partition struct {
	number int32
	here   atomic.Bool // the partition is assigned to the process
	// current: the fold has everything that other processes wrote before the partition
	// was assigned.
	current atomic.Bool

	// order is locked from a page's judgement until its writer has the page. It guards
	// next, the offset that the fold goes on with, and known, which is nil until it is
	// loaded.
	order sync.Mutex
	next  int64
	known *known

	mu sync.Mutex
	// flight has the pages that are judged and not folded, in order.
	flight []*Flight
}

// Flight is a page that is judged. It is in flight until it is written.
type Flight struct {
	// Verdict says which page it is a duplicate of.
	Verdict Verdict

	index     *Index
	partition *partition // nil until its order is locked
	handed    bool       // to the writer
	entry     *entry     // nil: the page has no text

	landed        chan struct{} // closed when the page is written or has failed
	offset, bytes int64         // where it was written; offset -1: it was not
}

// Hand notes that the page is given to the writer of the log now. The writer calls the
// result once, from any goroutine, with the record as it is acknowledged, or with the error.
func (f *Flight) Hand() (written func(*kgo.Record, error)) {
	f.handed = true
	return f.written
}

func (f *Flight) written(r *kgo.Record, err error) {
	f.offset = -1
	if err == nil {
		f.offset, f.bytes = r.Offset, int64(len(r.Value))
	}
	close(f.landed)
}

// Release lets the next page of the partition be judged. A page that was not handed to the
// writer, because its caller panics, counts as not written.
func (f *Flight) Release() {
	if !f.handed {
		f.written(nil, errNotHanded)
	}
	if f.partition != nil {
		f.partition.order.Unlock()
	}
	f.index.open.RUnlock()
}

// errNotHanded: the page was not given to the writer of the log.
var errNotHanded = errors.New("the page was not given to its writer")

// hasLanded tells whether the page is written or has failed.
func (f *Flight) hasLanded() bool {
	select {
	case <-f.landed:
		return true
	default:
		return false
	}
}

// addFlight notes a page that is judged and whose record is not written yet.
func (p *partition) addFlight(f *Flight) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flight = append(p.flight, f)
}

// wait waits, until ctx ends, until every page in flight is written or has failed.
func (p *partition) wait(ctx context.Context) {
	p.mu.Lock()
	flight := slices.Clone(p.flight)
	p.mu.Unlock()
	for _, f := range flight {
		select {
		case <-f.landed:
		case <-ctx.Done():
			return
		}
	}
}

// readLogAgain makes the next judgement begin with reading the log, to which other processes
// may have written. here: the partition is assigned to this process. What is in memory is
// dropped if no judgement is using it.
func (p *partition) readLogAgain(here bool) {
	p.here.Store(here)
	p.current.Store(false)
	if p.order.TryLock() {
		p.known = nil
		p.order.Unlock()
	}
}

// lapse makes the next judgement begin with reading the log. order is locked.
func (p *partition) lapse() {
	p.current.Store(false)
	p.known = nil
}

// forget removes what is on disk, unless a page is being judged.
func (p *partition) forget(s *store) error {
	if !p.order.TryLock() {
		return nil
	}
	defer p.order.Unlock()
	p.lapse()
	return s.forget(p.number)
}

// resume finds where the fold goes on in a log with these bounds. If the index is beyond
// the log's end, it has records that the broker lost when it ended uncleanly: the index of
// the partition is emptied.
func (p *partition) resume(s *store, start, end int64) error {
	next, err := s.next(p.number)
	if err == nil && next > end {
		next, err = 0, s.forget(p.number)
	}
	if err == nil {
		p.known, err = s.load(p.number)
	}
	if err != nil {
		return err
	}
	p.next = max(next, start)
	p.current.Store(true)
	return nil
}

// searchFlight completes a match with the pages in flight.
func (p *partition) searchFlight(m *match) Verdict {
	for _, f := range p.flight {
		if f.entry == nil || f.hasLanded() && f.offset < 0 || m.settled() {
			continue
		}
		e := *f.entry
		switch {
		case e.id == m.of.id && e.print.Hash == m.of.print.Hash:
			m.verdict, m.original = e.verdict, true
		case e.print.Hash == m.of.print.Hash || e.representative():
			m.consider(e)
		case e.follower():
			m.follows(e)
		}
	}
	return m.verdict
}

// settle folds the pages in flight up to the first that is neither written nor failed. If
// other processes have written between them, it returns the offset before which the fold
// lacks their records, else 0.
func (p *partition) settle(s *store) (others int64, err error) {
	for p.known != nil && len(p.flight) > 0 { // without known, the log is read later
		f := p.flight[0]
		switch {
		case !f.hasLanded():
			return 0, nil
		case f.offset < p.next: // not written, or read from the log
		case f.offset > p.next:
			return f.offset, nil
		default:
			if err := s.fold(p, f.bytes, f.entry); err != nil {
				return 0, err
			}
		}
		p.mu.Lock()
		p.flight = p.flight[1:]
		p.mu.Unlock()
	}
	return 0, nil
}
