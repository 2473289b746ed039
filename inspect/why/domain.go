package why

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/inspect/scratch"
	"github.com/weftcrawl/weft/internal/robots"
	"github.com/weftcrawl/weft/processors/dedupe/variants"
	"github.com/weftcrawl/weft/processors/schedule/frontier"
)

// DomainStory is the answer to "weft why DOMAIN".
type DomainStory struct {
	Given     string    `json:"given"`
	Now       time.Time `json:"now"`
	Domain    string    `json:"domain"`
	Partition int32     `json:"partition"`
	// State is unknown, empty, out, due, or trimmed.
	State string `json:"state"`
	// Summary is a sentence, WaitReason is the fact behind it.
	Summary    string     `json:"summary"`
	WaitReason WaitReason `json:"hold"`

	Delay Delay `json:"delay"`
	// Setting is what people ask for the domain. BlockedUntil is the end of an automatic
	// block.
	Setting      *Setting  `json:"setting,omitempty"`
	BlockedUntil time.Time `json:"blocked_until,omitzero"`
	Profile      Profile   `json:"profile"`
	Today        Today     `json:"today"`
	// NextAt is the earliest time of the next release. DueAt is when the scheduler looks
	// at the domain again.
	NextAt  time.Time    `json:"next_at,omitzero"`
	DueAt   time.Time    `json:"due_at,omitzero"`
	Pending int64        `json:"pending"`
	Queues  DomainQueues `json:"queues"`
	Visits  []Visit      `json:"visits,omitempty"`
	// Hosts are the hosts with anything to say about them: see Host.
	Hosts   []Host   `json:"hosts,omitempty"`
	Origins []Origin `json:"origins,omitempty"`
	// AtLeastMS is the minimum time for the pending URLs.
	AtLeastMS int64 `json:"at_least_ms,omitempty"`
	// Outcomes counts settled URLs by reason.
	Outcomes map[string]int64 `json:"outcomes,omitempty"`
	Attempts []DomainAttempt  `json:"attempts,omitempty"`
	// Sites are the sites with known rules about variants.
	Sites   []SiteRules `json:"sites,omitempty"`
	Unknown []string    `json:"unknown,omitempty"`

	clock
}

// Host is a host that failed, asked for fewer requests, or does not exist.
type Host struct {
	Host string `json:"host"`
	// URLs is the number of URLs that wait for the host.
	URLs int64 `json:"urls"`
	// Failures is the number of failures in a row, the first of them at SinceAt. Down: the
	// host gets only probes. It gets no request before WaitAt. Refuse is the reason with
	// which its URLs are settled until then.
	Failures uint32    `json:"failures,omitempty"`
	Down     bool      `json:"down,omitempty"`
	SinceAt  time.Time `json:"since_at,omitzero"`
	WaitAt   time.Time `json:"wait_at,omitzero"`
	Refuse   string    `json:"refuse,omitempty"`
	// Missing: its name did not exist at the last look-up.
	Missing bool `json:"missing,omitempty"`
	// Throttled is how often in a row the host asked for fewer requests.
	Throttled uint32 `json:"throttled,omitempty"`
	// LearntMS is the delay between requests to the host that the crawl learnt from that.
	LearntMS int64 `json:"learnt_ms,omitempty"`
}

// DomainQueues are the sizes of a domain's queues.
type DomainQueues struct {
	Seed    int64 `json:"seed"`
	Sitemap int64 `json:"sitemap"`
	Shallow int64 `json:"shallow"`
	Deep    int64 `json:"deep"`
	Retries int64 `json:"retries"`
	// Aside are URLs that may be variants of known ones.
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
	Check      bool      `json:"check,omitempty"`
	// Hangs: the domain does not wait for its request.
	Hangs bool `json:"hangs,omitempty"`
	// Place of the URL of the question, from 1.
	Place int `json:"place,omitempty"`
}

