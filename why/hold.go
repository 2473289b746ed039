package why

import (
	"fmt"
	"time"

	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/politeness"
	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/urls"
)

// Cause names what holds a domain back. The names are stable.
type Cause string

const (
	// Done means that nothing of the domain is pending.
	Done Cause = "done"
	// Ready means that it is its turn at this moment.
	Ready Cause = "ready"
	// Asking is a request being made: without a delay that is all the time.
	Asking Cause = "request"
	// Delaying is the delay between two requests.
	Delaying Cause = "delay"
	// Robots is a robots.txt that is being asked for, or cannot be had.
	Robots Cause = "robots"
	// Retrying means that all that is left has failed and is tried again later.
	Retrying Cause = "retry"
	// Aside means that all that is left may be other spellings of URLs that were
	// named before: a few more of them are tried when the domain is quiet.
	Aside Cause = "aside"
	// BackingOff is the while that a domain is left alone after failures.
	BackingOff Cause = "back_off"
	// RetryAfter is a server's wish to be left alone for longer.
	RetryAfter Cause = "retry_after"
	// Breaker means that the breaker is open.
	Breaker Cause = "breaker"
	// Window means that as many visits of the partition are out as may be.
	Window Cause = "window"
	// Disk means that the free disk is below the reserve.
	Disk Cause = "disk"
	// Schedule means that the scheduler has not come to it.
	Schedule Cause = "schedule"
	// Fetch means that its visit is out, and the fetcher has not come to it.
	Fetch Cause = "fetch"
	// Failing means that the stage that would go on ends again and again.
	Failing Cause = "failing"
	// Stopped means that no process runs the stage that would go on.
	Stopped Cause = "stopped"
	// Paused means that somebody paused the crawl, or drains it.
	Paused Cause = "paused"
	// Unknown means that the beginning of the ledger was trimmed.
	Unknown Cause = "unknown"
)

// Hold is what holds a domain back at the moment.
type Hold struct {
	Cause Cause `json:"cause"`
	// Until is when that ends by itself; zero if nobody can tell.
	Until time.Time `json:"until,omitzero"`
	// Text is the sentence for people, without a full stop.
	Text string `json:"text"`
}

// short is the cause and its end.
func (h Hold) short(c clock) string {
	if h.Until.IsZero() {
		return string(h.Cause)
	}
	return fmt.Sprintf("%s until %s", h.Cause, c.when(h.Until))
}

// holding is what is looked at to tell what holds a domain back.
type holding struct {
	now     time.Time
	zone    *time.Location
	state   frontier.DomainState
	visits  []frontier.VisitOut
	origins []frontier.OriginState
	delay   Delay
	trace   trace
	// visitsOut of the partition, of which window may be.
	visitsOut, window int64
	// lag of the scheduler in the partition.
	lag  int64
	loop loop
}

func (h holding) clock() clock { return clock{h.now, h.zone} }

// pending is the number of URLs that are not settled.
func (h holding) pending() int64 { return pendingOf(h.state) }

func pendingOf(s frontier.DomainState) int64 {
	n := int64(s.Retries+s.Aside) + s.Out
	for _, q := range s.Queued {
		n += int64(q)
	}
	return n
}

// hold finds what holds the domain back.
func (h holding) hold() Hold {
	switch {
	case h.state.State == frontier.Empty:
		return Hold{Cause: Done, Text: "nothing is pending"}
	case h.loop.idle(topics.Schedule):
		return h.stopped(topics.Schedule)
	case h.paused():
		return Hold{Cause: Paused, Text: fmt.Sprintf("the crawl is asked not to go on (%s)", h.loop.control)}
	case h.state.State == frontier.Out:
		return h.out()
	case h.state.DueAt.After(h.now):
		return h.waiting()
	}
	return h.overdue()
}

