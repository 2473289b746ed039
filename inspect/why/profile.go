package why

import (
	"math"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/processors/schedule/frontier"
)

// Setting is what people ask for a domain (weft domain).
type Setting struct {
	// DelayMS between two requests; absent: that of the crawl. PerDay requests at most; 0:
	// as the crawl says. Priority is high, low, or empty: that of its URLs.
	DelayMS  *int64 `json:"delay_ms,omitempty"`
	PerDay   int64  `json:"per_day,omitempty"`
	Priority string `json:"priority,omitempty"`
	// Blocked for a Reason: nothing is requested.
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

// Profile sums up the requests to a domain, as the ledger tells of them.
type Profile struct {
	Requests int64 `json:"requests"`
	// Errors are requests without an answer, and answers about pages with a status of 400
	// and more.
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

// apply counts the requests of which an event tells.
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

// Today is what was asked of a domain on the present day (UTC).
type Today struct {
	Requests int64 `json:"requests"`
	// Most is how many may be made; 0: any number.
	Most int64 `json:"most,omitempty"`
	// Known URLs of the domain are its rank: its part of the crawl's budget goes by it.
	Known int64 `json:"known"`
}

// today tells what a domain was asked today, and how much it may be. all is the number of URLs
// of the crawl.
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
