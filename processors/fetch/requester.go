package fetch

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/politeness"
	"github.com/weftcrawl/weft/internal/settings"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/internal/supervise"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/fetch/addresses"
	"github.com/weftcrawl/weft/processors/fetch/hostqueue"
	"github.com/weftcrawl/weft/processors/fetch/httpclient"
	"github.com/weftcrawl/weft/processors/fetch/lease"
	"github.com/weftcrawl/weft/topics"
)

// Gate decides whether a request may begin. It knows only what its fields say. The
// stage fetch fills them in, and so does the simulation (package sim).
type Gate struct {
	// Leased: the group's lease holds, so that no other process may ask.
	Leased bool
	// Paused: people have paused the stage. Draining: the fetcher ends, and waits for the
	// requests in flight. Blocked: people have blocked the domain.
	Paused, Draining, Blocked bool
	// Full: parse is too far behind. Low: the disk is below its reserve, or the store
	// of large bodies takes none at the moment.
	Full, Low bool
}

// Permits tells whether a request may be written. It is asked at the last moment,
// where bytes go to the connection.
func (g Gate) Permits() bool { return g.Leased && !g.Paused && !g.Draining && !g.Blocked }

// Opens tells whether a visit need not wait before its request. It must wait while
// parse is too far behind, or while there is no place for a page: the visits that are
// released already need more than the reserve, and a page that cannot be stored is
// asked for again.
//
// While the stage is paused or the domain is blocked the gate opens although nothing is
// permitted, so that the visit is given back: that may last longer than the visit's lease.
func (g Gate) Opens() bool { return g.Paused || g.Blocked || g.Permits() && !g.Full && !g.Low }

// Exchanger makes exchanges. It is a part of httpclient.Client, which has the descriptions of
// the methods. It is safe for concurrent use. If a method panics because of what a server sent,
// the requester makes this panic the outcome of the exchange (httpclient.ClassPanic), and the
// stage goes on. A panic in a goroutine of net/http still ends the process.
type Exchanger interface {
	LookAhead(ctx context.Context, urls []string)
	LookUp(ctx context.Context, url string) (address netip.Addr, failure *httpclient.Exchange)
	Do(ctx context.Context, r httpclient.Request) *httpclient.Exchange
	Robots(ctx context.Context, r httpclient.Request, hop httpclient.Hop) []*httpclient.Exchange
}

// IsRobots tells whether request i of v is for a robots.txt: the robots.txt of its own origin, or
// of another domain, which redirects to it.
func IsRobots(v *hostqueue.Visit, i int) bool {
	return v.Robots || v.Requests[i].Target.GetVia() == weftpb.Via_VIA_ROBOTS
}

// requester makes the requests of visits for the host queues, and reports them. The
// exchange goes to fetched. Its outcome goes to visited once the exchange is
// acknowledged.
type requester struct {
	env        stage.Env
	http       Exchanger
	lease      *lease.Lease
	partitions *partitions
	backlog    *backpressure
	addresses  *addresses.Budgets
	fetched    *stage.Outbox
	reporter   *reporter
	witness    *witness
	low        *atomic.Bool  // the disk is below its reserve
	draining   atomic.Bool   // no request begins any more
	waiters    waiters       // at the gate
	look       time.Duration // how often they are told of another outlook
	life       context.Context
	fail       func(error) // ends the fetcher: a write was lost, and the ledger knows what to do again
}

// LookAhead begins to look up the hosts of a visit.
func (q *requester) LookAhead(ctx context.Context, v *hostqueue.Visit) {
	var urls []string
	for i, request := range v.Requests {
		if !v.Settled[uint32(i)] {
			urls = append(urls, request.GetTarget().GetUrl())
		}
	}
	q.http.LookAhead(ctx, urls)
}

// LookUp looks up the host of request i of a visit. A failure is the outcome of the request, as
// if the request had been made. So it needs the lease, but it needs no slot and waits for no
// delay. The witness does not count it as a request.
func (q *requester) LookUp(ctx context.Context, v *hostqueue.Visit, i int) (answer hostqueue.Answer, found bool) {
	began := time.Now()
	address, failure := q.lookUp(ctx, v.Requests[i].GetTarget().GetUrl())
	v.Address = address
	v.LookedUp += time.Since(began)
	if failure == nil {
		return hostqueue.Answer{}, true
	}
	failure.DNS = v.LookedUp
	v.LookedUp = 0
	f, ok := q.partitions.inFlight(v.Partition).begin(ctx, v, i)
	if !ok {
		return q.gone(ctx, v), false
	}
	defer f.end()
	if !q.gate(v.Domain).Permits() {
		failure = &httpclient.Exchange{URL: failure.URL, Class: httpclient.ClassLeaseLost, Started: began}
	}
	f.failure = failure
	return q.deliver(f, q.make(f)), false
}

// lookUp looks up the host of a URL. If that panics, failure is the exchange that failed.
func (q *requester) lookUp(ctx context.Context, url string) (address netip.Addr, failure *httpclient.Exchange) {
	began := time.Now()
	defer func() {
		if cause := recover(); cause != nil {
			failure = q.panicked(url, began, cause)
		}
	}()
	return q.http.LookUp(ctx, url)
}