// stopped explains a domain that a stage would go on with if somebody ran it, or
// if it did not fail.
func (h holding) stopped(stage topics.Stage) Hold {
	if f, fails := h.loop.failing(stage); fails {
		return Hold{Cause: Failing, Text: fmt.Sprintf("the stage %s fails: %s", stage, f.Says)}
	}
	for _, members := range h.loop.members {
		if members > 0 {
			return Hold{Cause: Stopped, Text: fmt.Sprintf("no process runs the stage %s", stage)}
		}
	}
	return Hold{Cause: Stopped, Text: "no process runs this crawl"}
}

// paused tells whether somebody holds the domain back: a drain lets visits that
// are out come back.
func (h holding) paused() bool {
	if h.state.State == frontier.Out {
		return h.loop.control.Pauses(topics.Fetch)
	}
	return h.loop.control.Holds()
}

// patience is how much later than expected a sign of a visit may come before
// it is the fetcher that holds it back: outcomes are reported about once a
// second, and a server may be slow for once.
const patience = 10 * time.Second

// out explains a domain with a visit out.
func (h holding) out() Hold {
	if h.loop.idle(topics.Fetch) {
		return h.stopped(topics.Fetch)
	}
	v := h.visits[0]
	last := moment(max(h.trace.releasedMS, h.trace.endedMS))
	next := last.Add(v.Delay)
	late := h.now.Sub(next.Add(2 * h.state.Response))
	switch {
	case h.now.Sub(v.LeaseAt) > patience:
		return Hold{Cause: Schedule, Text: fmt.Sprintf(
			"visit %s was lost: its lease ran out %s ago, and the scheduler has not come to release it again", v.ID, span(h.now.Sub(v.LeaseAt)))}
	case late > patience:
		return Hold{Cause: Fetch, Text: fmt.Sprintf(
			"visit %s should have gone on %s ago: its fetcher has no free slot, waits for parse, took the partition over just now, or is gone",
			v.ID, span(h.now.Sub(next)))}
	case v.Robots:
		return Hold{Cause: Robots, Text: fmt.Sprintf("%s is being asked for", v.Requests[0].GetTarget().GetUrl())}
	case v.Probe && !h.state.BreakerOpen:
		asked, _ := urls.Parse(v.Requests[0].GetTarget().GetUrl())
		return Hold{Cause: Breaker, Text: fmt.Sprintf("the breaker of %s is open, and one request is out to see whether it answers again", asked.Origin())}
	case v.Probe:
		return Hold{Cause: Breaker, Text: "the breaker is open, and one request is out to see whether the domain answers again"}
	case v.Delay > 0 && next.After(h.now):
		return Hold{Cause: Delaying, Until: next, Text: fmt.Sprintf("the delay of %s between two requests (%s)", span(v.Delay), h.delay.reason())}
	case v.Delay > 0:
		return Hold{Cause: Delaying, Text: fmt.Sprintf("requests go out one after another, %s apart (%s)", span(v.Delay), h.delay.reason())}
	}
	return Hold{Cause: Asking, Text: "requests go out one after another without a delay: its server's answers set the pace"}
}

