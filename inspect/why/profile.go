package why

import (
	"math"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/processors/schedule/frontier"
)

// Setting is what people ask for a domain (weft domain).
type Setting struct {
	// DelayMS is the time between two requests; absent: the crawl's delay. PerDay is the
	// largest number of requests a day; 0: the crawl's limit. Priority is high or low;
	// empty: the priority of the domain's URLs.
	DelayMS  *int64 `json:"delay_ms,omitempty"`
	PerDay   int64  `json:"per_day,omitempty"`
	Priority string `json:"priority,omitempty"`
	// Blocked: the crawl makes no request to the domain, for this Reason.
	Blocked bool      `json:"blocked,omitempty"`
	Reason  string    `json:"reason,omitempty"`
	SetAt   time.Time `json:"set_at"`
}

func settingOf(r *weftpb.DomainSetting) *Setting {
	if r == nil {
		return nil
	}
	s := &Setting{DelayMS: r.DelayMs, PerDay: r.PerDay, Blocked: r.Blocked, Reason: r.Reason, SetAt: moment(r.SetMs)}
	switch r.Priority {
	case weftpb.DomainSetting_PRIORITY_HIGH:
		s.Priority = "high"
	case weftpb.DomainSetting_PRIORITY_LOW:
		s.Priority = "low"
	}
	return s
}

// Text is the setting in words, empty if it asks for nothing.
func (s *Setting) Text() string {
	if s == nil {
		return ""
	}
	var words []string
	if s.DelayMS != nil {
		words = append(words, "a delay of "+span(ms(*s.DelayMS)))
	}
	if s.PerDay > 0 {
		words = append(words, "at most "+plural(s.PerDay, "request")+" a day")
	}
	if s.Priority != "" {
		words = append(words, s.Priority+" priority")
	}
	if s.Blocked && s.Reason != "" {
		words = append(words, "blocked ("+s.Reason+")")
	} else if s.Blocked {
		words = append(words, "blocked")
	}
	return join(words)
}

// Profile sums up the requests to a domain that the ledger records.
type Profile struct {
	Requests int64 `json:"requests"`
	// Errors are requests without an answer, and answers with a status of 400 or more,
	// without those for robots.txt.
	Errors int64 `json:"errors"`
	// Bytes of all bodies. MeanMS is the mean time of an answer, MeanBytes the mean size of
	// its body.
	Bytes     int64 `json:"bytes"`
	MeanMS    int64 `json:"mean_ms"`
	MeanBytes int64 `json:"mean_bytes"`
	// FirstAt and LastAt are the times of the first and of the last request.
	FirstAt time.Time `json:"first_at,omitzero"`
	LastAt  time.Time `json:"last_at,omitzero"`

	answers, totalUS int64
}

// apply counts the requests that an event settles.
func (p *Profile) apply(ev *weftpb.Scheduled) {
	for _, s := range ev.Settled {
		if s.Attempt != nil {
			p.count(s.Attempt, s.Reason == frontier.ReasonRobots)
		}
	}
}

func (p *Profile) count(a *weftpb.Attempt, robots bool) {
	p.Requests++
	if a.Status == 0 || a.Status >= 400 && !robots {
		p.Errors++
	}
	if a.Status != 0 {
		p.answers++
		p.totalUS += a.TotalUs
		p.Bytes += a.BodyBytes
		p.MeanMS, p.MeanBytes = p.totalUS/p.answers/1000, p.Bytes/p.answers
	}
	at := moment(a.StartedMs)
	if p.FirstAt.IsZero() || at.Before(p.FirstAt) {
		p.FirstAt = at
	}
	if at.After(p.LastAt) {
		p.LastAt = at
	}
}

// Today is the number of requests to a domain on the present day (UTC), and its limit.
type Today struct {
	Requests int64 `json:"requests"`
	// Most is the largest number of requests; 0: no limit.
	Most int64 `json:"most,omitempty"`
	// Known is the number of the domain's URLs. The crawl's budget is divided by it.
	Known int64 `json:"known"`
}

// today counts the requests to a domain today, and says how many are allowed. all is the
// number of URLs of the crawl.
func (a *Asker) today(state frontier.DomainState, now time.Time, all int64) Today {
	t := Today{Known: int64(state.Known), Most: a.frontier.Budget(state, all)}
	if state.AskedOn.Equal(now.UTC().Truncate(24 * time.Hour)) {
		t.Requests = int64(state.Asked)
	}
	if t.Most == math.MaxInt64 {
		t.Most = 0
	}
	return t
}
