package why

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/inspect/progress"
	"github.com/weftcrawl/weft/internal/robots"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/dedupe/foreign"
	"github.com/weftcrawl/weft/processors/dedupe/traps"
	"github.com/weftcrawl/weft/processors/normalize/scope"
	"github.com/weftcrawl/weft/processors/schedule/frontier"
)

// Where a URL is. The names are stable.
const (
	// StateRefused: it cannot be crawled.
	StateRefused = "refused"
	// StateUnknown: no record names it.
	StateUnknown = "unknown"
	// StateInTransit: named, and not yet deduped.
	StateInTransit = "in_transit"
	// StateDeduped: new, and not yet admitted.
	StateDeduped = "deduped"
	// StateHeldBack: in a trap, until the trap is lifted.
	StateHeldBack = "held_back"
	// StateGivenUp: it is merged into another URL of its site.
	StateGivenUp = "given_up"
	// StateWithdrawn: a variant of it was named before and is crawled instead, as long
	// as their site shows that both are one page; or it is of a trap.
	StateWithdrawn = "withdrawn"
	// StateQueued: in a queue of its domain.
	StateQueued = "queued"
	// StateRetry: among the retries of its domain.
	StateRetry = "retry"
	// StateOut: in a visit that is out.
	StateOut = "out"
	// StateSettled: its story has ended.
	StateSettled = "settled"
	// StateTrimmed: the records with the answer were trimmed.
	StateTrimmed = "trimmed"
)

// URLStory is the answer to "weft why URL".
type URLStory struct {
	Given string    `json:"given"`
	Now   time.Time `json:"now"`
	// URL is canonical, Changes are the rules by which it differs from Given. Refusal is
	// set instead if it cannot be crawled.
	URL       string   `json:"url,omitempty"`
	Changes   []string `json:"changes,omitempty"`
	Refusal   string   `json:"refusal,omitempty"`
	Domain    string   `json:"domain,omitempty"`
	Partition int32    `json:"partition"`

	State string `json:"state"`
	// Summary is a sentence.
	Summary string `json:"summary"`
	Scope   *Scope `json:"scope,omitempty"`
	// Found is the way back to the seed, beginning with the URL itself. Cut says why it
	// does not reach a seed.
	Found   []Discovery `json:"found,omitempty"`
	Cut     string      `json:"found_cut,omitempty"`
	Transit *Transit    `json:"transit,omitempty"`
	Trap    *Trap       `json:"trap,omitempty"`
	// Kept is the URL that is crawled instead, or may be.
	Kept *Kept `json:"stand_in,omitempty"`
	// Foreign: a sitemap of another host names it, which the robots.txt of its own host does not.
	Foreign bool   `json:"foreign,omitempty"`
	History []Step `json:"history,omitempty"`
	// Queue is where it waits, Visit is where it is out.
	Queue *Queue `json:"queue,omitempty"`
	Visit *Visit `json:"visit,omitempty"`
	// Robots is what robots.txt says about it now.
	Robots *Verdict `json:"robots,omitempty"`
	// WaitReason is why the domain of a pending URL waits.
	WaitReason *WaitReason `json:"hold,omitempty"`
	Pages      []Page      `json:"pages,omitempty"`
	// Unknown says what is not known any more.
	Unknown []string `json:"unknown,omitempty"`

	clock
	// twin is a URL whose variant it may be. groups are the traps of its domain that withdrew
	// something.
	twin   string
	groups map[string]*Trap
}

// Queue is the place of a URL that waits.
type Queue struct {
	// Name is seed, sitemap, shallow, deep, retries or aside; all but the last are queues
	// of an origin.
	Name   string `json:"name"`
	Origin string `json:"origin"`
	// Ahead of it in the same queue, and Pending in its whole domain.
	Ahead   int64 `json:"ahead"`
	Pending int64 `json:"pending"`
	// ReadyAt is when a retry is ready.
	ReadyAt time.Time `json:"ready_at,omitzero"`
}

// Verdict is what the rules in force of an origin say about a URL.
type Verdict struct {
	Origin   string            `json:"origin"`
	Standing frontier.Standing `json:"standing"`
	Allowed  bool              `json:"allowed"`
	// Rule is the line that decides; empty if there is none.
	Rule string `json:"rule,omitempty"`
}

