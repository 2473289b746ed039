package why

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/weftcrawl/weft/frontier"
)

// DomainStory is the answer to "weft why DOMAIN".
type DomainStory struct {
	Given     string    `json:"given"`
	Now       time.Time `json:"now"`
	Domain    string    `json:"domain"`
	Partition int32     `json:"partition"`
	// State is unknown (never heard of), empty, out, due, or trimmed.
	State string `json:"state"`
	// Summary is a sentence for people, Hold what it rests on.
	Summary string `json:"summary"`
	Hold    Hold   `json:"hold"`

	Delay Delay `json:"delay"`
	// NextAt is the earliest time of the next release, DueAt when the
	// scheduler looks at the domain again.
	NextAt  time.Time     `json:"next_at,omitzero"`
	DueAt   time.Time     `json:"due_at,omitzero"`
	Breaker DomainBreaker `json:"breaker"`
	Pending int64         `json:"pending"`
	Queues  DomainQueues  `json:"queues"`
	Visits  []Visit       `json:"visits,omitempty"`
	Origins []Origin      `json:"origins,omitempty"`
	// AtLeastMS is the time that what is pending takes at least.
	AtLeastMS int64 `json:"at_least_ms,omitempty"`
	// Outcomes counts settled URLs by reason.
	Outcomes map[string]int64 `json:"outcomes,omitempty"`
	Attempts []DomainAttempt  `json:"attempts,omitempty"`
	// Sites are those of which rules about variants are known.
	Sites   []SiteRules `json:"sites,omitempty"`
	Unknown []string    `json:"unknown,omitempty"`

	zone *time.Location
}

// DomainBreaker is the memory of a domain's failures.
type DomainBreaker struct {
	Open bool `json:"open"`
	// Failures in a row, and how often the breaker opened since the last answer.
	Failures uint32 `json:"failures"`
	Cycles   uint32 `json:"cycles"`
}

// DomainQueues are the sizes of a domain's queues.
type DomainQueues struct {
	Seed    int64 `json:"seed"`
	Sitemap int64 `json:"sitemap"`
	Shallow int64 `json:"shallow"`
	Deep    int64 `json:"deep"`
	Retries int64 `json:"retries"`
	// Aside are those that may be other spellings of URLs that were named before.
	Aside int64 `json:"aside,omitempty"`
	// RetryAt is when the first retry is ready.
	RetryAt time.Time `json:"retry_at,omitzero"`
}

// Visit is a visit that is out.
type Visit struct {
	ID         string    `json:"id"`
	ReleasedAt time.Time `json:"released_at,omitzero"`
	LeaseAt    time.Time `json:"lease_at"`
	DelayMS    int64     `json:"delay_ms"`
	Requests   int       `json:"requests"`
	Unsettled  int       `json:"unsettled"`
	Robots     bool      `json:"robots,omitempty"`
	Probe      bool      `json:"probe,omitempty"`
	// Place of the URL that was asked about, from 1.
	Place int `json:"place,omitempty"`
}

func visitOf(v frontier.VisitOut, released time.Time) Visit {
	return Visit{
		ID: v.ID, ReleasedAt: released, LeaseAt: v.LeaseAt.UTC(), DelayMS: v.Delay.Milliseconds(),
		Requests: len(v.Requests), Unsettled: v.Unsettled(), Robots: v.Robots, Probe: v.Probe,
	}
}

// Origin is what is known of robots.txt of an origin.
type Origin struct {
	Origin   string            `json:"origin"`
	Standing frontier.Standing `json:"standing"`
	// AskedAt is when the last answer, or error, was learned.
	AskedAt time.Time `json:"asked_at,omitzero"`
	Status  uint32    `json:"status,omitempty"`
	Error   string    `json:"error,omitempty"`
	Ref     *Ref      `json:"ref,omitempty"`
	// Rules is the number of Allow and Disallow lines for our agent; they hold
	// until EndAt, when robots.txt is asked for again.
	Rules        int       `json:"rules"`
	EndAt        time.Time `json:"end_at,omitzero"`
	CrawlDelayMS int64     `json:"crawl_delay_ms,omitempty"`
	// Failures in a row to get it; it is asked for again at RetryAt, and until
	// then URLs wait or are settled with Refuse.
	Failures uint32    `json:"failures,omitempty"`
	RetryAt  time.Time `json:"retry_at,omitzero"`
	Refuse   string    `json:"refuse,omitempty"`
	// Missing: the name of its host does not exist, as was said last.
	Missing bool `json:"missing,omitempty"`
	// Failing counts its own failures in a row; nothing of it goes out before
	// WaitAt, while the rest of the domain goes on.
	Failing uint32    `json:"failing,omitempty"`
	WaitAt  time.Time `json:"wait_at,omitzero"`
}