// waiting explains a domain that is due later.
func (h holding) waiting() Hold {
	at, c, pausing := h.state.DueAt, h.clock(), h.state.NextAt.After(h.now)
	unreachable, ok := h.unreachable()
	switch {
	case pausing && h.retryAfter() > 0:
		return Hold{Cause: RetryAfter, Until: at, Text: fmt.Sprintf(
			"its server asked to be left alone for %s (Retry-After); the next request is %s", span(h.retryAfter()), c.when(at))}
	case pausing && h.state.BreakerOpen:
		return Hold{Cause: Breaker, Until: at, Text: fmt.Sprintf(
			"the breaker is open after %s in a row, time %d; the next probe is %s",
			plural(int64(h.state.Failures), "failure"), h.state.BreakerCycles, c.when(at))}
	case ok && unreachable.Missing:
		return Hold{Cause: Robots, Until: unreachable.RetryAt.UTC(), Text: fmt.Sprintf(
			"the name of the host of %s was not found; it is looked up once more %s", unreachable.Name, c.when(unreachable.RetryAt))}
	case ok && unreachable.Standing == frontier.Referred:
		return Hold{Cause: Robots, Until: unreachable.RetryAt.UTC(), Text: fmt.Sprintf(
			"robots.txt of %s redirects to another domain, which is being asked for it; without an answer it is asked for again %s",
			unreachable.Name, c.when(unreachable.RetryAt))}
	case ok:
		return Hold{Cause: Robots, Until: unreachable.RetryAt.UTC(), Text: fmt.Sprintf(
			"robots.txt of %s cannot be had (%s in a row), which forbids everything; it is asked for again %s",
			unreachable.Name, plural(int64(unreachable.Failures), "failure"), c.when(unreachable.RetryAt))}
	case h.state.Aside > 0 && !at.Equal(h.state.RetryAt) && at.After(h.state.NextAt):
		return Hold{Cause: Aside, Until: at, Text: fmt.Sprintf(
			"%s may be other spellings of URLs that were named before; a few more of them are tried %s, if nothing of the domain moves until then",
			plural(int64(h.state.Aside), "URL"), c.when(at))}
	case at.After(h.state.NextAt):
		return Hold{Cause: Retrying, Until: at, Text: fmt.Sprintf(
			"%s failed or came back; the first is tried again %s", plural(int64(h.state.Retries), "URL"), c.when(at))}
	case h.state.Failures > 0:
		return Hold{Cause: BackingOff, Until: at, Text: fmt.Sprintf(
			"it failed %s in a row; the next request is %s", plural(int64(h.state.Failures), "time"), c.when(at))}
	}
	return Hold{Cause: Delaying, Until: at, Text: fmt.Sprintf(
		"the delay of %s between two requests (%s)", span(h.delay.duration()), h.delay.reason())}
}

// unreachable is the first origin whose robots.txt cannot be had yet, when no other
// has rules in force that would let its URLs go out.
func (h holding) unreachable() (first frontier.OriginState, ok bool) {
	for _, o := range h.origins {
		switch {
		case o.Standing == frontier.InForce:
			return frontier.OriginState{}, false
		case (o.Standing == frontier.Waiting || o.Standing == frontier.Referred) && !ok:
			first, ok = o, true
		}
	}
	return first, ok
}

// retryAfter is what a server asked for, when that is longer than what the
// scheduler would have waited by itself.
func (h holding) retryAfter() time.Duration {
	if h.state.Failures == 0 || h.trace.nextSetMS == 0 {
		return 0
	}
	breaker := politeness.Breaker{Failures: h.state.Failures, Cycles: h.state.BreakerCycles, Open: h.state.BreakerOpen}
	decided := moment(h.trace.nextSetMS)
	own := politeness.NextRelease(decided, h.delay.duration(), breaker.Wait(h.delay.duration()), 0)
	if h.state.NextAt.Sub(own) < 100*time.Millisecond {
		return 0
	}
	return h.state.NextAt.Sub(decided)
}

// overdue explains a domain whose time has come.
func (h holding) overdue() Hold {
	late := h.now.Sub(h.state.DueAt)
	disk, full := h.loop.disk()
	switch {
	case full:
		return Hold{Cause: Disk, Text: "nothing is released: " + disk}
	case h.visitsOut >= h.window:
		return Hold{Cause: Window, Text: fmt.Sprintf(
			"due for %s, but %s of its partition are out already, as many as may be", span(late), plural(h.visitsOut, "visit"))}
	case late < 2*time.Second:
		return Hold{Cause: Ready, Text: "it is its turn at this moment"}
	}
	return Hold{Cause: Schedule, Text: fmt.Sprintf(
		"due for %s, but the scheduler has not come to it: it is %s behind in this partition", span(late), plural(h.lag, "record"))}
}