// URL returns the story of a URL at the time now. Sentences have times of zone.
func (a *Asker) URL(ctx context.Context, given string, now time.Time, zone *time.Location) (*URLStory, error) {
	s := &URLStory{Given: given, Now: now.UTC(), clock: clock{now, zone}}
	var around loop
	url, refusal := a.form.Parse(given)
	if refusal != urls.Accepted {
		s.State, s.Refusal = StateRefused, string(refusal)
	} else {
		s.URL, s.Changes = url.String(), a.changes(given, url)
		s.Domain = a.suffixes.Domain(url.Hostname())
		s.Partition = a.partition(s.Domain)
		var err error
		if around, err = a.look(ctx); err != nil {
			return nil, err
		}
		if err := a.tellDiscovery(ctx, s, url, around); err != nil {
			return nil, err
		}
		if err := a.tellHistory(ctx, s, url, around); err != nil {
			return nil, err
		}
	}
	var err error
	s.Summary, err = s.sentence(around)
	return s, err
}

// IsSitemap tells whether the URL names a sitemap.
func (s *URLStory) IsSitemap() bool { return len(s.Found) > 0 && s.Found[0].Sitemap }

// IsOutOfScope tells whether it names a sitemap whose answer is never a page.
func (s *URLStory) IsOutOfScope() bool { return s.IsSitemap() && s.Found[0].OutOfScope }

// unknown adds what is not known any more.
func (s *URLStory) unknown(format string, args ...any) {
	s.Unknown = append(s.Unknown, fmt.Sprintf(format, args...))
}

// tellDiscovery adds how the URL was discovered, or what would happen to it.
func (a *Asker) tellDiscovery(ctx context.Context, s *URLStory, url urls.URL, around loop) error {
	would := candidate{asker: a, url: url, domain: s.Domain}
	own, err := a.discoveriesIn(ctx, s.Domain, would.try)
	if err != nil {
		return err
	}
	if own.begins > 0 {
		s.unknown("deduped/%d begins at %d: earlier discoveries are not known any more", s.Partition, own.begins)
	}
	print := urls.Fingerprint(s.URL)
	if _, known := own.byURL[print]; known {
		way, err := a.follow(ctx, url, map[string]*discoveries{s.Domain: own})
		if err != nil {
			return err
		}
		s.Found, s.Cut, s.Scope, s.State = way.hops, way.cut, a.scopeOf(way, url, s.Domain), StateDeduped
		s.twin, s.groups = own.twins[print], own.groups
		if s.Trap = own.held[print]; s.Trap != nil {
			s.State = StateHeldBack
		}
		if s.Kept = own.merged[print]; s.Kept != nil {
			s.State = StateGivenUp
		}
		return nil
	}
	transit, cut, err := a.transit(ctx, around, url, s.Domain)
	if err != nil {
		return err
	}
	if cut {
		s.unknown("only the first %s of what normalize and dedupe have not read were searched", progress.Bytes(searchBytes))
	}
	s.Transit = transit
	switch {
	case transit != nil:
		s.State = StateInTransit
		return nil
	case own.begins > 0:
		s.State = StateTrimmed
		return nil
	}
	s.State = StateUnknown
	verdict := would.answer()
	if verdict.In && would.tooDeep() {
		if verdict, err = a.naming(ctx, s, url, own, verdict); err != nil {
			return err
		}
	}
	if verdict.In && would.redirected != "" {
		s.unknown("where %s redirects to, after %d redirects in a row: its target is refused (%s), and not recorded",
			would.redirected, scope.MaxRedirects, scope.TooManyRedirects)
	}
	s.Scope = &verdict
	return nil
}

// scopeOf judges a URL of the crawl under the definition in force. It is nil if the page
// that named the URL is not known.
func (a *Asker) scopeOf(way chain, url urls.URL, domain string) *Scope {
	var verdict Scope
	switch {
	case len(way.hops) > 0 && way.hops[0].Source == "":
		verdict = a.judgeSeed(url)
	case way.referrer == nil:
		return nil
	default:
		from := *way.referrer
		if way.hops[0].via == weftpb.Via_VIA_SEED {
			from.Seed, from.Via = true, weftpb.Via_VIA_REDIRECT // a seed with a source is the target of a redirect
		}
		verdict = a.judge(from, url, domain)
	}
	return &verdict
}

