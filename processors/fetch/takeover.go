package fetch

import (
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/supervise"
	"github.com/weftcrawl/weft/topics"
)

// Takeover is what a fetcher finds when it gets a partition.
type Takeover struct {
	// Topic is the topic of the ledger, scheduled. It has the offsets Start to End.
	Topic      string
	Start, End int64
	// Last is the ledger's last decision (topiclog.LastDecision); nil: there is none.
	Last *weftpb.Scheduled
	// Reported is the end of visited.
	Reported int64
	// At is the moment of the takeover, on the clock of host queues. Soon after it
	// this process does not know when a domain was asked last. So a domain is treated
	// as if it had been asked Margin after that moment, or at that moment if it is Alone.
	At     time.Time
	Margin time.Duration
	// Alone says that there is no other fetcher anywhere: the former one has ended.
	Alone bool
}

// TakeOver returns the released visits of a partition. They are read from the offset
// that the last decision calls oldest. They end with ctx or by End.
func TakeOver(ctx context.Context, t Takeover) *ReleasedVisits {
	earliest := t.At.Add(t.Margin)
	switch {
	case t.Alone && untouched(t.Last.GetGauges()):
		earliest = time.Time{} // no domain was asked yet
	case t.Alone:
		earliest = t.At
	}
	from := max(t.Start, min(t.Last.GetOldest(), t.End))
	return newReleasedVisits(ctx, t.Topic, from, t.Reported, earliest)
}

// untouched tells that a partition never had a URL.
func untouched(g *weftpb.Gauges) bool {
	return g.GetPending() == 0 && g.GetFetched() == 0 && g.GetFailed() == 0 && g.GetRefused() == 0
}

// MayGoLive tells whether what the former owner reported is settled and folded. The
// stage schedule has committed visited up to commit. visited begins at start, and
// scheduled ends at end, which is read after the commit.
func (r *ReleasedVisits) MayGoLive(commit, start, end int64) bool {
	return max(commit, start) >= r.reported && r.Next() >= end
}

// Search looks in fetched for outcomes that the former owner of a partition did not
// report.
type Search struct {
	// SinceMs is when the first of the visits was released, less maxSkew. Their
	// records in fetched are not older.
	SinceMs int64
	// Done are the outcomes found, by visit, in the order of the log.
	Done map[string][]*weftpb.Outcome

	open map[string]bool
}

// maxSkew is how far a scheduler's clock may be ahead of a fetcher's. With a larger
// difference a search may miss records.
const maxSkew = time.Minute

// Search returns a search for the outcomes of the visits that are left.
func (r *ReleasedVisits) Search() *Search {
	s := &Search{SinceMs: math.MaxInt64, Done: map[string][]*weftpb.Outcome{}, open: map[string]bool{}}
	for _, v := range r.Unsettled() {
		s.open[v.Visit.Id] = true
		s.SinceMs = max(min(s.SinceMs, v.releasedMs-maxSkew.Milliseconds()), 0)
	}
	return s
}

// Empty tells that there is nothing to look for.
func (s *Search) Empty() bool { return len(s.open) == 0 }

// Look takes in a record of fetched.
func (s *Search) Look(value []byte) {
	var record weftpb.Fetched
	// Parse rejects what cannot be decoded.
	if proto.Unmarshal(value, &record) == nil && s.open[record.Visit] {
		s.Done[record.Visit] = append(s.Done[record.Visit], record.Outcome)
	}
}

// takeoverEvery is how often a takeover asks whether it can go live.
const takeoverEvery = 50 * time.Millisecond

// completeTakeovers starts the work of partitions that were assigned, until ctx
// ends. Each of them waits until the scheduler has settled what the former owner
// reported. Then the assignment reports what that owner fetched and did not report.
// So only requests that were in flight are made again.
func (a *assignment) completeTakeovers(ctx context.Context) error {
	return supervise.Every(ctx, takeoverEvery, func() error {
		if waiting := a.partitions.takingOver(); len(waiting) > 0 {
			return a.completeSettled(ctx, waiting)
		}
		return nil
	})
}

// completeSettled completes those takeovers whose reports are settled and folded.
func (a *assignment) completeSettled(ctx context.Context, waiting map[int32]*partition) error {
	visited, scheduled := a.env.Names.Visited, a.env.Names.Scheduled
	numbers := slices.Collect(maps.Keys(waiting))
	commits, err := a.logs.Commits(ctx, a.env.Names.Group(topics.Schedule), visited)
	if err != nil {
		return err
	}
	reported, err := a.logs.Bounds(ctx, visited, numbers...)
	if err != nil {
		return err
	}
	// Read after the commits: the decisions that settled the reports lie before its end.
	decided, err := a.logs.Bounds(ctx, scheduled, numbers...)
	if err != nil {
		return err
	}
	for number, p := range waiting {
		if !p.visits.MayGoLive(commits[number], reported[number].Start, decided[number].End) {
			continue
		}
		if err := a.complete(ctx, number, p); err != nil {
			return err
		}
	}
	return nil
}

// complete starts what is released and not settled in a partition.
func (a *assignment) complete(ctx context.Context, number int32, p *partition) error {
	p.takenOver = true
	search := p.visits.Search()
	if !search.Empty() {
		if err := a.search(ctx, number, search); err != nil {
			return err
		}
	}
	for _, v := range p.visits.GoLive() {
		done := search.Done[v.Visit.Id]
		if len(done) == 0 || !a.reporter.resume(v, done) {
			a.queues.Start(v.Context, v.Visit)
		}
	}
	return nil
}

func (a *assignment) search(ctx context.Context, number int32, search *Search) error {
	topic := a.env.Names.Fetched
	log, err := a.logs.BoundsSince(ctx, topic, search.SinceMs, number)
	if err == nil && log[number].Start >= log[number].End {
		// There is nothing since then, unless the clock was set back meanwhile. The
		// whole topic is short: parse is not far behind, and the rest is trimmed.
		log, err = a.logs.Bounds(ctx, topic, number)
	}
	if err != nil {
		return err
	}
	return a.logs.Range(ctx, topic, log, func(r *kgo.Record) error {
		search.Look(r.Value)
		return nil
	})
}
