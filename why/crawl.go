package why

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/replay"
	"github.com/weftcrawl/weft/topics"
)

// CrawlStory is the answer to "weft why".
type CrawlStory struct {
	Crawl      string    `json:"crawl"`
	Now        time.Time `json:"now"`
	Partitions int32     `json:"partitions"`
	// State is running, failing (a stage ends again and again), stopped (a stage
	// of the loop is run by nobody), drained, or trimmed.
	State string `json:"state"`
	// Findings say why the crawl is as fast as it is, the most important first.
	Findings []Finding `json:"findings"`
	Pending  int64     `json:"pending"`
	// Domains with anything pending.
	Domains int64 `json:"domains"`
	// Waits counts them by what holds them back, most URLs first.
	Waits []Wait `json:"waits,omitempty"`
	// Slowest are the domains that take longest.
	Slowest []SlowDomain `json:"slowest,omitempty"`
	// AtLeastMS is the time that the slowest domain takes at least, and so the
	// crawl.
	AtLeastMS int64   `json:"at_least_ms,omitempty"`
	Recent    Recent  `json:"recent"`
	Stages    []Stage `json:"stages"`
	// FreeBytes of disk, -1 if unknown.
	FreeBytes int64    `json:"free_bytes"`
	Unknown   []string `json:"unknown,omitempty"`

	perDomain int
	zone      *time.Location
}

// Wait is the domains that are held back by one cause.
type Wait struct {
	Cause   Cause `json:"cause"`
	Domains int64 `json:"domains"`
	URLs    int64 `json:"urls"`
}

// SlowDomain is one of the slowest domains.
type SlowDomain struct {
	Domain    string `json:"domain"`
	Pending   int64  `json:"pending"`
	DelayMS   int64  `json:"delay_ms"`
	DelayBy   string `json:"delay_cause"`
	AtLeastMS int64  `json:"at_least_ms"`
	Hold      Hold   `json:"hold"`
}

// Recent is what was requested in the last minute before Now, or since the
// first request of a younger crawl, by the ledger.
type Recent struct {
	SpanMS   int64 `json:"span_ms"`
	Requests int64 `json:"requests"`
	Failed   int64 `json:"failed"`
	// PossiblePerSecond is what the delays of the pending domains, and the times
	// of their last answers, would allow.
	PossiblePerSecond float64 `json:"possible_per_second,omitempty"`
	// OpenRequests is how many were open at a time, on average: their number
	// and their time.
	OpenRequests float64 `json:"open_requests"`
	// BodyBytes is the mean size of a body.
	BodyBytes int64 `json:"body_bytes"`
	// FirstAt and LastAt are when the first and the last request of the crawl
	// were made.
	FirstAt time.Time `json:"first_at,omitzero"`
	LastAt  time.Time `json:"last_at,omitzero"`
}

// PerSecond is the rate of requests.
func (r Recent) PerSecond() float64 {
	return float64(r.Requests) / max(ms(r.SpanMS), time.Second).Seconds()
}

// recently is the time that Recent is about at most.
const recently = time.Minute

// Stage is a stage of the loop.
type Stage struct {
	Stage topics.Stage `json:"stage"`
	// Members of its group, which are processes that run it.
	Members int `json:"members"`
	// Behind is the records that it has not consumed.
	Behind int64 `json:"behind"`
}

// States of a crawl.
const (
	StateRunning = "running"
	StateFailing = "failing"
	StateStopped = "stopped"
	StateDrained = "drained"
)

// slowestDomains is how many domains are named.
const slowestDomains = 5

// Crawl tells why the crawl is as slow as it is.
func (a *Asker) Crawl(ctx context.Context, now time.Time, zone *time.Location) (*CrawlStory, error) {
	around, err := a.look(ctx)
	if err != nil {
		return nil, err
	}
	s := &CrawlStory{
		Crawl: a.names.Crawl, Now: now.UTC(), Partitions: a.definition.Partitions, State: StateRunning,
		FreeBytes: around.freeBytes, perDomain: a.frontier.PerDomain, zone: zone,
	}
	for _, stage := range topics.Stages() {
		s.Stages = append(s.Stages, Stage{stage, around.members[stage], around.status.Behind(stage)})
		if _, fails := around.failing(stage); fails {
			s.State = StateFailing
		} else if around.members[stage] == 0 && s.State != StateFailing {
			s.State = StateStopped
		}
	}
	if around.status.Drained() {
		s.State = StateDrained
	}
	t := tally{story: s, waits: map[Cause]*Wait{}}
	for _, partition := range a.all() {
		if err := a.tallyPartition(ctx, partition, around, &t); err != nil {
			return nil, err
		}
	}
	t.finish()
	if s.Unknown != nil {
		s.Pending, s.Domains = around.status.Gauges.GetPending(), around.status.Gauges.GetDomains()
	}
	s.Findings = findings(s, around)
	return s, nil
}

// tally adds up what the domains of all partitions wait for.
type tally struct {
	story    *CrawlStory
	waits    map[Cause]*Wait
	openMS   int64 // time of recent requests, within the last minute
	bytes    int64
	possible float64
}