// tellHistory adds what happened to the URL, and where it is by the frontier.
func (a *Asker) tellHistory(ctx context.Context, s *URLStory, url urls.URL, around loop) (err error) {
	h := &history{url: url, visits: map[string]uint32{}, withdrawn: map[string]bool{}}
	f, err := a.foldDomain(ctx, s.Domain, h.fold)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.remove()) }()
	if f.begins > 0 {
		s.unknown("scheduled/%d begins at %d: earlier events are not known any more", s.Partition, f.begins)
	} else if err := a.tellRobots(s, url, f.frontier); err != nil {
		return err
	}
	if s.History = h.steps; len(h.steps) == 0 {
		if f.begins > 0 && s.State == StateDeduped {
			s.State = StateTrimmed
		}
		return nil
	}
	switch last := h.steps[len(h.steps)-1]; {
	case last.Final && s.IsOutOfScope():
		s.State = StateSettled
		return nil
	case last.Final:
		s.State = StateSettled
		err := a.tellPage(ctx, s, last, around)
		if s.IsSitemap() && len(s.Pages) > 0 && s.Pages[0].Ref == nil {
			s.Pages = nil // a sitemap is not expected to make a page
		}
		return err
	case f.begins > 0:
		if s.State = stateAfter(last); s.State == StateWithdrawn {
			s.withdrawnIn(h.aside)
		}
		return nil
	}
	return a.tellPlace(ctx, s, f, around)
}

// stateAfter is where a step leads.
func stateAfter(last Step) string {
	switch last.What {
	case Admitted, Back, Recalled, Refreshed:
		return StateQueued
	case Withdrawn:
		return StateWithdrawn
	case Released:
		return StateOut
	}
	return StateRetry
}

// tellPlace adds the place of a pending URL in the frontier.
func (a *Asker) tellPlace(ctx context.Context, s *URLStory, f *folded, around loop) error {
	view, err := a.view(ctx, s.Domain, f, around, s.clock)
	if err != nil {
		return err
	}
	waitReason := view.reasonOf(urls.HostOf(s.URL))
	s.WaitReason = &waitReason
	for _, v := range view.visits {
		for i, q := range v.Requests {
			if v.Open[i] && !v.Robots && !v.Check && q.GetTarget().GetUrl() == s.URL {
				visit := f.visit(v)
				visit.Place = i + 1
				s.State, s.Visit = StateOut, &visit
				return nil
			}
		}
	}
	err = f.frontier.Queued(s.Domain, func(place frontier.Place, q *weftpb.Request) bool {
		if q.GetTarget().GetUrl() != s.URL {
			return true
		}
		s.State = StateQueued
		s.Queue = &Queue{Name: queueNames[place.Priority], Origin: place.Origin, Ahead: int64(place.Ahead), Pending: view.pending()}
		switch {
		case place.Again:
			s.State, s.Queue.Name, s.Queue.ReadyAt = StateRetry, "retries", place.ReadyAt.UTC()
		case traps.IsGroup(place.Group), foreign.IsGroup(place.Group):
			s.Queue.Name = "aside"
		case place.Group != "":
			s.Queue.Name, s.Kept = "aside", keptOf(s.twin, place.Group)
		}
		return false
	})
	if err != nil || s.Queue != nil {
		return err
	}
	return f.frontier.Withdrawn(s.Domain, func(place frontier.Place, q *weftpb.Request) bool {
		if q.GetTarget().GetUrl() != s.URL {
			return true
		}
		s.State, s.WaitReason = StateWithdrawn, nil
		s.withdrawnIn(place.Group)
		return false
	})
}

// withdrawnIn adds why the URLs of a group are withdrawn.
func (s *URLStory) withdrawnIn(group string) {
	if foreign.IsGroup(group) {
		s.Foreign = true
	} else if traps.IsGroup(group) {
		s.Trap = s.groups[group]
	} else {
		s.Kept = keptOf(s.twin, group)
	}
}

// keptOf is the URL for which another one waits aside, by the group in which it waits.
func keptOf(twin, group string) *Kept {
	return &Kept{URL: twin, Rules: []string{group[strings.LastIndexByte(group, ' ')+1:]}}
}

// queueNames are the names of the priorities.
var queueNames = [...]string{"seed", "sitemap", "shallow", "deep"}

// tellRobots adds what the rules in force say.
func (a *Asker) tellRobots(s *URLStory, url urls.URL, f *frontier.Frontier) error {
	origins, err := f.Origins(s.Domain, s.Now)
	for _, o := range origins {
		if o.Name != url.Origin() {
			continue
		}
		s.Robots = &Verdict{Origin: o.Name, Standing: o.Standing, Allowed: o.Standing == frontier.InForce}
		if s.Robots.Allowed && o.Rules != nil {
			s.Robots.Rule, s.Robots.Allowed = robots.Compile(o.Rules).Rule(url.PathAndQuery())
		}
	}
	return err
}
