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

	"github.com/twmb/franz-go/pkg/kgo"

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
	// Paused: people have paused the stage. Resting: the stage ends.
	// Blocked: people have blocked the domain.
	Paused, Resting, Blocked bool
	// Full: parse is too far behind. Low: the disk is below its reserve, or the store
	// of large bodies takes none at the moment.
	Full, Low bool
}

// Permits tells whether a request may be written. It is asked at the last moment,
// where bytes go to the connection.
func (g Gate) Permits() bool { return g.Leased && !g.Paused && !g.Resting && !g.Blocked }

// Opens tells whether a visit need not wait before its request. It must wait while
// parse is too far behind, or while there is no place for a page: the visits that are
// released already need more than the reserve, and a page that cannot be stored is
// asked for again.
//
// While the stage is paused or the domain is blocked the gate opens although nothing is
// permitted, so that the visit is given back: that may last longer than the visit's lease.
func (g Gate) Opens() bool { return g.Paused || g.Blocked || g.Permits() && !g.Full && !g.Low }

// exchanger is the part of httpclient.Client that makes exchanges. A server decides
// what our code meets in one. When our code panics, that is this exchange's outcome
// (httpclient.ClassPanic), and the stage goes on. This does not cover net/http's own
// goroutines.
type exchanger interface {
	Do(ctx context.Context, r httpclient.Request) *httpclient.Exchange
	Robots(ctx context.Context, url string, permit func() bool, hop func(next string) bool) []*httpclient.Exchange
	LookUp(ctx context.Context, url string) *httpclient.Exchange
	Address(url string) netip.Addr
	LookAhead(ctx context.Context, urls []string)
}

// IsRobots tells whether request i of v is for a robots.txt: that of its own origin, or
// that of another domain, which redirects to it.
func IsRobots(v *hostqueue.Visit, i int) bool {
	return v.Robots || v.Requests[i].Target.GetVia() == weftpb.Via_VIA_ROBOTS
}

// requester makes the requests of visits for the host queues, and reports them. The
// exchange goes to fetched. Its outcome goes to visited once the exchange is
// acknowledged.
type requester struct {
	env        stage.Env
	http       exchanger
	lease      *lease.Lease
	partitions *partitions
	backlog    *backpressure
	addresses  *addresses.Budgets
	fetched    *stage.Outbox
	reporter   *reporter
	witness    *witness
	low        *atomic.Bool  // the disk is below its reserve
	resting    atomic.Bool   // no request begins any more
	retry      time.Duration // how often the gate is asked again
	life       context.Context
	fail       func(error) // ends this life: a write was lost, and the ledger knows what to do again
}

// gate says what is known of a request to a domain that is about to be written.
func (q *requester) gate(domain string) Gate {
	return Gate{
		Leased: q.lease.Holds(), Paused: q.env.Pauses.Paused(topics.Fetch), Resting: q.resting.Load(),
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
		gate := q.gate(v.Domain)
		gate.Low = q.low.Load() || q.env.Bodies.Waiting()
		var ready <-chan struct{} // of the backlog; other changes give no signal
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
		case <-time.After(q.retry):
		}
	}
}

// Enter waits until the address of the host of request i may get one more request. If the
// line is too long, the domain is to be left alone for as long, and for longer by chance, so
// that not all come back together.
func (q *requester) Enter(ctx context.Context, v *hostqueue.Visit, i int) (leave func(), crowded bool) {
	entered, crowded := q.enter(ctx, ctx, v, v.Requests[i].GetTarget().GetUrl())
	if !entered {
		q.backlog.release(v)
		return nil, crowded
	}
	return func() { exit(v) }, false
}

