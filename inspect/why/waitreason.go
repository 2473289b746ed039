package why

import (
	"fmt"
	"slices"
	"time"

	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/schedule/frontier"
	"github.com/weftcrawl/weft/topics"
)

// Cause names what a domain waits for. The names are stable.
type Cause string

const (
	// Done means that nothing of the domain is pending.
	Done Cause = "done"
	// Ready means that the domain is served at this moment.
	Ready Cause = "ready"
	// Asking is an open request: without a delay there is always one.
	Asking Cause = "request"
	// Delaying is the delay between two requests.
	Delaying Cause = "delay"
	// Robots is a robots.txt that is being fetched, or cannot be fetched.
	Robots Cause = "robots"
	// Retrying means that all URLs that are left have failed and are tried again later.
	Retrying Cause = "retry"
	// Aside means that all URLs that are left may be variants of known URLs. A few
	// of them are tried when the domain is quiet.
	Aside Cause = "aside"
	// BackingOff is the time without requests after failures.
	BackingOff Cause = "back_off"
	// RetryAfter is a longer pause that the server asked for.
	RetryAfter Cause = "retry_after"
	// Breaker means that the breaker is open.
	Breaker Cause = "breaker"
	// Window means that the partition has as many visits out as allowed.
	Window Cause = "window"
	// Disk means that less disk is free than the reserve.
	Disk Cause = "disk"
	// Archive means that the archive is behind.
	Archive Cause = "archive"
	// Schedule means that the scheduler has not come to the domain.
	Schedule Cause = "schedule"
	// Fetch means that a visit is out and the fetcher has not come to it.
	Fetch Cause = "fetch"
	// Failing means that the next stage ends again and again.
	Failing Cause = "failing"
	// Stopped means that no process runs the next stage.
	Stopped Cause = "stopped"
	// Paused means that the crawl is paused or draining.
	Paused Cause = "paused"
	// Blocked means that people have blocked the domain, or that the crawl has blocked it for
	// a day because most of its answers were errors.
	Blocked Cause = "blocked"
	// Budget means that the domain has had all requests that are allowed on this day.
	Budget Cause = "budget"
	// Address means that the budget of its host's address is used up. All names of the
	// address share that budget.
	Address Cause = "address"
	// Unknown means that the beginning of the ledger was trimmed.
	Unknown Cause = "unknown"
)

// WaitReason is why a domain waits at the moment.
type WaitReason struct {
	Cause Cause `json:"cause"`
	// Until is when that ends by itself; zero if it is not known.
	Until time.Time `json:"until,omitzero"`
	// Text is a sentence without a full stop.
	Text string `json:"text"`
}

func because(cause Cause, format string, args ...any) WaitReason {
	return WaitReason{Cause: cause, Text: fmt.Sprintf(format, args...)}
}

func (r WaitReason) until(t time.Time) WaitReason {
	r.Until = t.UTC()
	return r
}

// domainView is all that decides why a domain waits.
type domainView struct {
	clock
	state   frontier.DomainState
	visits  []frontier.VisitOut
	origins []frontier.OriginState
	hosts   []frontier.HostState
	delay   Delay
	today   Today
	trace   trace
	// visitsOut is the number of visits of the partition that are out, window the limit.
	visitsOut, window int64
	// lag of the scheduler in the partition.
	lag  int64
	loop loop
}

// domainView reads a domain's state. The caller sets visitsOut.
func (a *Asker) domainView(f *frontier.Frontier, domain string, t trace, around loop, c clock) (domainView, error) {
	h := domainView{
		clock: c, trace: t, loop: around,
		window: int64(a.frontier.Window), lag: around.lag(topics.Schedule, a.partition(domain)),
	}
	var err error
	if h.state, err = f.DomainState(domain); err != nil {
		return h, err
	}
	if h.visits, err = f.Visits(domain); err != nil {
		return h, err
	}
	if h.origins, err = f.Origins(domain, c.now); err != nil {
		return h, err
	}
	if h.hosts, err = f.Hosts(domain, c.now); err != nil {
		return h, err
	}
	h.delay = delayOf(a.frontier, h.state.Setting, h.state.Response, h.origins)
	h.today = a.today(h.state, c.now, frontier.Known(around.status.Gauges))
	return h, nil
}

// pending is the number of URLs that are not settled.
func (h domainView) pending() int64 {
	n := int64(h.state.Retries+h.state.Grouped) + h.state.Out
	for _, q := range h.state.Queued {
		n += int64(q)
	}
	return n
}