// DomainAttempt is one request to a domain.
type DomainAttempt struct {
	URL    string `json:"url"`
	Visit  string `json:"visit"`
	Reason string `json:"reason"`
	Attempt
}

// Domain tells the story of the registrable domain that a host, an address or
// a domain belongs to.
func (a *Asker) Domain(ctx context.Context, given, host string, now time.Time, zone *time.Location) (*DomainStory, error) {
	s := &DomainStory{Given: given, Now: now.UTC(), Domain: a.suffixes.Domain(host), zone: zone}
	s.Partition = a.partition(s.Domain)
	around, err := a.look(ctx)
	if err != nil {
		return nil, err
	}
	folded, err := a.fold(ctx, s.Domain, nil)
	if err != nil {
		return nil, err
	}
	err = a.tellDomain(ctx, s, folded, around)
	if err == nil {
		s.Sites, err = a.siteRules(ctx, s.Domain)
	}
	if err = errors.Join(err, folded.close()); err != nil {
		return nil, err
	}
	s.Summary = s.sentence()
	return s, nil
}

func (a *Asker) tellDomain(ctx context.Context, s *DomainStory, f *folded, around loop) error {
	s.Attempts = f.attempts
	if f.begins > 0 {
		s.State, s.Hold = StateTrimmed, Hold{Cause: Unknown, Text: "the beginning of its ledger was trimmed"}
		s.Delay = delayOf(a.frontier, 0, nil)
		s.NextAt = moment(f.trace.nextMS)
		s.Unknown = append(s.Unknown, fmt.Sprintf(
			"scheduled/%d begins at %d: queues, robots rules and outcomes are not told any more", s.Partition, f.begins))
		return nil
	}
	h, err := a.view(ctx, s.Domain, f, around, s.Now, s.zone)
	if err != nil {
		return err
	}
	s.State, s.Hold, s.Delay = string(h.state.State), h.hold(), h.delay
	if f.trace.decidedMS == 0 {
		s.State = StateUnknown
		return nil
	}
	if h.state.NextAt.After(time.UnixMilli(0)) {
		s.NextAt = h.state.NextAt.UTC()
	}
	s.DueAt = h.state.DueAt.UTC()
	s.Breaker = DomainBreaker{Open: h.state.BreakerOpen, Failures: h.state.Failures, Cycles: h.state.BreakerCycles}
	q := h.state.Queued
	s.Queues = DomainQueues{
		Seed: int64(q[0]), Sitemap: int64(q[1]), Shallow: int64(q[2]), Deep: int64(q[3]), Retries: int64(h.state.Retries), Aside: int64(h.state.Aside),
		RetryAt: h.state.RetryAt.UTC(),
	}
	s.Pending = h.pending()
	s.AtLeastMS = h.delay.atLeast(s.Pending, a.frontier.PerDomain).Milliseconds()
	s.Outcomes = f.frontier.Outcomes()
	for _, v := range h.visits {
		s.Visits = append(s.Visits, visitOf(v, f.released[v.ID]))
	}
	for _, o := range h.origins {
		s.Origins = append(s.Origins, originOf(o, f.robots))
	}
	return nil
}

func originOf(o frontier.OriginState, r robotsHeard) Origin {
	origin := Origin{
		Origin: o.Name, Standing: o.Standing, CrawlDelayMS: o.CrawlDelay.Milliseconds(), Failures: o.Failures, Refuse: o.Refuse,
		EndAt: o.EndAt.UTC(), RetryAt: o.RetryAt.UTC(), Missing: o.Missing, Failing: o.Failing, WaitAt: o.WaitAt.UTC(),
	}
	for line := range strings.Lines(o.Rules.GetRules()) {
		if !strings.HasPrefix(line, "User-agent:") { // as in records of earlier versions
			origin.Rules++
		}
	}
	if h, ok := r.last[o.Name]; ok {
		origin.AskedAt, origin.Status, origin.Ref = h.at, h.status, &h.ref
		if h.attempt != nil {
			origin.Status, origin.Error = h.attempt.Status, h.attempt.Error
		}
	}
	return origin
}

// view puts together what tells what holds a domain back.
func (a *Asker) view(ctx context.Context, domain string, f *folded, around loop, now time.Time, zone *time.Location) (holding, error) {
	h, err := a.holding(f.frontier, domain, f.trace, around, now, zone)
	if err != nil {
		return h, err
	}
	gauges, err := a.gauges(ctx, a.partition(domain))
	h.visitsOut = gauges.GetVisits()
	return h, err
}