// enter waits until the address of the host of a URL may get one more request of a visit,
// whose context is ctx, or until within ends.
func (q *requester) enter(ctx, within context.Context, v *hostqueue.Visit, url string) (entered, crowded bool) {
	address := q.http.Address(url)
	leave, wait := q.addresses.Enter(within, address)
	switch {
	case leave != nil:
		v.Leave, v.Charged = leave, netip.Addr{}
		if q.addresses.Limits(address) {
			v.Charged = address.Unmap()
		}
		return true, false
	case wait > 0:
		wait += rand.N(wait)
		q.reporter.of(ctx, v).update(func(r *Report) *weftpb.Visited { r.Crowd(wait); return nil })
	}
	return false, wait > 0
}

// exit ends what a visit has of the budget of an address.
func exit(v *hostqueue.Visit) {
	if v.Leave != nil {
		v.Leave()
	}
	v.Leave = nil
}

// Priority is that of request i of a visit, unless people ask for another one for its domain.
func (q *requester) Priority(v *hostqueue.Visit, i int) int {
	own := min(int(v.Requests[i].GetPriority()), politeness.Priorities-1)
	return politeness.Asked(settings.Priority(q.env.Settings.Of(v.Domain)), own)
}

// Request makes one request of a visit, unless its partition is about to go to another
// fetcher.
func (q *requester) Request(ctx context.Context, v *hostqueue.Visit, i int) hostqueue.Answer {
	return q.within(ctx, v, func(within context.Context) hostqueue.Answer {
		q.env.Meter.Slots(1)
		defer q.env.Meter.Slots(-1)
		q.witness.begin(v, i)
		answer := q.make(ctx, within, v, i, lookedUp{q.http, v.LookedUp})
		v.LookedUp, v.Charged = 0, netip.Addr{}
		q.witness.end(v, i, answer)
		return answer
	})
}

// within does something for a visit whose context is ctx, unless its partition is about
// to go to another fetcher. What it does ends with the context within.
func (q *requester) within(ctx context.Context, v *hostqueue.Visit, do func(within context.Context) hostqueue.Answer) hostqueue.Answer {
	answer := hostqueue.Answer{Stop: true}
	within, landed, ok := q.partitions.inFlight(v.Partition).begin(ctx)
	if ok {
		answer = do(within)
	}
	q.backlog.release(v)
	if ok {
		ok = within.Err() == nil
		landed()
	}
	if !ok { // the visit goes with its partition
		<-ctx.Done()
	}
	return answer
}

// make makes a request with http, and reports it.
func (q *requester) make(ctx, within context.Context, v *hostqueue.Visit, i int, http exchanger) hostqueue.Answer {
	switch {
	case IsRobots(v, i):
		return q.robots(ctx, within, v, i, http)
	case v.Check:
		return q.check(ctx, within, v, i, http)
	}
	return q.page(ctx, within, v, i, http)
}

// page makes a request for a page. The context of its visit is ctx, and the exchange
// ends with within.
func (q *requester) page(ctx, within context.Context, v *hostqueue.Visit, i int, http exchanger) hostqueue.Answer {
	x, outcome, record := q.exchange(within, v, i, http)
	report := q.reporter.of(ctx, v)
	if Undone(x) {
		report.add(undone(within, i, x))
		return hostqueue.Answer{Stop: true}
	}
	q.count(x)
	sent := q.backlog.send(v, len(x.Body))
	report.update(func(r *Report) *weftpb.Visited {
		r.Open()
		return nil
	})
	q.fetched.Send(q.life, record, func(r *kgo.Record, err error) {
		if err != nil {
			q.fail(err)
			return
		}
		q.backlog.update(func(b *Backlog) { b.Acknowledged(r.Partition, r.Offset, sent) })
		report.update(func(r *Report) *weftpb.Visited { return r.Close(outcome, time.Now()) })
	})
	return AnswerOf(x)
}