// waitReason finds out why the domain waits.
func (h domainView) waitReason() WaitReason {
	switch {
	case h.state.State == frontier.Empty:
		return because(Done, "nothing is pending")
	case h.loop.idle(topics.Schedule):
		return h.stopped(topics.Schedule)
	case h.paused():
		return because(Paused, "the crawl is asked not to go on (%s)", h.loop.control)
	case h.state.State == frontier.Out:
		return h.out()
	case h.state.DueAt.After(h.now):
		return h.waiting()
	}
	return h.overdue()
}

// stopped explains a domain whose next stage does not run, or fails.
func (h domainView) stopped(stage topics.Stage) WaitReason {
	if f, fails := h.loop.failing(stage); fails {
		return because(Failing, "the stage %s fails: %s", stage, f.Says)
	}
	for _, members := range h.loop.members {
		if members > 0 {
			return because(Stopped, "no process runs the stage %s", stage)
		}
	}
	return because(Stopped, "no process runs this crawl")
}

// paused reports whether a pause or a drain stops the domain. A drain does not stop
// visits that are out.
func (h domainView) paused() bool {
	if h.state.State == frontier.Out {
		return h.loop.control.Pauses(topics.Fetch)
	}
	return h.loop.control.PausesReleases()
}

// patience is how late an outcome of a visit may come before the fetcher is the cause:
// outcomes are reported about once a second, and a server may be slow once.
const patience = 10 * time.Second

// out explains a domain with a visit out.
func (h domainView) out() WaitReason {
	if h.loop.idle(topics.Fetch) {
		return h.stopped(topics.Fetch)
	}
	v := h.visits[max(slices.IndexFunc(h.visits, func(v frontier.VisitOut) bool { return !v.Hangs }), 0)]
	last := moment(max(h.trace.releasedMS, h.trace.endedMS))
	next := last.Add(v.Delay)
	late := h.now.Sub(next.Add(2 * h.state.Response))
	switch {
	case h.now.Sub(v.LeaseAt) > patience:
		return because(Schedule, "visit %s was lost: its lease ran out %s ago, and the scheduler has not come to release it again",
			v.ID, span(h.now.Sub(v.LeaseAt)))
	case v.Hangs:
		return because(Asking, "the request for %s hangs; other hosts of the domain do not wait for it", v.Asks())
	case late > patience:
		return because(Fetch, "visit %s should have gone on %s ago: its fetcher has no free slot, waits for parse, took the partition over just now, or is gone",
			v.ID, span(h.now.Sub(next)))
	case v.Robots:
		return because(Robots, "%s is being fetched", v.Requests[0].GetTarget().GetUrl())
	case v.Probe || v.Check:
		asked, _ := urls.Parse(v.Requests[0].GetTarget().GetUrl())
		return because(Breaker, "%s is down, and one request is out to see whether it answers again", asked.Origin())
	case v.Delay > 0 && next.After(h.now):
		return because(Delaying, "the delay of %s between two requests (%s)",
			span(v.Delay), h.delay.reason()).until(next)
	case v.Delay > 0:
		return because(Delaying, "requests go out one after another, %s apart (%s)", span(v.Delay), h.delay.reason())
	}
	return because(Asking, "requests go out one after another without a delay: its server's answers set the pace")
}

// waiting explains a domain that is due later.
func (h domainView) waiting() WaitReason {
	at := h.state.DueAt
	if reason, ok := h.limited(); ok {
		return reason
	}
	if reason, ok := h.hostWaits(); ok {
		return reason
	}
	if h.state.Crowded && !at.After(h.state.NextAt) {
		return because(Address, "all names of its host's address share a budget, which is used up; it goes on %s", h.When(at)).until(at)
	}
	unreachable, ok := h.unreachable()
	switch {
	case ok && unreachable.Standing == frontier.Referred:
		return because(Robots, "robots.txt of %s redirects to another domain, from which it is being fetched; without an answer it is requested again %s",
			unreachable.Name, h.When(unreachable.RetryAt)).until(unreachable.RetryAt)
	case ok:
		return because(Robots, "robots.txt of %s cannot be fetched (%s in a row), which forbids everything; it is requested again %s",
			unreachable.Name, plural(int64(unreachable.Failures), "failure"), h.When(unreachable.RetryAt)).until(unreachable.RetryAt)
	case h.state.Grouped > 0 && !at.Equal(h.state.RetryAt) && at.After(h.state.NextAt):
		return because(Aside, "%s may be variants of URLs that were named before; a few more of them are tried %s, if nothing of the domain moves until then",
			plural(int64(h.state.Grouped), "URL"), h.When(at)).until(at)
	case at.After(h.state.NextAt):
		return because(Retrying, "%s failed or came back; the first is tried again %s",
			plural(int64(h.state.Retries), "URL"), h.When(at)).until(at)
	}
	return because(Delaying, "the delay of %s between two requests (%s)",
		span(ms(h.delay.MS)), h.delay.reason()).until(at)
}