// tallyPartition folds a partition of scheduled and counts its domains.
func (a *Asker) tallyPartition(ctx context.Context, partition int32, around loop, t *tally) error {
	begins, err := a.start(ctx, a.names.Scheduled, partition)
	if err != nil {
		return err
	}
	if begins > 0 {
		t.story.Unknown = append(t.story.Unknown, fmt.Sprintf(
			"scheduled/%d begins at %d: its domains are not told any more", partition, begins))
		return nil
	}
	store, err := openScratch()
	if err != nil {
		return err
	}
	opts := a.frontier
	opts.Partition = partition
	f, traces := frontier.New(opts, store), map[string]*trace{}
	part := replay.Part{Partitions: []int32{partition}, Damaged: a.opts.Damaged}
	err = a.logs.ScheduledPart(ctx, a.names.Scheduled, part, func(e replay.Event[*weftpb.Scheduled]) error {
		if err := f.Apply(e.Domain, e.Body, e.Record.Offset); err != nil {
			return fmt.Errorf("fold %s: %w", a.names.Scheduled, err)
		}
		if e.Domain == "" {
			return nil
		}
		tr := traces[e.Domain]
		if tr == nil {
			tr = &trace{}
			traces[e.Domain] = tr
		}
		tr.fold(e.Body)
		t.recent(e.Body)
		return nil
	})
	if err == nil {
		err = a.tallyDomains(f, traces, around, t)
	}
	return errors.Join(err, store.close())
}

// tallyDomains counts the domains of a folded partition.
func (a *Asker) tallyDomains(f *frontier.Frontier, traces map[string]*trace, around loop, t *tally) error {
	gauges, err := f.Gauges()
	if err != nil {
		return err
	}
	f.Domains(func(name string) bool {
		var state frontier.DomainState
		if state, err = f.DomainState(name); err != nil || state.State == frontier.Empty {
			return err == nil
		}
		var h holding
		if h, err = a.holding(f, name, *traces[name], around, t.story.Now, t.story.zone); err != nil {
			return false
		}
		h.visitsOut = gauges.GetVisits()
		t.add(name, h)
		return true
	})
	return err
}

// add counts one domain with something pending.
func (t *tally) add(name string, h holding) {
	s, hold, pending := t.story, h.hold(), h.pending()
	s.Domains++
	s.Pending += pending
	w := t.waits[hold.Cause]
	if w == nil {
		w = &Wait{Cause: hold.Cause}
		t.waits[hold.Cause] = w
	}
	w.Domains++
	w.URLs += pending
	if pace := max(h.delay.duration()+h.state.Response, time.Millisecond); hold.Cause != Breaker && hold.Cause != Robots {
		t.possible += float64(s.perDomain) / pace.Seconds()
	}
	s.Slowest = append(s.Slowest, SlowDomain{
		Domain: name, Pending: pending, DelayMS: h.delay.MS, DelayBy: h.delay.Cause,
		AtLeastMS: h.delay.atLeast(pending, s.perDomain).Milliseconds(), Hold: hold,
	})
	if len(s.Slowest) > 64*slowestDomains {
		s.keepSlowest()
	}
}

// recent counts the requests of an event that fall into the last minute.
func (t *tally) recent(ev *weftpb.Scheduled) {
	r, since := &t.story.Recent, t.story.Now.Add(-recently)
	for _, settled := range ev.Settled {
		a := attemptOf(settled.Attempt)
		if a == nil {
			continue
		}
		if a.At.After(r.LastAt) {
			r.LastAt = a.At
		}
		if r.FirstAt.IsZero() || a.At.Before(r.FirstAt) {
			r.FirstAt = a.At
		}
		if !a.At.After(since) {
			continue
		}
		r.Requests++
		if settled.RetryMs > 0 || a.Error != "" {
			r.Failed++
		}
		t.openMS += a.TookMS
		t.bytes += a.BodyBytes
	}
}

// finish brings the counts into their order.
func (t *tally) finish() {
	s := t.story
	for _, w := range t.waits {
		s.Waits = append(s.Waits, *w)
	}
	slices.SortFunc(s.Waits, func(a, b Wait) int {
		return compare(b.URLs, a.URLs, string(a.Cause), string(b.Cause))
	})
	s.keepSlowest()
	if len(s.Slowest) > 0 {
		s.AtLeastMS = s.Slowest[0].AtLeastMS
	}
	s.Recent.SpanMS = min(recently, s.Now.Sub(s.Recent.FirstAt)).Milliseconds()
	s.Recent.OpenRequests = float64(t.openMS) / float64(max(s.Recent.SpanMS, 1))
	if s.Recent.Requests > 0 {
		s.Recent.BodyBytes = t.bytes / s.Recent.Requests
	}
	if s.State == StateRunning {
		s.Recent.PossiblePerSecond = t.possible
	}
	if s.Unknown != nil && s.State != StateDrained {
		s.State = StateTrimmed
	}
}

func (s *CrawlStory) keepSlowest() {
	slices.SortFunc(s.Slowest, func(a, b SlowDomain) int {
		if a.AtLeastMS == b.AtLeastMS {
			return compare(b.Pending, a.Pending, a.Domain, b.Domain)
		}
		return compare(b.AtLeastMS, a.AtLeastMS, "", "")
	})
	s.Slowest = slices.Clip(s.Slowest[:min(len(s.Slowest), slowestDomains)])
}
