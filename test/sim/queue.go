package sim

import (
	"net/netip"
	"slices"
	"time"

	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/fetch"
	"github.com/weftcrawl/weft/processors/fetch/hostqueue"
	"github.com/weftcrawl/weft/processors/fetch/httpclient"
	"github.com/weftcrawl/weft/topics"
)

// queue steps through a hostqueue.Queue, as a goroutine of hostqueue.Queues does in a
// running crawl.
type queue struct {
	hostqueue.Queue
	*fetcher
	key    queueKey
	asking bool // a request is being made
	turn   int  // number of the wake-up that counts
}

type queueKey struct {
	domain string
	nth    int
}

// wake makes the queue do its next step after d. An earlier wake-up is forgotten.
func (q *queue) wake(d time.Duration) {
	q.turn++
	turn := q.turn
	q.instance.after(d, func() {
		if turn == q.turn && !q.asking {
			q.serve()
		}
	})
}

func (q *queue) serve() {
	step := q.Next(q.instance.proc.mono())
	switch step.Kind {
	case hostqueue.Over:
		if q.queues[q.key] == q {
			delete(q.queues, q.key)
		}
	case hostqueue.Idle, hostqueue.Wait:
		q.wake(step.Until.Sub(q.instance.proc.mono()))
	case hostqueue.LookUp:
		q.lookUp(step)
	case hostqueue.Ask:
		q.awaitGate(step)
	case hostqueue.Skip:
		q.w.checkSkipped(q.fetcher, step.Visit, step.Visit.Host(step.Index))
		if q.w.bug("silence-untold") {
			step.Until = time.Time{}
		}
		q.report(step.Visit).Add(fetch.SkipUntil(step.Index, step.Until, q.instance.proc.mono()))
		q.Skipped()
		q.wake(0)
	case hostqueue.Finish:
		report := q.report(step.Visit)
		q.write(step.Visit, report.Finish(step.Index, q.instance.proc.mono()))
		q.Drop()
		q.wake(0)
	}
}

// lookUp looks up the host of a request. A request whose host is not found is over.
func (q *queue) lookUp(step hostqueue.Step) {
	v, i := step.Visit, step.Index
	url, started := v.Requests[i].Target.Url, q.instance.proc.wall()
	x, took := q.w.web.lookUp(url)
	q.asking = true
	a := q.watch(step, nil)
	q.instance.after(took, func() {
		a.over = true
		if !a.hung {
			q.asking = false
		}
		defer q.wake(0)
		if a.hung {
			q.w.web.tried(url)
		}
		switch {
		case step.Context.Err() != nil && a.hung:
			q.hungUp(step, hostqueue.Answer{Unreached: true})
			return
		case !a.hung && q.Next(q.instance.proc.mono()) != step:
			return
		case x == nil && a.hung:
			q.report(v).Add(fetch.Skip(i))
			q.hungUp(step, hostqueue.Answer{Unreached: true})
			return
		case x == nil:
			q.Found()
			return
		case !q.gate(q.key.domain).Permits():
			x = &httpclient.Exchange{URL: url, Class: httpclient.ClassLeaseLost}
		default:
			x.Started, x.Total = started, took
			target, _ := urls.Parse(url)
			x = q.w.bugs.exchange(target.Origin(), x)
		}
		answer := q.w.bugs.answer(q.outcome(v, i, x))
		answer.Unreached = true
		if a.hung {
			q.hungUp(step, answer)
			return
		}
		q.Made(q.instance.proc.mono(), answer, 0)
	})
}

// requestPatience is the patience of host queues, for servers that answer within requestTimeout.
var requestPatience = hostqueue.Options{Patience: time.Second, Trial: 400 * time.Millisecond}

// attempt is a step that may hang.
type attempt struct {
	queue *queue
	step  hostqueue.Step
	entry *access // in the access log, or nil

	hung, over bool
}

// watch lets a queue go on without a step that takes too long, until the step is over.
func (q *queue) watch(step hostqueue.Step, entry *access) *attempt {
	a := &attempt{queue: q, step: step, entry: entry}
	patience := requestPatience.PatienceWith(step.Visit, step.Index)
	if step.Kind == hostqueue.LookUp {
		patience = q.PatienceWithLookUp()
	}
	q.instance.after(patience, a.hang)
	return a
}

