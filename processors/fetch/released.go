package fetch

import (
	"context"
	"fmt"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/processors/fetch/hostqueue"
	"github.com/weftcrawl/weft/processors/fetch/httpclient"
)

// ReleasedVisits are the visits of one partition that are released and not
// settled. They are folded from the ledger alone. The fold begins at the offset
// that the ledger's last record calls oldest, so that no released visit is
// forgotten, and no settled request is repeated.
type ReleasedVisits struct {
	ctx   context.Context
	end   context.CancelCauseFunc
	topic string
	// earliest, and a domain's delay after it, is when the domain may be asked
	// first. reported is the end of visited at the takeover: the scheduler settles
	// what a former owner reported before any visit is started.
	earliest time.Time
	reported int64

	mu     sync.Mutex
	reader ledger.EventReader
	next   int64 // offset of the record to be folded next
	live   bool  // what is released is started at once
	visits map[string]*ReleasedVisit
	// order is the order of the log; it is kept until the visits are live.
	order   []string
	scratch []byte
}

// appendReleases appends the fields of an encoded weftpb.Scheduled that Fold reads. Most bytes
// of scheduled are URLs that were admitted, which a fetcher does not need. A damaged message is
// appended from the damage on, so that it is found to be damaged.
func appendReleases(dst, event []byte) []byte {
	for len(event) > 0 {
		number, kind, n := protowire.ConsumeTag(event)
		if n < 0 {
			return append(dst, event...)
		}
		m := protowire.ConsumeFieldValue(number, kind, event[n:])
		if m < 0 {
			return append(dst, event...)
		}
		switch number {
		case 3, 5, 6, 7: // decided_ms, settled, released, expired
			dst = append(dst, event[:n+m]...)
		}
		event = event[n+m:]
	}
	return dst
}

// ReleasedVisit is one visit that is released and not settled.
type ReleasedVisit struct {
	// Context ends when the visit is settled, or another process's.
	Context context.Context
	// Visit is what host queues make requests of.
	Visit *hostqueue.Visit

	cancel context.CancelFunc
	open   int // requests without an outcome
	// releasedMs is when it was released, on the scheduler's clock.
	releasedMs int64
}

// newReleasedVisits returns the visits of a partition that is read from the offset
// from. They end with ctx, or by End.
func newReleasedVisits(ctx context.Context, topic string, from, reported int64, earliest time.Time) *ReleasedVisits {
	ctx, end := context.WithCancelCause(ctx)
	return &ReleasedVisits{
		ctx: ctx, end: end, topic: topic, earliest: earliest, reported: reported,
		next: from, visits: map[string]*ReleasedVisit{},
	}
}

// Fold folds one record. It returns the visits to start now, in order.
func (r *ReleasedVisits) Fold(key string, value []byte, partition int32, offset int64) ([]*ReleasedVisit, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next = offset + 1
	ev, err := r.reader.Read(value, r.topic, partition, offset)
	if err != nil {
		return nil, err
	}
	var body weftpb.Scheduled
	r.scratch = appendReleases(r.scratch[:0], ev.GetBody())
	if err := proto.Unmarshal(r.scratch, &body); err != nil {
		return nil, fmt.Errorf("%w: %s/%d at %d: %w", ledger.ErrCorrupt, r.topic, partition, offset, err)
	}
	r.settle(&body)
	var released []*ReleasedVisit
	for _, v := range body.Released {
		ctx, cancel := context.WithCancel(r.ctx)
		visit := &hostqueue.Visit{
			Visit: v, Domain: key, Partition: partition,
			NotBefore: r.earliest.Add(time.Duration(v.DelayMs) * time.Millisecond),
		}
		if !r.live {
			visit.Settled = map[uint32]bool{}
			r.order = append(r.order, v.Id)
		}
		r.visits[v.Id] = &ReleasedVisit{
			Context: ctx, Visit: visit, cancel: cancel, open: len(v.Requests), releasedMs: body.DecidedMs,
		}
		released = append(released, r.visits[v.Id])
	}
	if !r.live {
		return nil, nil
	}
	return released, nil
}