// limited explains a domain that is blocked or has used up its requests of the day.
func (h domainView) limited() (WaitReason, bool) {
	s, until := h.state.Setting, h.state.BlockedUntil
	midnight := h.now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	switch {
	case s.GetBlocked() && s.Reason != "":
		return because(Blocked, "people blocked it %s: %s; weft domain --unblock ends that", h.When(moment(s.SetMs)), s.Reason), true
	case s.GetBlocked():
		return because(Blocked, "people blocked it %s; weft domain --unblock ends that", h.When(moment(s.SetMs))), true
	case until.After(h.now):
		return because(Blocked, "more than half of its answers were errors, so it is blocked until %s", h.When(until)).until(until), true
	case h.today.Most > 0 && h.today.Requests >= h.today.Most:
		return because(Budget, "%s were made today, and no more are allowed a day; it goes on %s",
			plural(h.today.Requests, "request"), h.When(midnight)).until(midnight), true
	}
	return WaitReason{}, false
}

// unreachable is the first origin whose robots.txt cannot be fetched, if no other origin
// has rules in force.
func (h domainView) unreachable() (first frontier.OriginState, ok bool) {
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

// hostWaits explains a domain that waits for its first host.
func (h domainView) hostWaits() (WaitReason, bool) {
	for _, host := range h.hosts {
		if host.WaitAt.Equal(h.state.DueAt) {
			if reason, ok := h.hostReason(host); ok {
				return reason, true
			}
		}
	}
	return WaitReason{}, false
}

// hostReason explains why a host waits by itself. ok is false if the host does not.
func (h domainView) hostReason(host frontier.HostState) (reason WaitReason, ok bool) {
	at := host.WaitAt
	switch {
	case !at.After(h.now) || host.Refuse != "":
		return WaitReason{}, false
	case host.HangsUntil.Equal(at):
		return because(Asking, "a request to %s hangs, and the host gets no other request meanwhile", host.Host), true
	case host.Missing:
		return because(Robots, "the name %s was not found; it is looked up once more %s", host.Host, h.When(at)).until(at), true
	case host.Throttled > 0:
		return because(RetryAfter, "%s asked for fewer requests (%s in a row); the next request to it is %s",
			host.Host, plural(int64(host.Throttled), "time"), h.When(at)).until(at), true
	case host.SilentUntil.Equal(at):
		return because(RetryAfter, "%s asked for no request (Retry-After); the next request to it is %s", host.Host, h.When(at)).until(at), true
	case host.Down:
		return because(Breaker, "%s is down: it failed %s in a row; the next probe is %s",
			host.Host, plural(int64(host.Failures), "time"), h.When(at)).until(at), true
	case host.Failures > 0:
		return because(BackingOff, "%s failed %s in a row; the next request to it is %s",
			host.Host, plural(int64(host.Failures), "time"), h.When(at)).until(at), true
	case host.Learnt > 0:
		return because(Delaying, "%s asked for fewer requests, so they are %s apart; the next one is %s",
			host.Host, span(host.Learnt), h.When(at)).until(at), true
	}
	return WaitReason{}, false
}

// reasonOf explains why a URL of a host waits: because its host waits, or its domain.
func (h domainView) reasonOf(name string) WaitReason {
	if h.state.State != frontier.Empty && !h.paused() && !h.loop.idle(topics.Schedule) {
		for _, host := range h.hosts {
			if reason, ok := h.hostReason(host); ok && host.Host == name {
				return reason
			}
		}
	}
	return h.waitReason()
}

// overdue explains a domain that is due.
func (h domainView) overdue() WaitReason {
	late := h.now.Sub(h.state.DueAt)
	disk, full := h.loop.disk()
	lacks, behind := h.loop.unarchived()
	switch {
	case full:
		return because(Disk, "nothing is released: %s", disk)
	case behind:
		return because(Archive, "nothing is released: %s", lacks)
	case h.visitsOut >= h.window:
		return because(Window, "due for %s, but %s of its partition are out already, as many as allowed",
			span(late), plural(h.visitsOut, "visit"))
	case late < 2*time.Second:
		return because(Ready, "it is its turn at this moment")
	}
	return because(Schedule, "due for %s, but the scheduler has not come to it: it is %s behind in this partition",
		span(late), plural(h.lag, "record"))
}
