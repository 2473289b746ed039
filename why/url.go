package why

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/scope"
	"github.com/weftcrawl/weft/traps"
	"github.com/weftcrawl/weft/urls"
)

// Where a URL is. The names are stable.
const (
	// StateRefused: it is no URL for a crawl.
	StateRefused = "refused"
	// StateUnknown: nobody has named it in a record that is left.
	StateUnknown = "unknown"
	// StateInTransit: named, and not yet deduped.
	StateInTransit = "in_transit"
	// StateDeduped: new, and not yet admitted.
	StateDeduped = "deduped"
	// StateHeldBack: in a trap, until somebody lifts it.
	StateHeldBack = "held_back"
	// StateGivenUp: another URL of its site stands for it.
	StateGivenUp = "given_up"
	// StateWithdrawn: another spelling of it was named before and is crawled instead,
	// as long as its site says that both are one page; or it is of a trap.
	StateWithdrawn = "withdrawn"
	// StateQueued: in a queue of its domain.
	StateQueued = "queued"
	// StateRetry: among the retries of its domain.
	StateRetry = "retry"
	// StateOut: in a visit that is out.
	StateOut = "out"
	// StateSettled: nothing more happens to it.
	StateSettled = "settled"
	// StateTrimmed: what would tell was trimmed.
	StateTrimmed = "trimmed"
)

// URLStory is the answer to "weft why URL".
type URLStory struct {
	Given string    `json:"given"`
	Now   time.Time `json:"now"`
	// URL is canonical, Changes the rules by which it differs from Given;
	// Refusal is set instead for what is no URL for a crawl.
	URL       string   `json:"url,omitempty"`
	Changes   []string `json:"changes,omitempty"`
	Refusal   string   `json:"refusal,omitempty"`
	Domain    string   `json:"domain,omitempty"`
	Partition int32    `json:"partition"`

	State string `json:"state"`
	// Summary is a sentence for people.
	Summary string `json:"summary"`
	Scope   *Scope `json:"scope,omitempty"`
	// Found is the way back to the seed, beginning with the URL itself; Cut
	// says why it does not reach one.
	Found   []Find   `json:"found,omitempty"`
	Cut     string   `json:"found_cut,omitempty"`
	Transit *Transit `json:"transit,omitempty"`
	Trap    *Trap    `json:"trap,omitempty"`
	// StandIn is the URL that is crawled instead, or may be.
	StandIn *StandIn `json:"stand_in,omitempty"`
	History []Step   `json:"history,omitempty"`
	// Queue is where it waits, Visit where it is out.
	Queue *Queue `json:"queue,omitempty"`
	Visit *Visit `json:"visit,omitempty"`
	// Robots is what robots.txt says of it now.
	Robots *Verdict `json:"robots,omitempty"`
	// Hold is what holds back the domain of a URL that is pending.
	Hold  *Hold  `json:"hold,omitempty"`
	Pages []Page `json:"pages,omitempty"`
	// Unknown says what cannot be told any more.
	Unknown []string `json:"unknown,omitempty"`

	zone *time.Location
	// twin is the URL that it may be another spelling of, groups are the traps of its
	// domain that withdrew something.
	twin   string
	groups map[string]*Trap
}

// Queue is the place of a URL that waits.
type Queue struct {
	// Name is seed, sitemap, shallow, deep, retries or aside.
	Name string `json:"name"`
	// Ahead of it in the same queue, and Pending in its whole domain.
	Ahead   int64 `json:"ahead"`
	Pending int64 `json:"pending"`
	// ReadyAt is when a retry is ready.
	ReadyAt time.Time `json:"ready_at,omitzero"`
}

// Verdict is what the rules in force of an origin say of a URL.
type Verdict struct {
	Origin   string            `json:"origin"`
	Standing frontier.Standing `json:"standing"`
	Allowed  bool              `json:"allowed"`
	// Rule is the line that decides; empty when none does.
	Rule string `json:"rule,omitempty"`
	// Missing: the name of the origin's host does not exist, as was said last.
	Missing bool `json:"missing,omitempty"`
}