// check makes a request that asks whether a host answers. Its exchange is kept for
// archives, without a body that is too large for a record, and makes no page.
func (q *requester) check(ctx, within context.Context, v *hostqueue.Visit, i int, http exchanger) hostqueue.Answer {
	x := q.checked(within, v, http)
	defer x.Release()
	report := q.reporter.of(ctx, v)
	if Undone(x) {
		report.add(undone(within, i, x))
		return hostqueue.Answer{Stop: true}
	}
	q.count(x)
	if int64(len(x.Body)) > q.env.Definition.LargeBody() {
		x.Body, x.Truncated = nil, true
	}
	outcome := OutcomeOf(v, i, x)
	if x.Status == 0 {
		report.add(outcome)
		return AnswerOf(x)
	}
	report.update(func(r *Report) *weftpb.Visited {
		r.Open()
		return nil
	})
	q.fetched.Send(q.life, q.output(v.Domain, WithoutPage(x)), func(_ *kgo.Record, err error) {
		if err != nil {
			q.fail(err)
			return
		}
		report.update(func(r *Report) *weftpb.Visited { return r.Close(outcome, time.Now()) })
	})
	return AnswerOf(x)
}

// checked makes the exchange of a check. A panic is its outcome.
func (q *requester) checked(ctx context.Context, v *hostqueue.Visit, http exchanger) (x *httpclient.Exchange) {
	url, began := v.Requests[0].Target.Url, time.Now()
	defer func() {
		if cause := recover(); cause != nil {
			x = q.panicked(url, began, cause)
		}
	}()
	return http.Do(ctx, httpclient.Request{URL: url, Permit: q.permit(v)})
}

