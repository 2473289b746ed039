package processors

import (
	"context"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/fetch"
	"github.com/weftcrawl/weft/lanes"
	"github.com/weftcrawl/weft/politeness"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/urls"
)

// requests makes the requests of visits for the lanes and reports them: the
// exchange goes to fetched, and its outcome, once that is acknowledged, to
// visited. A visit's outcomes go in parts, so that a crash repeats little.
type requests struct {
	*fetcher
	open sync.Map // visit id → *report
}

// partEvery is the age at which outcomes are reported although their visit
// goes on.
const partEvery = 750 * time.Millisecond

// Gate waits while parse is too far behind or the lease is in doubt.
func (q *requests) Gate(ctx context.Context, _ *lanes.Visit) error {
	for {
		if err := q.backlog.wait(ctx); err != nil {
			return err
		}
		if q.permitted() {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(q.opts.Heartbeat / 2):
		}
	}
}

// Request makes one request of a visit.
func (q *requests) Request(ctx context.Context, v *lanes.Visit, i int) lanes.Answer {
	q.env.Meter.Slots(1)
	defer q.env.Meter.Slots(-1)
	if v.Robots {
		return q.robots(ctx, v, i)
	}
	request := v.Requests[i]
	x := q.http.Do(ctx, fetch.Request{URL: request.Target.Url, Permit: q.permitted})
	report := q.report(ctx, v)
	if undone(x) {
		report.add(&weftpb.Outcome{Index: uint32(i), Skipped: true})
		return lanes.Answer{Stop: true}
	}
	q.env.Meter.Exchange(x)
	report.open()
	record := x.Fetched()
	record.Id, record.Visit, record.Request = urls.PageID(request.Target.Url, request.Round), v.Id, request
	record.Outcome.Index = uint32(i)
	outcome := record.Outcome
	size := len(x.Body)
	q.out.sendProto(q.life, q.env.Names.Fetched, v.Domain, record, func(r *kgo.Record, err error) {
		if err != nil {
			q.fail(err)
			return
		}
		q.backlog.add(r.Partition, r.Offset, size)
		report.close(outcome)
	})
	return answer(x)
}

// robots makes the one request of a robots visit, with its redirects within
// the domain. One to another domain is not followed: its delay and its lane
// are not ours, and the file then counts as unavailable (RFC 9309 §2.3.1.2).
func (q *requests) robots(ctx context.Context, v *lanes.Visit, i int) lanes.Answer {
	target, refusal := urls.Parse(v.Requests[i].Target.Url)
	report := q.report(ctx, v)
	if refusal != urls.Accepted {
		report.add(&weftpb.Outcome{Index: uint32(i), ErrorClass: string(fetch.ClassInvalidURL), Error: string(refusal)})
		return lanes.Answer{}
	}
	suffixes := urls.BundledSuffixes()
	hops := q.http.Robots(ctx, target.Origin(), q.permitted, func(next string) bool {
		u, refusal := urls.Parse(next)
		if refusal != urls.Accepted || suffixes.Domain(u.Hostname()) != v.Domain {
			return false
		}
		select {
		case <-time.After(time.Duration(v.DelayMs) * time.Millisecond):
			return true
		case <-ctx.Done():
			return false
		}
	})
	last := hops[len(hops)-1]
	if undone(last) || ctx.Err() != nil {
		report.add(&weftpb.Outcome{Index: uint32(i), Skipped: true})
		return lanes.Answer{Stop: true}
	}
	for _, x := range hops {
		q.env.Meter.Exchange(x)
	}
	rules := robots.Parse(robotsStatus(last), last.Body, product(q.env.Definition))
	report.learn(&weftpb.OriginRules{Origin: target.Origin(), Robots: rules})
	outcome := last.Outcome()
	outcome.Index = uint32(i)
	report.add(outcome)
	a := answer(last)
	// A Crawl-delay holds from the response that asks for it on.
	a.RetryAfter = max(a.RetryAfter, time.Duration(rules.GetCrawlDelayMs())*time.Millisecond)
	return a
}

// robotsStatus is the status that says what a robots exchange means: 0 when
// there was no answer, and 404 for a redirect that was not followed.
func robotsStatus(x *fetch.Exchange) int {
	switch {
	case x.Class != fetch.ClassNone:
		return 0
	case x.Location != "":
		return 404
	}
	return x.Status
}

