package why

import (
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/robots"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/schedule/frontier"
)

// What happens to a URL. The names are stable.
const (
	// Admitted: it joined a queue of its domain.
	Admitted = "admitted"
	// Released: it went out in a visit.
	Released = "released"
	// Attempted: a request was made.
	Attempted = "attempted"
	// Returned: its visit ended before its request was made.
	Returned = "returned"
	// Expired: the lease of its visit ran out.
	Expired = "expired"
	// PutOff: its robots.txt cannot be fetched at the moment; or its origin waits
	// because the name of its host was not found, or because it failed (Reason).
	PutOff = "put_off"
	// Withdrawn: the group in which it waits is withdrawn. Back: the group comes
	// back. Recalled: the URL leaves the group and is fetched as other URLs are.
	Withdrawn = "withdrawn"
	Back      = "back"
	Recalled  = "recalled"
	// Refreshed: it was settled, and is queued again because it is time to fetch it again.
	Refreshed = "refreshed"
	// Denied: it was settled without a request.
	Denied = "refused"
)

// Attempt is one request that was made.
type Attempt struct {
	At time.Time `json:"at"`
	// Milliseconds until the response had ended.
	TookMS int64 `json:"took_ms"`
	// Milliseconds that the look-up of the host took, which may lie before At, and the
	// connection with TLS.
	DNSMS     int64 `json:"dns_ms,omitempty"`
	ConnectMS int64 `json:"connect_ms,omitempty"`
	// Status is the HTTP status; 0 without a response. Error is the class of an error.
	Status    uint32 `json:"status,omitempty"`
	Error     string `json:"error,omitempty"`
	BodyBytes int64  `json:"body_bytes,omitempty"`
}

func attemptOf(a *weftpb.Attempt) *Attempt {
	if a == nil {
		return nil
	}
	return &Attempt{
		At: moment(a.StartedMs), TookMS: a.TotalUs / 1000, Status: a.Status, Error: a.ErrorClass, BodyBytes: a.BodyBytes,
		DNSMS: int64(a.DnsMs), ConnectMS: int64(a.ConnectMs),
	}
}

// Step is one thing that happened to a URL.
type Step struct {
	At   time.Time `json:"at"`
	What string    `json:"what"`
	// Visit and its number of requests and delay, of a release.
	Visit    string `json:"visit,omitempty"`
	Requests int    `json:"requests,omitempty"`
	DelayMS  int64  `json:"delay_ms,omitempty"`
	// Reason is the reason of the step; for an admission the reason of the priority.
	Reason   string   `json:"reason,omitempty"`
	Priority *uint32  `json:"priority,omitempty"`
	Attempt  *Attempt `json:"attempt,omitempty"`
	// RetryAt is when it may be tried again; zero: at once, or never.
	RetryAt time.Time `json:"retry_at,omitzero"`
	// RefreshAt is when it is fetched again; zero: it is not.
	RefreshAt time.Time `json:"refresh_at,omitzero"`
	// Final: nothing follows.
	Final bool `json:"final,omitempty"`
	// Rule is the line of robots.txt that forbids it.
	Rule string `json:"rule,omitempty"`
	Ref  Ref    `json:"ref"`
}

// history collects the steps of one URL.
type history struct {
	url    urls.URL
	steps  []Step
	visits map[string]uint32 // visits with the URL, and its index in them
	rules  *weftpb.Robots    // of its origin, in force last
	// missing: the name of its host was not found. waitMS is until when its host or
	// origin waits.
	missing bool
	waitMS  int64
	// aside is the group in which the URL waits, "" if it does not wait; withdrawn are
	// the withdrawn groups.
	aside     string
	withdrawn map[string]bool
}