// URL tells the story of a URL as it is at now; times in sentences are those of
// zone.
func (a *Asker) URL(ctx context.Context, given string, now time.Time, zone *time.Location) (*URLStory, error) {
	s := &URLStory{Given: given, Now: now.UTC(), zone: zone}
	url, refusal := a.form.Parse(given)
	if refusal != urls.Accepted {
		s.State, s.Refusal = StateRefused, string(refusal)
		s.Summary = s.sentence(nil)
		return s, nil
	}
	s.URL, s.Changes = url.String(), a.changes(given, url)
	s.Domain = a.suffixes.Domain(url.Hostname())
	s.Partition = a.partition(s.Domain)
	around, err := a.look(ctx)
	if err != nil {
		return nil, err
	}
	if err := a.tellFound(ctx, s, url, around); err != nil {
		return nil, err
	}
	history := newHistory(url)
	folded, err := a.fold(ctx, s.Domain, history.fold)
	if err != nil {
		return nil, err
	}
	err = a.tellState(ctx, s, url, history, folded, around)
	if err = errors.Join(err, folded.close()); err != nil {
		return nil, err
	}
	s.Summary = s.sentence(&around)
	return s, nil
}

// tellFound tells who found the URL, or what would become of it.
func (a *Asker) tellFound(ctx context.Context, s *URLStory, url urls.URL, around loop) error {
	would := candidate{asker: a, url: url, domain: s.Domain}
	own, err := a.findsIn(ctx, s.Domain, would.try)
	if err != nil {
		return err
	}
	if own.begins > 0 {
		s.Unknown = append(s.Unknown, fmt.Sprintf("deduped/%d begins at %d: what was found before is not told any more", s.Partition, own.begins))
	}
	if _, _, known := own.get(s.URL, s.Partition); known {
		way, err := a.follow(ctx, url, map[string]*finds{s.Domain: own})
		if err != nil {
			return err
		}
		s.Found, s.Cut, s.State = way.hops, way.cut, StateDeduped
		s.Scope = a.scopeOf(way, url, s.Domain)
		if s.Trap = own.held[urls.Fingerprint(s.URL)]; s.Trap != nil {
			s.State = StateHeldBack
		}
		s.twin, s.groups = own.twins[urls.Fingerprint(s.URL)], own.groups
		if s.StandIn = own.stoodFor[urls.Fingerprint(s.URL)]; s.StandIn != nil {
			s.State = StateGivenUp
		}
		return nil
	}
	transit, cut, err := a.transit(ctx, around, url, s.Domain)
	if err != nil {
		return err
	}
	if cut {
		s.Unknown = append(s.Unknown, fmt.Sprintf("only the first %s of what normalize and dedupe have not read were searched", bytesText(searchBytes)))
	}
	s.State = StateUnknown
	if s.Transit = transit; transit != nil {
		s.State = StateInTransit
		return nil
	}
	if own.begins > 0 {
		s.State = StateTrimmed
		return nil
	}
	verdict := would.answer()
	if verdict.In && would.tooDeep() {
		if verdict, err = a.naming(ctx, s, url, own, verdict); err != nil {
			return err
		}
	}
	if verdict.In && would.redirected != "" {
		s.Unknown = append(s.Unknown, fmt.Sprintf("where %s redirects to, to which %d redirects in a row lead: it is refused (%s), and written nowhere",
			would.redirected, scope.MaxRedirects, scope.TooManyRedirects))
	}
	s.Scope = &verdict
	return nil
}

// scopeOf judges a URL of the crawl under the definition in force. It is nil
// when the page that named it is not known.
func (a *Asker) scopeOf(way chain, url urls.URL, domain string) *Scope {
	var verdict Scope
	switch {
	case len(way.hops) > 0 && way.hops[0].Source == "":
		verdict = judgeSeed(a.definition, a.policy, url)
	case way.referrer == nil:
		return nil
	default:
		from := *way.referrer
		if way.hops[0].Via == vias[weftpb.Via_VIA_SEED] {
			from.Seed, from.Via = true, weftpb.Via_VIA_REDIRECT // a seed that has a source was redirected to
		}
		verdict = judge(a.definition, a.policy, from, url, domain)
	}
	return &verdict
}