// gate says what is known of a request to a domain, but for Full and Low.
func (q *requester) gate(domain string) Gate {
	return Gate{
		Leased: q.lease.Holds(), Paused: q.env.Pauses.Control().Pauses(topics.Fetch), Draining: q.draining.Load(),
		Blocked: q.env.Settings.Of(domain).Blocked,
	}
}

// permit returns what tells whether a request of a visit may be written.
func (q *requester) permit(v *hostqueue.Visit) func() bool {
	return func() bool { return q.gate(v.Domain).Permits() }
}

// Gate waits until the stage's gate opens for a visit.
func (q *requester) Gate(ctx context.Context, v *hostqueue.Visit) error {
	for {
		if q.partitions.inFlight(v.Partition).isClosed() { // the visit goes with its partition
			<-ctx.Done()
			q.backlog.release(v)
			return ctx.Err()
		}
		seen := q.outlook()
		gate := seen.Gate
		gate.Blocked = q.env.Settings.Of(v.Domain).Blocked
		var ready <-chan struct{} // of the backlog
		if gate.Opens() && gate.Permits() {
			var admitted bool
			admitted, ready = q.backlog.admit(v)
			gate.Full = !admitted
		}
		if gate.Paused || gate.Blocked {
			q.backlog.release(v) // the visit is given back
		}
		if gate.Opens() {
			return nil
		}
		select {
		case <-ctx.Done():
			q.backlog.release(v)
			return ctx.Err()
		case <-ready:
		case <-q.waiters.until(seen):
		}
	}
}

// outlook is what visits of all domains see at the gate now.
func (q *requester) outlook() outlook {
	o := outlook{Gate: q.gate("")}
	o.Low = q.low.Load() || q.env.Bodies.Waiting()
	_, o.settings = q.env.Settings.Since(0)
	return o
}

// wakeWaiters wakes the visits that wait at the gate whenever the outlook is another one, until
// ctx ends. One timer serves them all.
func (q *requester) wakeWaiters(ctx context.Context) error {
	return supervise.Every(ctx, q.look, func() error {
		q.waiters.wake(q.outlook())
		return nil
	})
}

// outlook is what visits of all domains see at the gate. settings is how many settings of domains
// were read: a new one may block a domain.
type outlook struct {
	Gate
	settings int
}

// waiters are the visits that wait at the gate, by the outlook that they saw. So a visit is woken
// if the outlook is another one by now, even if it changed before the visit waited, or changed
// back and forth. The zero value has no visits. It is safe for concurrent use.
type waiters struct {
	mu   sync.Mutex
	seen map[outlook]chan struct{}
}

// until returns a channel that is closed when the outlook is found to be another one than o.
func (w *waiters) until(o outlook) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen == nil {
		w.seen = map[outlook]chan struct{}{}
	}
	if w.seen[o] == nil {
		w.seen[o] = make(chan struct{})
	}
	return w.seen[o]
}

// wake wakes those that saw another outlook than the one of now.
func (w *waiters) wake(now outlook) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for o, changed := range w.seen {
		if o != now {
			close(changed)
			delete(w.seen, o)
		}
	}
}

// Enter waits until the address of the host of request i may get one more request. If the
// line is too long, the domain is to be left alone for as long, and for longer by chance, so
// that not all come back together.
func (q *requester) Enter(ctx context.Context, v *hostqueue.Visit, _ int) (leave func(), crowded bool) {
	leave, wait := q.addresses.Enter(ctx, v.Address)
	if leave == nil {
		q.crowd(ctx, v, wait)
		q.backlog.release(v)
		return nil, wait > 0
	}
	q.charge(v, leave)
	q.backlog.keep(v)
	return func() {
		v.Exit()
		q.backlog.release(v) // if no request was made after all
	}, false
}

// charge notes that a request of a visit has its turn at its address.
func (q *requester) charge(v *hostqueue.Visit, leave func()) {
	v.Leave, v.Charged = leave, netip.Addr{}
	if q.addresses.Limits(v.Address) {
		v.Charged = v.Address.Unmap()
	}
}

// crowd reports how long the line for the address of a request is, if it is too long.
func (q *requester) crowd(ctx context.Context, v *hostqueue.Visit, wait time.Duration) {
	if wait > 0 {
		q.reporter.of(ctx, v).update(func(r *Report) *weftpb.Visited { r.Crowd(wait + rand.N(wait)); return nil })
	}
}

// Priority is the priority of request i of a visit, unless people set another priority for its
// domain.
func (q *requester) Priority(v *hostqueue.Visit, i int) int {
	own := min(int(v.Requests[i].GetPriority()), politeness.Priorities-1)
	return politeness.Asked(settings.Priority(q.env.Settings.Of(v.Domain)), own)
}