func (a *attempt) hang() {
	q, v := a.queue, a.step.Visit
	now := q.instance.proc.mono()
	switch {
	case a.over || a.step.Context.Err() != nil:
		return
	case !q.Hang(now):
		q.instance.after(requestPatience.Trial, a.hang)
		return
	}
	a.hung, q.asking = true, false
	q.w.trace("%s goes on without %s", q.instance.name, v.Requests[a.step.Index].Target.Url)
	q.w.count("hangs")
	if a.entry != nil {
		a.entry.hungAt = q.w.now
	}
	if q.w.bug("hanging-forgotten") {
		q.report(v).Add(fetch.Skip(a.step.Index))
		q.hungUp(a.step, hostqueue.Answer{})
	} else {
		q.write(v, q.report(v).Hang(a.step.Index+1, now))
	}
	q.wake(0)
}

// hungUp notes that a request that hung is over, and with it its visit.
func (q *queue) hungUp(step hostqueue.Step, answer hostqueue.Answer) {
	v, now := step.Visit, q.instance.proc.mono()
	if step.Context.Err() == nil {
		q.write(v, q.report(v).Finish(len(v.Requests), now))
	}
	q.HungUp(v, step.Index, now, answer)
}

// awaitGate waits until the gate opens, and then for the connection.
func (q *queue) awaitGate(step hostqueue.Step) {
	gate := q.gate(q.key.domain)
	gate.Full = q.backlog.Full(step.Visit.Domain) && !q.w.bug("backlog-ignored")
	if !gate.Opens() {
		q.wake(heartbeat / 2)
		return
	}
	reserved := &reservation{fetcher: q.fetcher, domain: step.Visit.Domain}
	if gate.Permits() {
		q.checkBacklog()
		reserved.renew()
	}
	q.asking = true
	q.instance.after(q.w.between(0, 3*time.Millisecond), func() {
		q.asking = false
		if q.Next(q.instance.proc.mono()) != step {
			reserved.cancel()
			q.wake(0)
			return
		}
		q.enter(step, reserved)
	})
}

// reservation is what a request is likely to bring, from the gate until the end of the request,
// but no longer than the patience after each of its steps. Production's is in package fetch,
// backpressure.
type reservation struct {
	fetcher  *fetcher
	domain   string
	expected fetch.Expected
	held     bool
}

// renew reserves anew.
func (r *reservation) renew() {
	r.cancel()
	r.expected, r.held = r.fetcher.backlog.Expect(r.domain), true
	r.fetcher.instance.after(requestPatience.Patience, r.cancel)
}

func (r *reservation) cancel() {
	if r.held && !r.fetcher.w.bug("reservation-kept") {
		r.fetcher.backlog.Cancel(r.expected)
		r.held = false
	}
}

type request struct {
	queue   *queue
	step    hostqueue.Step
	url     string
	started time.Duration
	entry   *access
	attempt *attempt
	leave   func() // its address
}

// ask makes a request, if the gate permits it at the moment when it is written. leave is
// called at its end.
func (q *queue) ask(step hostqueue.Step, leave func()) {
	v, i := step.Visit, step.Index
	r := &request{queue: q, step: step, url: v.Requests[i].Target.Url, started: q.w.now, leave: leave}
	if !q.gate(q.key.domain).Permits() {
		q.finished(r, &httpclient.Exchange{URL: r.url, Class: httpclient.ClassLeaseLost})
		return
	}
	if fetch.IsRobots(v, i) && q.w.bug("no-robots") {
		q.finished(r, &httpclient.Exchange{URL: r.url, Status: 404})
		return
	}
	q.asking = true
	q.inFlight = append(q.inFlight, r)
	started := q.instance.proc.wall()
	x, took := q.w.web.ask(r, v)
	r.attempt = q.watch(step, r.entry)
	q.w.trace("%s asks %s", q.instance.name, r.url)
	x.Started, x.Total = started, took
	q.w.after(took, func() {
		r.end(q.w.now)
		q.instance.run(func() {
			if !r.attempt.over {
				q.finished(r, x)
			}
		})
	})
}

