package duplicates

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// partition is what the process knows of one beside what is on disk.
type partition struct {
	// order is held from a page's judgement until its writer has it, and guards
	// next, the offset that the fold goes on with, and known, nil until it is loaded.
	order sync.Mutex
	next  int64
	known *known

	mu   sync.Mutex
	here bool // the process was given it
	// current: the fold has reached what others wrote before the partition came
	// here.
	current bool
	// flight has the pages that are judged and not folded, in order.
	flight []*flying
	open   int           // of flight, that have no outcome
	idle   chan struct{} // closed when open becomes 0; nil: nobody waits
}

// flying is a page in flight; entry is nil for one without text.
type flying struct {
	of            *partition
	entry         *entry
	done          bool
	offset, bytes int64 // where it was written; offset -1: nowhere
}

// begin puts a page in flight.
func (p *partition) begin(e *entry) *flying {
	f := &flying{of: p, entry: e}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flight = append(p.flight, f)
	p.open++
	return f
}

// written notes what became of the page.
func (f *flying) written(offset, bytes int64, err error) {
	p := f.of
	p.mu.Lock()
	defer p.mu.Unlock()
	f.done, f.offset, f.bytes = true, offset, bytes
	if err != nil {
		f.offset = -1
	}
	p.open--
	if p.open == 0 && p.idle != nil {
		close(p.idle)
		p.idle = nil
	}
}

// wait waits, until ctx ends, until no page is without an outcome.
func (p *partition) wait(ctx context.Context) {
	p.mu.Lock()
	if p.open == 0 {
		p.mu.Unlock()
		return
	}
	if p.idle == nil {
		p.idle = make(chan struct{})
	}
	idle := p.idle
	p.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
}

// take makes the next judgement begin with the log: others may have written to it.
func (p *partition) take() { p.begins(true) }

// release is take for a partition that goes to somebody else.
func (p *partition) release() { p.begins(false) }

// begins makes the next judgement begin with the log. What is in memory goes, if
// nobody is using it.
func (p *partition) begins(here bool) {
	p.mu.Lock()
	p.here, p.current = here, false
	p.mu.Unlock()
	if p.order.TryLock() {
		p.known = nil
		p.order.Unlock()
	}
}

// lapse makes the next judgement begin with the log. The order is held.
func (p *partition) lapse() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.current, p.known = false, nil
}

// forget removes what is on disk, unless a page is being judged.
func (p *partition) forget(s *store, number int32) error {
	if !p.order.TryLock() {
		return nil // it is here
	}
	defer p.order.Unlock()
	p.lapse()
	return s.forget(number)
}

func (p *partition) isCurrent() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.current
}

// isHere tells whether the process has the partition. Who judges its pages does.
func (p *partition) isHere() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.here || p.current
}

// resume finds where the fold goes on in a log with these bounds. An index that
// is beyond the log's end knows of records that an unclean end has cut: it is
// emptied.
func (p *partition) resume(s *store, number int32, start, end int64) error {
	next, err := s.next(number)
	if err == nil && next > end {
		next, err = 0, s.forget(number)
	}
	if err == nil {
		p.known, err = s.load(number)
	}
	if err != nil {
		return err
	}
	p.next = max(next, start)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.current = true
	return nil
}

// search looks in what is in flight, too.
func (p *partition) search(m *match) Verdict {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.flight {
		if f.entry == nil || f.done && f.offset < 0 || m.settled() {
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

// gap says that somebody else wrote records before end, which the fold lacks.
type gap struct{ end int64 }

var errGap = errors.New("others wrote")

func (g gap) Error() string { return fmt.Sprintf("%v before offset %d", errGap, g.end) }
func (g gap) Unwrap() error { return errGap }

// settle folds the pages in flight that have an outcome, up to the first that has
// none. It returns a gap where one is.
func (p *partition) settle(s *store, number int32) error {
	for {
		f := p.head()
		if f == nil || p.known == nil {
			return nil // or the log has it
		}
		switch {
		case f.offset < p.next: // written nowhere, or read from the log
		case f.offset > p.next:
			return gap{f.offset}
		default:
			if err := s.fold(number, p.known, f.offset, f.bytes, f.entry); err != nil {
				return err
			}
			p.next++
		}
		p.mu.Lock()
		p.flight = p.flight[1:]
		p.mu.Unlock()
	}
}

// head is the oldest page in flight, if it has an outcome.
func (p *partition) head() *flying {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.flight) == 0 || !p.flight[0].done {
		return nil
	}
	return p.flight[0]
}
