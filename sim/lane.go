package sim

import (
	"slices"
	"time"

	"github.com/weftcrawl/weft/fetch"
	"github.com/weftcrawl/weft/lanes"
	"github.com/weftcrawl/weft/processors"
	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/urls"
)

// lane steps through a lanes.Lane; its goroutine in a running crawl is
// lanes.Lanes.
type lane struct {
	lanes.Lane
	*fetcher
	key    laneKey
	asking bool // a request is being made
	turn   int  // of the wake-up that counts
}

type laneKey struct {
	domain string
	nth    int
}

// wake lets the lane do its next step after a while.
func (ln *lane) wake(d time.Duration) {
	ln.turn++
	turn := ln.turn
	ln.life.after(d, func() {
		if turn == ln.turn && !ln.asking {
			ln.serve()
		}
	})
}

func (ln *lane) serve() {
	step := ln.Next(ln.life.proc.mono())
	switch step.Kind {
	case lanes.Over:
		if ln.lanes[ln.key] == ln {
			delete(ln.lanes, ln.key)
		}
	case lanes.Idle, lanes.Wait:
		ln.wake(step.Until.Sub(ln.life.proc.mono()))
	case lanes.Ask:
		ln.pass(step)
	case lanes.Finish:
		report := ln.report(step.Visit)
		ln.write(step.Visit, report.Finish(step.Index, ln.life.proc.mono()))
		ln.Drop()
		ln.wake(0)
	}
}

// pass waits for the gate, and for the way to the connection.
func (ln *lane) pass(step lanes.Step) {
	gate := ln.gate()
	gate.Full = ln.backlog.Full(step.Visit.Domain) && !ln.w.bug(BugBacklogIgnored)
	if !gate.Opens() {
		ln.wake(heartbeat / 2)
		return
	}
	if gate.Permits() {
		ln.judgeBehind()
	}
	ln.asking = true
	ln.life.after(ln.w.between(0, 3*time.Millisecond), func() {
		ln.asking = false
		if ln.Next(ln.life.proc.mono()) != step {
			ln.wake(0)
			return
		}
		ln.ask(step)
	})
}

// request is one that is being made.
type request struct {
	lane    *lane
	step    lanes.Step
	url     string
	started time.Duration
	entry   *access
	over    bool
}

// ask makes a request, if it is permitted where it is written.
func (ln *lane) ask(step lanes.Step) {
	v, i := step.Visit, step.Index
	r := &request{lane: ln, step: step, url: v.Requests[i].Target.Url, started: ln.w.now}
	if !ln.gate().Permits() {
		ln.made(r, &fetch.Exchange{URL: r.url, Class: fetch.ClassLeaseLost})
		return
	}
	if processors.IsRobots(v, i) && ln.w.bug(BugNoRobots) {
		ln.made(r, &fetch.Exchange{URL: r.url, Status: 404})
		return
	}
	ln.asking = true
	ln.flying = append(ln.flying, r)
	started := ln.life.proc.wall()
	x, took := ln.w.web.ask(r, v)
	ln.w.trace("%s asks %s", ln.life.name, r.url)
	x.Started, x.Total = started, took
	ln.w.after(took, func() {
		r.end(ln.w.now)
		ln.life.run(func() {
			if !r.over {
				ln.asking = false
				ln.made(r, x)
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

// cancelled ends requests whose visits have ended.
func (f *fetcher) cancelled() {
	for _, r := range slices.Clone(f.flying) {
		if r.step.Context.Err() != nil {
			r.end(f.w.now)
			r.lane.asking = false
			r.lane.made(r, &fetch.Exchange{URL: r.url, Class: fetch.ClassCanceled})
		}
	}
}

// made books what came of a request.
func (ln *lane) made(r *request, x *fetch.Exchange) {
	r.over = true
	ln.flying = slices.DeleteFunc(ln.flying, func(o *request) bool { return o == r })
	v, i, now := r.step.Visit, r.step.Index, ln.life.proc.mono()
	if ln.w.bug(BugDelayFromStart) {
		now = epoch.Add(r.started)
	}
	if r.entry != nil {
		r.entry.retryAfter = x.RetryAfter // heard, and to be kept
	}
	target, _ := urls.Parse(r.url)
	x = ln.w.bugs.exchange(target.Origin(), x)
	ln.Made(now, ln.w.bugs.answer(ln.outcome(v, i, x)), 0.05*ln.w.rng.Float64())
	ln.wake(0)
}

// outcome reports an exchange, as requests of package processors does.
func (ln *lane) outcome(v *lanes.Visit, i int, x *fetch.Exchange) lanes.Answer {
	report := ln.report(v)
	switch {
	case processors.Undone(x):
		report.Add(processors.Skip(i))
		return lanes.Answer{Stop: true}
	case processors.IsRobots(v, i):
		return ln.robots(v, i, x, report)
	}
	record := processors.FetchedOf(v, i, x)
	report.Open()
	size := len(x.Body)
	booked := ln.backlog.Send(v.Domain, size)
	sent := ln.book(v.Partition, size)
	tell := func() {
		ln.write(v, report.Close(record.Outcome, ln.life.proc.mono()))
	}
	early := ln.w.bug(BugReportEarly)
	ln.out.send(place{ln.w.names.Fetched, v.Partition}, v.Domain, encode(record), func(offset int64, err error) {
		if err != nil {
			ln.life.fail(err)
			return
		}
		ln.backlog.Acknowledged(v.Partition, offset, booked)
		sent.offset = offset
		if !early {
			tell()
		}
	})
	if early {
		tell()
	}
	return processors.AnswerOf(x)
}

// robots reports an exchange for a robots.txt.
func (ln *lane) robots(v *lanes.Visit, i int, x *fetch.Exchange, report *processors.Report) lanes.Answer {
	found := processors.RobotsOf(v.Requests[i].Target, 0, x, product)
	outcome := x.Outcome()
	outcome.Index = uint32(i)
	if found.Rules != nil {
		report.Learn(found.Rules)
	}
	if found.Elsewhere == nil {
		report.Add(outcome)
		return found.Answer
	}
	report.Open()
	at := topics.Partition(found.Domain, ln.w.env.Definition.Partitions)
	ln.out.send(place{ln.w.names.Visited, at}, found.Domain, encode(found.Elsewhere), func(_ int64, err error) {
		if err != nil {
			ln.life.fail(err)
			return
		}
		ln.write(v, report.Close(outcome, ln.life.proc.mono()))
	})
	return found.Answer
}

// report returns the report of a visit.
func (f *fetcher) report(v *lanes.Visit) *processors.Report {
	if f.known[v] == nil {
		f.known[v] = processors.NewReport(v, f.life.proc.mono())
		f.visits = append(f.visits, v)
	}
	return f.known[v]
}