// end is the end of a request as the server sees it.
func (r *request) end(now time.Duration) {
	if r.entry != nil && r.entry.end < 0 {
		r.entry.end = now
	}
}

func (f *fetcher) endCancelled() {
	f.leaveLines()
	for _, r := range slices.Clone(f.inFlight) {
		if r.step.Context.Err() != nil {
			r.end(f.w.now)
			r.queue.finished(r, &httpclient.Exchange{URL: r.url, Class: httpclient.ClassCanceled})
		}
	}
}

func (q *queue) finished(r *request, x *httpclient.Exchange) {
	q.inFlight = slices.DeleteFunc(q.inFlight, func(o *request) bool { return o == r })
	defer r.leave()
	v, i, now := r.step.Visit, r.step.Index, q.instance.proc.mono()
	if q.w.bug("delay-from-start") {
		now = epoch.Add(r.started)
	}
	if r.entry != nil {
		r.entry.retryAfter = x.RetryAfter // the fetcher has read it
		q.w.web.silenced(q.fetcher, r.url, x.RetryAfter)
	}
	target, _ := urls.Parse(r.url)
	x = q.w.bugs.exchange(target.Origin(), x)
	answer := q.w.bugs.answer(q.outcome(v, i, x))
	if r.attempt != nil {
		r.attempt.over = true
	}
	v.Charged = netip.Addr{}
	if r.attempt != nil && r.attempt.hung {
		q.hungUp(r.step, answer)
	} else {
		q.asking = false
		q.Made(now, answer, 0.05*q.w.rng.Float64())
	}
	q.wake(0)
}

// outcome reports an exchange, as package fetch does.
func (q *queue) outcome(v *hostqueue.Visit, i int, x *httpclient.Exchange) hostqueue.Answer {
	report := q.report(v)
	switch {
	case fetch.Undone(x):
		report.Add(fetch.Skip(i))
		return hostqueue.Answer{Stop: true}
	case fetch.IsRobots(v, i):
		return q.robots(v, i, x, report)
	case v.Check:
		report.Add(fetch.OutcomeOf(v, i, x))
		return fetch.AnswerOf(x)
	}
	record := fetch.FetchedOf(v, i, x)
	report.Await(nil)
	size := len(x.Body)
	noted := q.backlog.Send(v.Domain, size)
	sent := &sentBody{v.Partition, -1, size}
	q.sentBodies = append(q.sentBodies, sent)
	reportIt := func() {
		q.write(v, report.Acknowledged(record.Outcome, q.instance.proc.mono()))
	}
	early := q.w.bug("report-early")
	q.out.send(topicPartition{q.w.names.Fetched, v.Partition}, v.Domain, encode(record), func(offset int64, err error) {
		if err != nil {
			q.instance.fail(err)
			return
		}
		q.backlog.Acknowledged(v.Partition, offset, noted)
		sent.offset = offset
		if !early {
			reportIt()
		}
	})
	if early {
		reportIt()
	}
	return fetch.AnswerOf(x)
}

func (q *queue) robots(v *hostqueue.Visit, i int, x *httpclient.Exchange, report *fetch.Report) hostqueue.Answer {
	found := fetch.RobotsOutcomeOf(v.Requests[i].Target, 0, x, product)
	outcome := fetch.OutcomeOf(v, i, x)
	report.Await(found.Rules)
	if found.Elsewhere == nil {
		q.write(v, report.Acknowledged(outcome, q.instance.proc.mono()))
		return found.Answer
	}
	at := topics.Partition(found.Domain, q.w.env.Definition.Partitions)
	q.out.send(topicPartition{q.w.names.Visited, at}, found.Domain, encode(found.Elsewhere), func(_ int64, err error) {
		if err != nil {
			q.instance.fail(err)
			return
		}
		q.write(v, report.Acknowledged(outcome, q.instance.proc.mono()))
	})
	return found.Answer
}

func (f *fetcher) report(v *hostqueue.Visit) *fetch.Report {
	if f.reports[v] == nil {
		f.reports[v] = fetch.NewReport(v, f.instance.proc.mono())
		f.visits = append(f.visits, v)
	}
	return f.reports[v]
}
