package processors

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/urls"
)

// Schedule runs the stage schedule until ctx ends: it reads deduped and
// visited and writes the ledger scheduled, what was decided for one domain.
// frontier.Frontier decides.
func Schedule(ctx context.Context, env Env) error {
	low, stop := watchReserve(ctx, env, topics.Schedule)
	defer stop()
	return stateful(ctx, env, topics.Schedule, scheduleStage(env, low))
}

// DefineSchedule returns the stage schedule without what runs it. Of env it
// takes the names, the definition, the brakes and the meter; while hold is true
// nothing is released.
func DefineSchedule(env Env, hold *atomic.Bool) ledger.Definition {
	return ledger.Define(scheduleStage(env, hold))
}

func scheduleStage(env Env, hold *atomic.Bool) ledger.Stage[*queues] {
	return ledger.Stage[*queues]{
		Ledger: env.Names.Scheduled,
		Inputs: []ledger.Input[*queues]{
			{Topic: env.Names.Deduped, Events: true, Decide: admit},
			{Topic: env.Names.Visited, Decide: settle},
		},
		Open: func(partition int32, store ledger.Store) (*queues, error) {
			opts := FrontierOptions(env.Definition)
			opts.Partition, opts.Allowed, opts.Unheld = partition, allowed(), robots.Unheld
			f := frontier.New(opts, store)
			return &queues{
				partition: partition, partitions: env.Definition.Partitions,
				frontier: f, time: steady{decided: f.Decided}, hold: hold, brakes: env.Brakes, clock: env.Clock,
				report:  func(outcomes map[string]int64) { env.Meter.Outcomes(partition, outcomes) },
				tripped: func() { env.Meter.Tripped() },
			}, nil
		},
		Begins: func(q *queues, offset int64) { q.begins = offset },
		Tick: func(q *queues, domain string, now time.Time, offset int64) ([]byte, error) {
			return scheduled(q.frontier.Tick(domain, q.moment(now, offset)))
		},
		Snapshot: func(q *queues, now time.Time, offset int64) ([]byte, error) {
			return scheduled(q.frontier.Report(q.moment(now, offset)))
		},
	}
}

// queues is the state of a partition: its frontier.
type queues struct {
	partition, partitions int32
	frontier              *frontier.Frontier
	hold                  *atomic.Bool
	brakes                *Brakes
	clock                 func() time.Time // nil: the ledger's
	time                  steady
	begins                int64 // where the ledger begins
	report                func(outcomes map[string]int64)
	tripped               func() // a breaker opens
}

func (q *queues) moment(now time.Time, offset int64) frontier.Moment {
	if q.clock != nil {
		now = q.clock()
	}
	now = q.time.at(now)
	return frontier.Moment{Now: now, Since: q.time.since, Offset: offset, Begins: q.begins, Hold: q.hold.Load() || q.brakes.Control().Holds()}
}

func admit(q *queues, in ledger.Record, now time.Time, offset int64) ([]byte, error) {
	var d weftpb.Deduped
	err := proto.Unmarshal(in.Value, &d)
	if !isDomain(in.Key) {
		err = errors.New("it is of no domain")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s at %d: %w", ledger.ErrCorrupt, in.Topic, in.Offset, err)
	}
	return scheduled(q.frontier.Hear(in.Key, &d, q.moment(now, offset)))
}

func settle(q *queues, in ledger.Record, now time.Time, offset int64) ([]byte, error) {
	var v weftpb.Visited
	if proto.Unmarshal(in.Value, &v) != nil {
		return nil, undecodable()
	}
	if err := inPlace(in.Key, q.partition, q.partitions); err != nil {
		return nil, err
	}
	event, err := q.frontier.Settle(in.Key, &v, q.moment(now, offset))
	if err == nil && event.GetTiming().GetBreakerOpen() {
		if before, err := q.frontier.DomainState(in.Key); err == nil && !before.BreakerOpen {
			q.tripped()
		}
	}
	return scheduled(event, err)
}

// scheduled encodes a decision; nil stays nil: nothing happens.
func scheduled(ev *weftpb.Scheduled, err error) ([]byte, error) {
	switch {
	case errors.Is(err, frontier.ErrImpossible):
		return nil, fmt.Errorf("%w: %w", ledger.ErrCorrupt, err)
	case err != nil || ev == nil:
		return nil, err
	}
	return encode(ev), nil
}

// Apply folds a Scheduled.
func (q *queues) Apply(domain string, body []byte, offset int64) error {
	var ev weftpb.Scheduled
	if err := proto.Unmarshal(body, &ev); err != nil {
		return fmt.Errorf("decode scheduled: %w", err)
	}
	return q.frontier.Apply(domain, &ev, offset)
}

// Due names the domains that Tick has something to do for.
func (q *queues) Due(now time.Time, limit int) []string {
	return q.frontier.Due(q.moment(now, 0), limit)
}

// Close reports what became of the partition's URLs.
func (q *queues) Close() { q.report(q.frontier.Outcomes()) }

// allowed returns a judge of robots rules for one partition. The frontier
// hands in the same pointer as long as it caches the rules, so compiled rules
// are kept by it; they are few, and made anew when they are not.
func allowed() func(*weftpb.Robots, string) bool {
	compiled := map[*weftpb.Robots]*robots.Rules{}
	bytes := 0
	return func(rules *weftpb.Robots, url string) bool {
		u, refusal := urls.Parse(url)
		if refusal != urls.Accepted {
			return false
		}
		c, ok := compiled[rules]
		if !ok {
			if bytes > maxCompiledBytes {
				clear(compiled)
				bytes = 0
			}
			c = robots.Compile(rules)
			compiled[rules] = c
			bytes += len(rules.GetRules()) + strings.Count(rules.GetRules(), "\n")*ruleBytes + 1<<10
		}
		return c.Allowed(u.PathAndQuery())
	}
}

const (
	// maxCompiledBytes bounds the memory of compiled rules, about.
	maxCompiledBytes = 8 << 20
	// ruleBytes is what a rule takes beside its text.
	ruleBytes = 128
)