func (f *folded) visit(v frontier.VisitOut) Visit {
	return Visit{
		ID: v.ID, ReleasedAt: f.released[v.ID].at, LeaseAt: v.LeaseAt.UTC(), DelayMS: v.Delay.Milliseconds(),
		Requests: len(v.Requests), Unsettled: v.Unsettled(), Robots: v.Robots, Probe: v.Probe, Check: v.Check, Hangs: v.Hangs,
	}
}

// Origin is what is known about the robots.txt of an origin.
type Origin struct {
	Origin   string            `json:"origin"`
	Standing frontier.Standing `json:"standing"`
	// AskedAt is the time of the last answer or error.
	AskedAt time.Time `json:"asked_at,omitzero"`
	Status  uint32    `json:"status,omitempty"`
	Error   string    `json:"error,omitempty"`
	Ref     *Ref      `json:"ref,omitempty"`
	// Rules is the number of Allow and Disallow lines for our agent. They hold until
	// EndAt, when robots.txt is fetched again.
	Rules int `json:"rules"`
	// Unheld tells that the file has more rules than are kept, or is not UTF-8, which
	// forbids everything.
	Unheld       bool      `json:"unheld,omitempty"`
	EndAt        time.Time `json:"end_at,omitzero"`
	CrawlDelayMS int64     `json:"crawl_delay_ms,omitempty"`
	// Failures in a row to fetch it. It is fetched again at RetryAt; until then URLs wait
	// or are settled with Refuse.
	Failures uint32    `json:"failures,omitempty"`
	RetryAt  time.Time `json:"retry_at,omitzero"`
	Refuse   string    `json:"refuse,omitempty"`
	// Failing is how often in a row no connection could be made to the origin. Its URLs are
	// not released before WaitAt, while the rest of the domain goes on.
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

// Domain returns the story of the registrable domain of a host, an address or a domain.
func (a *Asker) Domain(ctx context.Context, given, host string, now time.Time, zone *time.Location) (*DomainStory, error) {
	s := &DomainStory{Given: given, Now: now.UTC(), Domain: a.suffixes.Domain(host), clock: clock{now, zone}}
	s.Partition = a.partition(s.Domain)
	around, err := a.look(ctx)
	if err != nil {
		return nil, err
	}
	f, err := a.foldDomain(ctx, s.Domain, func(*weftpb.Scheduled, Ref) {})
	if err != nil {
		return nil, err
	}
	err = a.tellDomain(ctx, s, f, around)
	if err == nil {
		s.Sites, err = a.siteRules(ctx, s.Domain)
	}
	if err = errors.Join(err, f.remove()); err != nil {
		return nil, err
	}
	s.Summary, err = say(domainText(), s.State, s)
	return s, err
}

func (a *Asker) tellDomain(ctx context.Context, s *DomainStory, f *folded, around loop) error {
	s.Attempts, s.Profile = f.attempts, f.profile
	if f.begins > 0 {
		s.State, s.WaitReason = StateTrimmed, WaitReason{Cause: Unknown, Text: "the beginning of its ledger was trimmed"}
		s.Delay = delayOf(a.frontier, nil, 0, nil)
		s.NextAt = moment(f.trace.nextMS)
		s.Unknown = append(s.Unknown, fmt.Sprintf(
			"scheduled/%d begins at %d: queues, robots rules and outcomes are not known any more", s.Partition, f.begins))
		return nil
	}
	h, err := a.view(ctx, s.Domain, f, around, s.clock)
	if err != nil {
		return err
	}
	s.State, s.WaitReason, s.Delay = string(h.state.State), h.waitReason(), h.delay
	s.Setting, s.BlockedUntil, s.Today = settingOf(h.state.Setting), h.state.BlockedUntil.UTC(), h.today
	if f.trace.decidedMS == 0 {
		s.State = StateUnknown
		return nil
	}
	if h.state.NextAt.After(time.UnixMilli(0)) {
		s.NextAt = h.state.NextAt.UTC()
	}
	s.DueAt = h.state.DueAt.UTC()
	for _, host := range h.hosts {
		if told := (Host{
			Host: host.Host, URLs: int64(host.URLs), Failures: host.Failures, Down: host.Down, SinceAt: host.Since.UTC(),
			WaitAt: host.WaitAt.UTC(), Refuse: host.Refuse, Missing: host.Missing, Throttled: host.Throttled,
			LearntMS: host.Learnt.Milliseconds(),
		}); host.Failures > 0 || host.Missing || host.Learnt > 0 {
			s.Hosts = append(s.Hosts, told)
		}
	}
	q := h.state.Queued
	s.Queues = DomainQueues{
		Seed: int64(q[0]), Sitemap: int64(q[1]), Shallow: int64(q[2]), Deep: int64(q[3]),
		Retries: int64(h.state.Retries), Aside: int64(h.state.Grouped), RetryAt: h.state.RetryAt.UTC(),
	}
	s.Pending = h.pending()
	s.AtLeastMS = h.delay.atLeast(s.Pending, a.frontier.PerDomain).Milliseconds()
	s.Outcomes = f.frontier.Outcomes()
	for _, v := range h.visits {
		s.Visits = append(s.Visits, f.visit(v))
	}
	for _, o := range h.origins {
		s.Origins = append(s.Origins, f.origin(o))
	}
	return nil
}

// origin completes the last answer by the frontier's state.
func (f *folded) origin(o frontier.OriginState) Origin {
	origin := f.origins[o.Name]
	origin.Origin, origin.Standing, origin.CrawlDelayMS, origin.EndAt = o.Name, o.Standing, o.CrawlDelay.Milliseconds(), o.EndAt.UTC()
	origin.Failures, origin.RetryAt, origin.Refuse = o.Failures, o.RetryAt.UTC(), o.Refuse
	origin.Failing, origin.WaitAt = o.Failing, o.WaitAt.UTC()
	if origin.Unheld = robots.Unheld(o.Rules); origin.Unheld {
		return origin
	}
	for line := range strings.Lines(o.Rules.GetRules()) {
		if !strings.HasPrefix(line, "User-agent:") { // as in records of earlier versions
			origin.Rules++
		}
	}
	return origin
}

// view reads all that decides why a domain waits.
func (a *Asker) view(ctx context.Context, domain string, f *folded, around loop, c clock) (domainView, error) {
	h, err := a.domainView(f.frontier, domain, f.trace, around, c)
	if err != nil {
		return h, err
	}
	gauges, err := a.gauges(ctx, a.partition(domain))
	h.visitsOut = gauges.GetVisits()
	return h, err
}

// SiteRules are the rules by which URLs of one site are variants of each other.
type SiteRules struct {
	Site  string     `json:"site"`
	Rules []SiteRule `json:"rules,omitempty"`
	// Merged counts URLs that are merged into variants and not crawled.
	Merged int `json:"merged"`
}

// SiteRule is what is known of one rule. State is learning, in_force, silent or broken. A
// silent rule would be in force if a page to which it leads had been read.
type SiteRule struct {
	Rule  string `json:"rule"`
	State string `json:"state"`
	// Points for it, of Needed, from that number of different Paths.
	Points int `json:"points"`
	Needed int `json:"needed"`
	Paths  int `json:"paths"`
}

// siteRules folds the rules that dedupe has learned of a domain's sites.
func (a *Asker) siteRules(ctx context.Context, domain string) (all []SiteRules, err error) {
	store, err := scratch.Open("weft-why", scratchMemory)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	book := variants.Open(store)
	if err := a.deduped(ctx, domain, func(ev *weftpb.Deduped, _ *kgo.Record) { book.Apply(domain, ev) }); err != nil {
		return nil, err
	}
	for _, account := range book.Accounts() {
		site := SiteRules{Site: account.Site, Merged: account.Merged}
		for _, r := range account.Rules {
			state := "learning"
			switch {
			case r.Broken:
				state = "broken"
			case r.InForce && r.Silent:
				state = "silent"
			case r.InForce:
				state = "in_force"
			}
			site.Rules = append(site.Rules, SiteRule{r.Rule, state, r.Points, variants.Enough, r.Paths})
		}
		all = append(all, site)
	}
	return all, nil
}
