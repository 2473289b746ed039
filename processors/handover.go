package processors

import (
	"context"
	"sync"
	"time"

	"github.com/weftcrawl/weft/fetch"
)

// flights are the requests in flight of one partition. Before the partition goes
// to another fetcher they land: what they bring is acknowledged and reported, and
// the other one repeats none of them.
type flights struct {
	mu     sync.Mutex
	open   int
	closed bool
	landed chan struct{} // closed when no request begins any more and none is open

	cutting context.Context // ends when requests are to be cut off
	cut     context.CancelFunc
}

func newFlights() *flights {
	f := &flights{landed: make(chan struct{})}
	f.cutting, f.cut = context.WithCancel(context.Background())
	return f
}

// begin begins a request, whose end the caller tells by calling done. Its context
// ends when the request is cut off. ok is false when none begins any more.
func (f *flights) begin(ctx context.Context) (inner context.Context, done func(), ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, nil, false
	}
	f.open++
	inner, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(f.cutting, func() { cancel(fetch.ErrLeaseLost) })
	return inner, func() {
		stop()
		cancel(nil)
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.open--; f.closed && f.open == 0 {
			close(f.landed)
		}
	}, true
}

// close lets no request begin any more.
func (f *flights) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	if f.closed = true; f.open == 0 {
		close(f.landed)
	}
}

// over tells whether no request begins any more.
func (f *flights) over() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}

// handOver ends what is begun in partitions that are about to be another
// fetcher's. No request begins in them, those in flight have landTimeout, what
// they brought is acknowledged, and what is acknowledged is reported. A request
// that takes longer is cut off, and reported as that: it is the one thing that is
// made again.
//
// It does nothing without a lease: then the partitions may be another's already.
func (f *fetcher) handOver(lost map[string][]int32) {
	leaving := map[int32]bool{}
	var flying []*flights
	f.mu.Lock()
	for _, partitions := range lost {
		for _, p := range partitions {
			if b := f.boards[p]; b != nil && b.ctx.Err() == nil {
				leaving[p] = true
				flying = append(flying, b.flights)
				b.flights.close()
			}
		}
	}
	f.mu.Unlock()
	if len(flying) == 0 || !f.lease.Holds() {
		return
	}
	land, cancel := context.WithTimeout(f.life, landTimeout)
	defer cancel()
	for _, each := range flying {
		select {
		case <-each.landed:
		case <-land.Done():
			each.cut()
		}
	}
	told, cancel := context.WithTimeout(f.life, toldTimeout)
	defer cancel()
	for _, each := range flying {
		select {
		case <-each.landed:
		case <-told.Done():
		}
	}
	// What is not acknowledged in time is made again by the next owner.
	_ = f.out.client.Flush(told)
	f.asking.flushOf(func(partition int32) bool { return leaving[partition] })
	_ = f.reports.client.Flush(told)
}

const (
	// landTimeout is how long requests in flight may take to end: others wait for
	// the partition meanwhile.
	landTimeout = 2 * time.Second
	// toldTimeout is how long acknowledgements may take after that.
	toldTimeout = 2 * time.Second
)