// fold reads an event about the URL's domain, in the order in which the
// frontier folds it.
func (h *history) fold(ev *weftpb.Scheduled, ref Ref) {
	add := func(s Step) {
		s.At, s.Ref = moment(ev.DecidedMs), ref
		h.steps = append(h.steps, s)
	}
	url := h.url.String()
	for _, id := range ev.Expired {
		if _, ok := h.visits[id]; ok {
			add(Step{What: Expired, Visit: id})
			delete(h.visits, id)
		}
	}
	for _, g := range ev.Groups {
		h.regroup(g, add)
	}
	for _, a := range ev.Admitted {
		if t := a.GetRequest().GetTarget(); t.GetUrl() == url && t.Via != weftpb.Via_VIA_ROBOTS {
			priority, reason := frontier.Priority(t.Depth, t.Via)
			add(Step{What: Admitted, Priority: &priority, Reason: reason})
			if h.aside = t.Group; h.withdrawn[t.Group] {
				add(Step{What: Withdrawn})
			}
		}
	}
	for _, r := range ev.Refreshed {
		if r.GetRequest().GetTarget().GetUrl() == url {
			add(Step{What: Refreshed})
		}
	}
	for _, r := range ev.Recalled {
		if r.Url == url {
			h.aside = ""
			add(Step{What: Recalled})
		}
	}
	for _, o := range ev.Rules {
		if o.Origin != h.url.Origin() {
			continue
		}
		h.missing = h.missing || o.Missing
		if !o.Unchanged && o.Robots.GetAccess() != weftpb.Robots_ACCESS_DISALLOW_ALL {
			h.rules = o.Robots
		}
	}
	for _, o := range ev.Health {
		if o.Origin == h.url.Origin() {
			h.waitMS = o.WaitMs
		}
	}
	for _, host := range ev.Hosts {
		if host.Host == urls.HostOf(url) {
			h.missing, h.waitMS = host.Missing, host.WaitMs
		}
	}
	for _, s := range ev.Settled {
		h.settle(s, add)
	}
	for _, d := range ev.Deferred {
		if d.GetRequest().GetTarget().GetUrl() == url {
			h.aside = ""
			add(Step{What: PutOff, RetryAt: moment(d.RetryMs), Reason: h.waitsFor(d.RetryMs)})
		}
	}
	for _, v := range ev.Released {
		for i, q := range v.Requests {
			if t := q.GetTarget(); !v.Robots && !v.Check && t.GetUrl() == url && t.Via != weftpb.Via_VIA_ROBOTS {
				h.visits[v.Id], h.aside = uint32(i), ""
				add(Step{What: Released, Visit: v.Id, Requests: len(v.Requests), DelayMS: int64(v.DelayMs)})
			}
		}
	}
}

// regroup notes the state of a group, and adds a step if the URL waits there.
func (h *history) regroup(g *weftpb.Group, add func(Step)) {
	was, is := h.withdrawn[g.Name], g.State == weftpb.Group_STATE_WITHDRAWN
	h.withdrawn[g.Name] = is
	switch {
	case g.Name != h.aside || was == is:
	case is:
		add(Step{What: Withdrawn})
	default:
		add(Step{What: Back})
	}
}

// Reasons of PutOff. Without a reason robots.txt cannot be fetched.
const (
	waitsForName   = frontier.ReasonMissing
	waitsForOrigin = "origin_failed"
)

// waitsFor is the reason why the URL is put off until a time.
func (h *history) waitsFor(retryMS int64) string {
	switch {
	case h.missing:
		return waitsForName
	case h.waitMS == retryMS:
		return waitsForOrigin
	}
	return ""
}

func (h *history) settle(s *weftpb.Settlement, add func(Step)) {
	if s.Visit == "" {
		if s.Url == h.url.String() && s.Reason != frontier.ReasonRobots {
			h.aside = ""
			add(Step{What: Denied, Reason: s.Reason, Final: true, Rule: h.rule(s.Reason)})
		}
		return
	}
	index, ok := h.visits[s.Visit]
	if !ok || index != s.Index {
		return
	}
	delete(h.visits, s.Visit)
	if s.RetryMs < 0 {
		add(Step{What: Returned, Visit: s.Visit})
		return
	}
	add(Step{
		What: Attempted, Visit: s.Visit, Reason: s.Reason, Attempt: attemptOf(s.Attempt),
		RetryAt: moment(s.RetryMs), Final: s.RetryMs == 0, RefreshAt: moment(s.RefreshMs),
	})
}

// rule is the line of robots.txt, in force at that point, that forbids the URL.
func (h *history) rule(reason string) string {
	if reason != frontier.ReasonDisallowed {
		return ""
	}
	line, _ := robots.Compile(h.rules).Rule(h.url.PathAndQuery())
	return line
}