// tellState tells where the URL is, from its history and the frontier.
func (a *Asker) tellState(ctx context.Context, s *URLStory, url urls.URL, h *history, f *folded, around loop) error {
	s.History = h.steps
	if f.begins > 0 {
		s.Unknown = append(s.Unknown, fmt.Sprintf("scheduled/%d begins at %d: what happened before is not told any more", s.Partition, f.begins))
	}
	if err := a.tellRobots(s, url, f); err != nil {
		return err
	}
	last, any := h.last()
	switch {
	case !any && f.begins > 0 && s.State == StateDeduped:
		s.State = StateTrimmed
	case !any:
	case last.Final:
		s.State = StateSettled
		return a.tellPages(ctx, s, around)
	case f.frontier == nil:
		if s.State = stateAfter(last); s.State == StateWithdrawn {
			s.withdrawnIn(h.aside)
		}
	default:
		return a.tellPlace(ctx, s, f, around)
	}
	return nil
}

// stateAfter is where a step leads.
func stateAfter(last Step) string {
	switch last.What {
	case Admitted, Back, Recalled:
		return StateQueued
	case Withdrawn:
		return StateWithdrawn
	case Released:
		return StateOut
	}
	return StateRetry
}

// tellPlace finds a pending URL in the frontier.
func (a *Asker) tellPlace(ctx context.Context, s *URLStory, f *folded, around loop) error {
	view, err := a.view(ctx, s.Domain, f, around, s.Now, s.zone)
	if err != nil {
		return err
	}
	hold := view.hold()
	s.Hold = &hold
	for _, v := range view.visits {
		for i, q := range v.Requests {
			if v.Open[i] && !v.Robots && q.GetTarget().GetUrl() == s.URL {
				visit := visitOf(v, f.released[v.ID])
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
		s.Queue = &Queue{Name: queueNames[place.Priority], Ahead: int64(place.Ahead), Pending: view.pending()}
		if place.Again {
			s.State = StateRetry
			s.Queue.Name, s.Queue.ReadyAt = "retries", place.ReadyAt.UTC()
		}
		switch {
		case traps.IsGroup(place.Group):
			s.Queue.Name = "aside"
		case place.Group != "":
			s.Queue.Name, s.StandIn = "aside", standInOf(s.twin, place.Group)
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
		s.State, s.Hold = StateWithdrawn, nil
		s.withdrawnIn(place.Group)
		return false
	})
}

// withdrawnIn tells why the URLs of a group are withdrawn.
func (s *URLStory) withdrawnIn(group string) {
	if traps.IsGroup(group) {
		s.Trap = s.groups[group]
	} else {
		s.StandIn = standInOf(s.twin, group)
	}
}

// standInOf is what a URL waits aside for, by the group that it waits in.
func standInOf(twin, group string) *StandIn {
	return &StandIn{URL: twin, Rules: []string{group[strings.LastIndexByte(group, ' ')+1:]}}
}

// queueNames are the reasons of the priorities.
var queueNames = [...]string{"seed", "sitemap", "shallow", "deep"}

// tellRobots tells what the rules in force say.
func (a *Asker) tellRobots(s *URLStory, url urls.URL, f *folded) error {
	if f.frontier == nil {
		return nil
	}
	origins, err := f.frontier.Origins(s.Domain, s.Now)
	if err != nil {
		return err
	}
	for _, o := range origins {
		if o.Name != url.Origin() {
			continue
		}
		v := Verdict{Origin: o.Name, Standing: o.Standing, Missing: o.Missing}
		if o.Standing == frontier.InForce {
			v.Allowed = true
			if o.Rules != nil {
				v.Rule, v.Allowed = robots.Compile(o.Rules).Rule(url.PathAndQuery())
			}
		}
		s.Robots = &v
	}
	return nil
}

// tellPages looks for the page of the last request.
func (a *Asker) tellPages(ctx context.Context, s *URLStory, around loop) error {
	last := s.History[len(s.History)-1]
	if last.Reason != frontier.ReasonFetched || last.Attempt == nil || last.Attempt.Status < 200 || last.Attempt.Status > 299 {
		return nil
	}
	page, err := a.page(ctx, around, s.URL, s.Domain, *last.Attempt)
	if err != nil {
		return err
	}
	s.Pages = []Page{page}
	return nil
}