// Finish reports the visit's end: requests from rest on were not begun.
func (q *requests) Finish(ctx context.Context, v *lanes.Visit, rest int) {
	report := q.report(ctx, v)
	for i := rest; i < len(v.Requests); i++ {
		if !v.Settled[uint32(i)] {
			report.add(&weftpb.Outcome{Index: uint32(i), Skipped: true})
		}
	}
	report.finish()
}

// resume reports outcomes that a former owner of a visit fetched and did not
// report. It returns whether there is more to do: a failure ends the visit.
func (q *requests) resume(p *posted, done []*weftpb.Outcome) bool {
	if len(done) == 0 {
		return true
	}
	report := q.report(p.ctx, p.visit)
	for _, o := range done {
		if p.visit.Settled[o.Index] {
			continue
		}
		p.visit.Settled[o.Index] = true
		report.add(o)
		if politeness.Judge(o.Status, o.ErrorClass).Health == politeness.Failed {
			q.Finish(p.ctx, p.visit, 0)
			return false
		}
	}
	report.flush()
	return true
}

// flush reports every outcome that is known.
func (q *requests) flush() {
	q.open.Range(func(_, r any) bool {
		r.(*report).flush()
		return true
	})
}

// report returns the report of a visit. It is dropped with its visit when the
// visit's context ends: the partition's next owner reports.
func (q *requests) report(ctx context.Context, v *lanes.Visit) *report {
	if r, ok := q.open.Load(v.Id); ok {
		return r.(*report)
	}
	fresh := &report{owner: q, visit: v, last: time.Now()}
	q.open.Store(v.Id, fresh)
	context.AfterFunc(ctx, func() { q.open.Delete(v.Id) })
	return fresh
}

// report collects the outcomes of one visit.
type report struct {
	owner *requests
	visit *lanes.Visit

	mu       sync.Mutex
	outcomes []*weftpb.Outcome
	rules    *weftpb.OriginRules
	waiting  int // exchanges whose records are not acknowledged
	finished bool
	last     time.Time // when the last part was sent
}

func (r *report) open() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting++
}

// close books that the exchange's record is acknowledged.
func (r *report) close(o *weftpb.Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting--
	r.outcomes = append(r.outcomes, o)
	r.send()
}

// add books an outcome that needs no record.
func (r *report) add(o *weftpb.Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.outcomes = append(r.outcomes, o)
}

func (r *report) learn(rules *weftpb.OriginRules) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rules = rules
}

func (r *report) finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.finished = true
	r.send()
}

// flush reports what is known of a visit that goes on elsewhere.
func (r *report) flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.outcomes) > 0 {
		r.part(false)
	}
}

// send writes a part when it is time, or the last one when all is known.
func (r *report) send() {
	done := r.finished && r.waiting == 0
	if done || time.Since(r.last) >= partEvery && len(r.outcomes) > 0 {
		r.part(done)
	}
}

// part writes what is known and not yet reported; mu is held. It is called when
// a record of fetched is acknowledged, so it writes through a producer of its
// own: in that moment the other's buffer may be full, and waiting for room in
// it from its own acknowledgement would wait for ever.
func (r *report) part(done bool) {
	part := &weftpb.Visited{Visit: r.visit.Id, Outcomes: r.outcomes, Done: done, Rules: r.rules}
	r.outcomes, r.rules, r.last = nil, nil, time.Now()
	q := r.owner
	if done {
		q.open.Delete(r.visit.Id)
	}
	q.reports.sendProto(q.life, q.env.Names.Visited, r.visit.Domain, part, func(_ *kgo.Record, err error) {
		if err != nil {
			q.fail(err)
		}
	})
}

// undone tells an exchange that was not made, or not to its end, because the
// right to make it was gone.
func undone(x *fetch.Exchange) bool {
	return x.Class == fetch.ClassLeaseLost || x.Class == fetch.ClassCanceled
}

// answer is what an exchange means for the rest of its visit.
func answer(x *fetch.Exchange) lanes.Answer {
	if politeness.Judge(uint32(x.Status), string(x.Class)).Health != politeness.Failed {
		return lanes.Answer{} // a Retry-After on an answer asks for nothing
	}
	return lanes.Answer{Stop: true, RetryAfter: x.RetryAfter}
}
