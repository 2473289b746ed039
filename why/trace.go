package why

import (
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// Attempt is one request that was made.
type Attempt struct {
	At time.Time `json:"at"`
	// Milliseconds until the response had ended.
	TookMS int64 `json:"took_ms"`
	// HTTP status; 0 without a response, which Error, the class, explains.
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
	}
}

// trace is when a domain did what, which the frontier's state does not tell.
type trace struct {
	// decidedMS is the time of the last event.
	decidedMS int64
	// nextMS is the earliest next release, and when that was decided.
	nextMS, nextSetMS int64
	// releasedMS is the last release, endedMS the end of the last request on
	// its fetcher's clock.
	releasedMS, endedMS int64
}

func (t *trace) fold(ev *weftpb.Scheduled) {
	t.decidedMS = ev.DecidedMs
	if next := ev.GetTiming().GetNextMs(); next != t.nextMS {
		t.nextMS, t.nextSetMS = next, ev.DecidedMs
	}
	if len(ev.Released) > 0 {
		t.releasedMS = ev.DecidedMs
	}
	for _, s := range ev.Settled {
		if a := s.Attempt; a != nil {
			t.endedMS = max(t.endedMS, a.StartedMs+a.TotalUs/1000)
		}
	}
}

// heard is what the last robots visit to an origin brought.
type heard struct {
	at      time.Time
	ref     Ref
	status  uint32
	attempt *Attempt
}

// robotsHeard is what was heard of the origins of one domain, and the rules
// that were in force last.
type robotsHeard struct {
	last  map[string]heard
	rules map[string]*weftpb.Robots
}

func newRobotsHeard() robotsHeard {
	return robotsHeard{last: map[string]heard{}, rules: map[string]*weftpb.Robots{}}
}

func (r robotsHeard) fold(ev *weftpb.Scheduled, ref Ref) {
	for _, o := range ev.Rules {
		h := heard{at: moment(ev.DecidedMs), ref: ref, status: o.Robots.GetStatus()}
		if len(ev.Settled) > 0 {
			h.attempt = attemptOf(ev.Settled[0].Attempt) // of the robots visit itself
		}
		r.last[o.Origin] = h
		if !o.Unchanged && o.Robots.GetAccess() != weftpb.Robots_ACCESS_DISALLOW_ALL {
			r.rules[o.Origin] = o.Robots
		}
	}
}