// Request makes one request of a visit, and reports it.
func (q *requester) Request(ctx context.Context, v *hostqueue.Visit, i int) hostqueue.Answer {
	f, ok := q.partitions.inFlight(v.Partition).begin(ctx, v, i)
	if !ok {
		return q.gone(ctx, v)
	}
	defer f.end()
	q.env.Meter.Slots(1)
	defer q.env.Meter.Slots(-1)
	q.witness.begin(v, i)
	q.backlog.begin(v)
	answer := q.deliver(f, q.make(f))
	v.LookedUp, v.Charged = 0, netip.Addr{}
	q.witness.end(v, i, answer)
	return answer
}

// gone waits until a visit has gone with its partition, which is about to go to another fetcher.
func (q *requester) gone(ctx context.Context, v *hostqueue.Visit) hostqueue.Answer {
	q.backlog.release(v)
	<-ctx.Done()
	return hostqueue.Answer{Stop: true}
}

// make makes a request. If that panics, the outcome is that of an exchange that failed.
func (q *requester) make(f flight) (r result) {
	kind := q.page
	switch {
	case IsRobots(f.visit, f.index):
		kind = q.robots
	case f.visit.Check:
		kind = q.check
	}
	began := time.Now()
	defer func() {
		if cause := recover(); cause != nil {
			f.failure = q.panicked(f.request().GetTarget().GetUrl(), began, cause)
			r = kind(f)
		}
	}()
	return kind(f)
}

// page makes a request for a page.
func (q *requester) page(f flight) result {
	x := f.failure
	if x == nil {
		request := RequestOf(f.request())
		request.Permit, request.LookedUp = q.permit(f.visit), f.visit.LookedUp
		x = q.http.Do(f.within, request)
		defer x.Release() // then the record has the body, or a reference to it
		if q.env.Bodies != nil && int64(len(x.Body)) > q.env.Definition.LargeBody() {
			x = q.store(f, x)
		}
	}
	if Undone(x) {
		return f.undone(x)
	}
	record := FetchedOf(f.visit, f.index, x)
	return result{
		outcome: record.Outcome, answer: AnswerOf(x), exchanges: []*httpclient.Exchange{x},
		records: []stage.Output{q.output(f.visit.Domain, record)}, page: true,
	}
}

// RequestOf is what is asked for: a sitemap may be larger than pages, and a URL that was
// fetched before is asked for only if it has changed.
func RequestOf(r *weftpb.Request) httpclient.Request {
	request := httpclient.Request{URL: r.GetTarget().GetUrl(), ETag: r.GetEtag(), LastModified: r.GetLastModified()}
	if r.GetTarget().GetSitemap() != nil {
		request.Kind = httpclient.KindSitemap
	}
	return request
}

// store puts a body that is too large for a record into the store, and waits for it.
// When the right to make the request ends before that, so does the exchange: another
// process makes it again. The lease is checked once more after the body is stored. A
// process that was frozen meanwhile must not refer to a body that may be taken for an
// orphan by now.
func (q *requester) store(f flight, x *httpclient.Exchange) *httpclient.Exchange {
	request := f.request()
	partition := topics.Partition(f.visit.Domain, q.env.Definition.Partitions)
	stored, err := q.env.Bodies.Put(f.within, partition, urls.PageID(request.Target.Url, request.Round), x.Body, x.CodedBody)
	if err == nil && !q.lease.Holds() {
		err = httpclient.ErrLeaseLost
	}
	if err != nil {
		return &httpclient.Exchange{URL: x.URL, Class: httpclient.ClassLeaseLost, Error: err.Error(), Started: x.Started, Total: x.Total}
	}
	x.Stored = stored
	return x
}

func (q *requester) panicked(url string, began time.Time, cause any) *httpclient.Exchange {
	text := strings.ToValidUTF8(fmt.Sprint(cause), "\ufffd") // a server may have influenced it
	q.env.Logger.Error("an exchange made its stage panic", "url", url, "panic", text, "stack", supervise.StackTop())
	return &httpclient.Exchange{URL: url, Class: httpclient.ClassPanic, Error: text, Started: began, Total: time.Since(began)}
}

// Skip reports that a request is not made, because its host must not be asked.
func (q *requester) Skip(ctx context.Context, v *hostqueue.Visit, i int, silent time.Time) {
	q.reporter.of(ctx, v).update(func(r *Report) *weftpb.Visited { r.Add(SkipUntil(i, silent, time.Now())); return nil })
}

// Hang reports that request i of a visit hangs, and that its domain goes on without it.
func (q *requester) Hang(ctx context.Context, v *hostqueue.Visit, i int, at time.Time) {
	q.witness.hang(v, at)
	q.reporter.of(ctx, v).update(func(r *Report) *weftpb.Visited { return r.Hang(i+1, at) })
}

// Finish reports the end of a visit. Requests from notBegun on were not begun.
func (q *requester) Finish(ctx context.Context, v *hostqueue.Visit, notBegun int) {
	q.reporter.of(ctx, v).update(func(r *Report) *weftpb.Visited { return r.Finish(notBegun, time.Now()) })
}