// exchange makes the exchange of request i of v, and its record in fetched. A panic is
// the outcome of the exchange.
func (q *requester) exchange(ctx context.Context, v *hostqueue.Visit, i int, http exchanger) (x *httpclient.Exchange, o *weftpb.Outcome, out stage.Output) {
	url, began := v.Requests[i].Target.Url, time.Now()
	defer func() {
		if cause := recover(); cause != nil {
			x = q.panicked(url, began, cause)
			record := FetchedOf(v, i, x)
			o, out = record.Outcome, q.output(v.Domain, record)
		}
	}()
	request := RequestOf(v.Requests[i])
	request.Permit = q.permit(v)
	x = http.Do(ctx, request)
	defer x.Release() // then the record has the body, or a reference to it
	if q.env.Bodies != nil && int64(len(x.Body)) > q.env.Definition.LargeBody() {
		x = q.store(ctx, v, i, x)
	}
	if Undone(x) {
		return x, nil, stage.Output{}
	}
	record := FetchedOf(v, i, x)
	return x, record.Outcome, q.output(v.Domain, record)
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

// count counts an exchange that was made.
func (q *requester) count(x *httpclient.Exchange) {
	q.env.Meter.Exchange(string(x.Class), x.Status, x.WireBytes, x.FirstByte, x.Total)
	q.env.Meter.Reached(x.DNS, x.Connect)
}

// store puts a body that is too large for a record into the store, and waits for it.
// When the right to make the request ends before that, so does the exchange: another
// process makes it again. The lease is checked once more after the body is stored. A
// process that was frozen meanwhile must not refer to a body that may be taken for an
// orphan by now.
func (q *requester) store(ctx context.Context, v *hostqueue.Visit, i int, x *httpclient.Exchange) *httpclient.Exchange {
	request := v.Requests[i]
	partition := topics.Partition(v.Domain, q.env.Definition.Partitions)
	stored, err := q.env.Bodies.Put(ctx, partition, urls.PageID(request.Target.Url, request.Round), x.Body)
	if err == nil && !q.lease.Holds() {
		err = httpclient.ErrLeaseLost
	}
	if err != nil {
		return &httpclient.Exchange{URL: x.URL, Class: httpclient.ClassLeaseLost, Error: err.Error(), Started: x.Started, Total: x.Total}
	}
	x.Stored = stored
	return x
}

func (q *requester) output(domain string, f *weftpb.Fetched) stage.Output {
	x := f
	if f.Robots != nil {
		x = f.Robots
	}
	exchange := q.env.Names.Exchange(x.Id, x.Outcome.StartedMs)
	return stage.Output{
		Topic: q.env.Names.Fetched, Domain: domain, Key: domain, Value: stage.Encode(f),
		Headers: exchange.Headers(topics.SchemaFetched, topics.Fetch),
	}
}

func (q *requester) panicked(url string, began time.Time, cause any) *httpclient.Exchange {
	text := strings.ToValidUTF8(fmt.Sprint(cause), "\ufffd") // a server may have influenced it
	q.env.Logger.Error("an exchange made its stage panic", "url", url, "panic", text, "stack", supervise.StackTop())
	return &httpclient.Exchange{URL: url, Class: httpclient.ClassPanic, Error: text, Started: began, Total: time.Since(began)}
}

// undone is the outcome of an exchange that is Undone, within a context.
func undone(within context.Context, i int, x *httpclient.Exchange) *weftpb.Outcome {
	if within.Err() != nil {
		return CutOff(i, x)
	}
	return Skip(i)
}

// Skip reports that a request is not made, because its host must not be asked.
func (q *requester) Skip(ctx context.Context, v *hostqueue.Visit, i int, silent time.Time) {
	q.reporter.of(ctx, v).add(SkipUntil(i, silent, time.Now()))
}

// Hang reports that request i of a visit hangs, and that its domain goes on without it.
func (q *requester) Hang(ctx context.Context, v *hostqueue.Visit, i int, at time.Time) {
	q.witness.hang(v, at)
	q.reporter.of(ctx, v).update(func(r *Report) *weftpb.Visited { return r.Hang(i+1, at) })
}

// Finish reports the end of a visit. Requests from rest on were not begun.
func (q *requester) Finish(ctx context.Context, v *hostqueue.Visit, rest int) {
	q.reporter.of(ctx, v).update(func(r *Report) *weftpb.Visited { return r.Finish(rest, time.Now()) })
}

// witness counts requests that begin when their domain or host should be left alone. It
// shares nothing with the host queues, which decide when requests begin.
type witness struct {
	env       stage.Env
	perDomain int

	mu      sync.Mutex
	domains politeness.Witness
	hosts   politeness.Witness        // of what they asked for with Retry-After
	open    map[*hostqueue.Visit]bool // with a request that its domain waits for
}

func newWitness(env stage.Env, perDomain int) *witness {
	return &witness{env: env, perDomain: perDomain, open: map[*hostqueue.Visit]bool{}}
}

func (w *witness) begin(v *hostqueue.Visit, i int) {
	now := time.Now()
	w.mu.Lock()
	violation := w.domains.Begin(v.Domain, now, w.perDomain)
	w.open[v] = true
	if early := w.hosts.Begin(v.Host(i), now, w.perDomain); violation == politeness.None {
		violation = early
	}
	w.mu.Unlock()
	if violation != politeness.None {
		w.env.Meter.Hurried(violation)
		w.env.Logger.Error("a request began when its domain or host should have been left alone",
			"domain", v.Domain, "violation", violation, "visit", v.Id)
	}
}

func (w *witness) end(v *hostqueue.Visit, i int, answer hostqueue.Answer) {
	delay := max(time.Duration(v.DelayMs)*time.Millisecond, answer.Rest)
	if answer.Unreached {
		delay = 0
	}
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open[v] {
		w.domains.End(v.Domain, now, delay)
	}
	delete(w.open, v)
	w.hosts.End(v.Host(i), now, answer.RetryAfter)
}

// hang notes that the domain goes on without the request of a visit that is open, if one
// is: a look-up may hang too.
func (w *witness) hang(v *hostqueue.Visit, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open[v] {
		w.domains.End(v.Domain, at, time.Duration(v.DelayMs)*time.Millisecond)
	}
	delete(w.open, v)
}