func (r *ReleasedVisits) settle(body *weftpb.Scheduled) {
	for _, s := range body.Settled {
		v := r.visits[s.Visit]
		if v == nil {
			continue
		}
		switch {
		case !r.live:
			v.Visit.Settled[s.Index] = true
		case v.Visit.Settled != nil:
			// A visit of a takeover: what the search found in fetched is settled now.
			v.Visit.Settle(s.Index)
		}
		if v.open--; v.open <= 0 {
			r.remove(s.Visit)
		}
	}
	for _, id := range body.Expired {
		r.remove(id)
	}
}

// remove ends a visit: it is settled, or released again under another id.
func (r *ReleasedVisits) remove(id string) {
	if v := r.visits[id]; v != nil {
		v.cancel()
		delete(r.visits, id)
	}
}

// Unsettled returns the visits that the partition's former owner left, in the order
// of their release.
func (r *ReleasedVisits) Unsettled() []*ReleasedVisit {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.unsettled()
}

func (r *ReleasedVisits) unsettled() (left []*ReleasedVisit) {
	for _, id := range r.order {
		if v := r.visits[id]; v != nil {
			left = append(left, v)
		}
	}
	return left
}

// GoLive returns the visits to start now. From now on Fold returns what is
// released.
func (r *ReleasedVisits) GoLive() []*ReleasedVisit {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := r.unsettled()
	r.live, r.order = true, nil
	return left
}

// Next is the offset of the record to be folded next.
func (r *ReleasedVisits) Next() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.next
}

// End ends the work on the partition.
func (r *ReleasedVisits) End(cause error) { r.end(cause) }

// inFlight is the requests in flight of one partition. Before the partition goes to
// another fetcher they end: what they bring is acknowledged and reported, and the
// other fetcher repeats none of them. A nil inFlight counts nothing.
type inFlight struct {
	mu     sync.Mutex
	open   int
	closed bool
	landed chan struct{} // closed when no request begins any more and none is open

	cutting context.Context // ends when requests are to be cut off
	cut     context.CancelFunc
}

func newInFlight() *inFlight {
	f := &inFlight{landed: make(chan struct{})}
	f.cutting, f.cut = context.WithCancel(context.Background())
	return f
}

// begin begins request i of a visit, whose context is ctx. The caller calls end when the
// request is over. ok is false when no request begins any more.
func (f *inFlight) begin(ctx context.Context, v *hostqueue.Visit, i int) (begun flight, ok bool) {
	begun = flight{visit: v, index: i, ctx: ctx, within: ctx, landed: func() {}}
	if f == nil {
		return begun, true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return flight{}, false
	}
	f.open++
	within, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(f.cutting, func() { cancel(httpclient.ErrLeaseLost) })
	begun.within, begun.landed = within, func() {
		stop()
		cancel(nil)
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.open--; f.closed && f.open == 0 {
			close(f.landed)
		}
	}
	return begun, true
}

// close lets no request begin any more.
func (f *inFlight) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	if f.closed = true; f.open == 0 {
		close(f.landed)
	}
}

// isClosed tells whether no request begins any more.
func (f *inFlight) isClosed() bool {
	if f == nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}

// flight is a request in flight.
type flight struct {
	visit *hostqueue.Visit
	index int
	// failure is the exchange that failed before it was made; nil: it is to be made.
	failure *httpclient.Exchange

	ctx    context.Context // of the visit
	within context.Context // of the exchange: it ends with ctx, or when the request is cut off
	landed func()
}

// request is what the visit asks for.
func (f flight) request() *weftpb.Request { return f.visit.Requests[f.index] }

// end ends the request. If it was cut off, end waits until the visit has gone with its partition.
func (f flight) end() {
	cut := f.within.Err() != nil
	f.landed()
	if cut {
		<-f.ctx.Done()
	}
}
