package why

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/processors/schedule/frontier"
	"github.com/weftcrawl/weft/topics"
)

// CrawlStory is the answer to "weft why".
type CrawlStory struct {
	Crawl      string    `json:"crawl"`
	Now        time.Time `json:"now"`
	Partitions int32     `json:"partitions"`
	// State is running, failing (a stage ends again and again), stopped (no process runs
	// a stage of the loop), drained, or trimmed.
	State string `json:"state"`
	// Diagnoses say why the crawl is as fast as it is, the most important first.
	Diagnoses []Diagnosis `json:"findings"`
	Pending   int64       `json:"pending"`
	// Domains with anything pending.
	Domains int64 `json:"domains"`
	// Waits counts them by the cause for which they wait, most URLs first.
	Waits []Wait `json:"waits,omitempty"`
	// Slowest are the domains that take longest.
	Slowest []SlowDomain `json:"slowest,omitempty"`
	// AtLeastMS is the minimum time for the slowest domain, and so for the crawl.
	AtLeastMS int64         `json:"at_least_ms,omitempty"`
	Recent    Recent        `json:"recent"`
	Stages    []StageStatus `json:"stages"`
	// Memory of the processes, the largest first.
	Memory []ProcessMemory `json:"memory,omitempty"`
	// FreeBytes of disk, -1 if unknown.
	FreeBytes int64    `json:"free_bytes"`
	Unknown   []string `json:"unknown,omitempty"`

	perDomain int
	clock
}

// Wait counts the domains that wait for one cause.
type Wait struct {
	Cause   Cause `json:"cause"`
	Domains int64 `json:"domains"`
	URLs    int64 `json:"urls"`
}

// SlowDomain is one of the slowest domains.
type SlowDomain struct {
	Domain     string     `json:"domain"`
	Pending    int64      `json:"pending"`
	DelayMS    int64      `json:"delay_ms"`
	DelayBy    string     `json:"delay_cause"`
	AtLeastMS  int64      `json:"at_least_ms"`
	WaitReason WaitReason `json:"hold"`
}

// Recent is about the requests in the last minute before Now, or since the first request
// of a younger crawl, according to the ledger.
type Recent struct {
	SpanMS   int64 `json:"span_ms"`
	Requests int64 `json:"requests"`
	Failed   int64 `json:"failed"`
	// PossiblePerSecond is the rate that the delays of the pending domains, and the times
	// of their last answers, allow.
	PossiblePerSecond float64 `json:"possible_per_second,omitempty"`
	// OpenRequests is the average number of open requests, by their number and time.
	OpenRequests float64 `json:"open_requests"`
	// BodyBytes is the mean size of a body.
	BodyBytes int64 `json:"body_bytes"`
	// FirstAt and LastAt are the times of the crawl's first and last request.
	FirstAt time.Time `json:"first_at,omitzero"`
	LastAt  time.Time `json:"last_at,omitzero"`
}

// PerSecond is the rate of requests.
func (r Recent) PerSecond() float64 {
	return float64(r.Requests) / max(ms(r.SpanMS), time.Second).Seconds()
}

// recently is the longest time that Recent is about.
const recently = time.Minute

// StageStatus is a stage of the loop.
type StageStatus struct {
	Stage topics.Stage `json:"stage"`
	// Members of its group: processes that run it.
	Members int `json:"members"`
	// Behind is the number of records that it has not consumed.
	Behind int64 `json:"behind"`
}

// States of a crawl.
const (
	StateRunning = "running"
	StateFailing = "failing"
	StateStopped = "stopped"
	StateDrained = "drained"
)

// slowestDomains is the number of domains that are named.
const slowestDomains = 5

// Crawl says why the crawl is as fast as it is.
func (a *Asker) Crawl(ctx context.Context, now time.Time, zone *time.Location) (*CrawlStory, error) {
	around, err := a.look(ctx)
	if err != nil {
		return nil, err
	}
	s := &CrawlStory{
		Crawl: a.names.Crawl, Now: now.UTC(), Partitions: a.definition.Partitions, State: StateRunning,
		Memory: memoryOf(around.memory), FreeBytes: around.freeBytes, perDomain: a.frontier.PerDomain, clock: clock{now, zone},
	}
	for _, stage := range topics.Stages() {
		s.Stages = append(s.Stages, StageStatus{stage, around.members[stage], around.status.Behind(stage)})
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
	for partition := range a.definition.Partitions {
		if err := a.tallyPartition(ctx, partition, around, &t); err != nil {
			return nil, err
		}
	}
	t.finish()
	if s.Unknown != nil {
		s.Pending, s.Domains = around.status.Gauges.GetPending(), around.status.Gauges.GetDomains()
	}
	s.Diagnoses = diagnose(s, around)
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
			"scheduled/%d begins at %d: its domains are not known any more", partition, begins))
		return nil
	}
	traces := map[string]*trace{}
	f, remove, err := a.fold(ctx, partition, "", begins, func(domain string, ev *weftpb.Scheduled, _ Ref) {
		if domain == "" {
			return
		}
		if traces[domain] == nil {
			traces[domain] = &trace{}
		}
		traces[domain].apply(ev)
		t.recent(ev)
	})
	if err != nil {
		return err
	}
	return errors.Join(a.tallyDomains(f, traces, around, t), remove())
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
		var h domainView
		if h, err = a.domainView(f, name, *traces[name], around, t.story.clock); err == nil {
			h.visitsOut = gauges.GetVisits()
			t.add(name, h)
		}
		return err == nil
	})
	return err
}

// add counts one domain with something pending.
func (t *tally) add(name string, h domainView) {
	s, waitReason, pending := t.story, h.waitReason(), h.pending()
	s.Domains++
	s.Pending += pending
	w := t.waits[waitReason.Cause]
	if w == nil {
		w = &Wait{Cause: waitReason.Cause}
		t.waits[waitReason.Cause] = w
	}
	w.Domains++
	w.URLs += pending
	if pace := max(ms(h.delay.MS)+h.state.Response, time.Millisecond); waitReason.Cause != Breaker && waitReason.Cause != Robots {
		t.possible += float64(s.perDomain) / pace.Seconds()
	}
	s.Slowest = append(s.Slowest, SlowDomain{
		Domain: name, Pending: pending, DelayMS: h.delay.MS, DelayBy: h.delay.Cause,
		AtLeastMS: h.delay.atLeast(pending, s.perDomain).Milliseconds(), WaitReason: waitReason,
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

// finish sorts and completes the counts.
func (t *tally) finish() {
	s := t.story
	for _, w := range t.waits {
		s.Waits = append(s.Waits, *w)
	}
	slices.SortFunc(s.Waits, func(a, b Wait) int {
		return cmp.Or(cmp.Compare(b.URLs, a.URLs), cmp.Compare(a.Cause, b.Cause))
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
		return cmp.Or(
			cmp.Compare(b.AtLeastMS, a.AtLeastMS), cmp.Compare(b.Pending, a.Pending), cmp.Compare(a.Domain, b.Domain))
	})
	s.Slowest = slices.Clip(s.Slowest[:min(len(s.Slowest), slowestDomains)])
}
