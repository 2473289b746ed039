package processors

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/dedupe"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/traps"
	"github.com/weftcrawl/weft/variants"
)

// Dedupe runs the stage dedupe until ctx ends: it reads normalized and writes
// the ledger deduped, the URLs of a domain that were never seen before.
// dedupe.Set decides.
func Dedupe(ctx context.Context, env Env) error {
	return stateful(ctx, env, topics.Dedupe, dedupeStage(env))
}

// DefineDedupe returns the stage dedupe without what runs it. Of env it takes
// the names, the definition and the meter.
func DefineDedupe(env Env) ledger.Definition { return ledger.Define(dedupeStage(env)) }

func dedupeStage(env Env) ledger.Stage[*seen] {
	return ledger.Stage[*seen]{
		Ledger: env.Names.Deduped,
		Inputs: []ledger.Input[*seen]{{Topic: env.Names.Normalized, Decide: decideUnseen(env)}},
		Open: func(partition int32, store ledger.Store) (*seen, error) {
			variantRules, err := newStanding(env.Definition)
			return &seen{
				partition: partition,
				set:       dedupe.Open(dedupe.DefaultOptions(), store), book: traps.Open(store),
				standing: variantRules, sites: variants.Open(store),
			}, err
		},
		Tick: func(*seen, string, time.Time, int64) ([]byte, error) { return nil, nil },
	}
}

// seen is the state of a partition: the URLs seen, what they look like, and
// which stand for others.
type seen struct {
	partition int32

	set      *dedupe.Set
	book     *traps.Book
	standing standing
	sites    *variants.Book
}

func decideUnseen(env Env) func(*seen, ledger.Record, time.Time, int64) ([]byte, error) {
	trapOptions := TrapOptions(env.Definition)
	return func(s *seen, in ledger.Record, _ time.Time, _ int64) ([]byte, error) {
		var n weftpb.Normalized
		if proto.Unmarshal(in.Value, &n) != nil {
			return nil, undecodable()
		}
		if err := inPlace(in.Key, s.partition, env.Definition.Partitions); err != nil {
			return nil, err
		}
		if !ofDomain(in.Key, n.Targets) {
			return nil, undecodable()
		}
		if n.Lift != nil {
			return s.lifted(in.Key, n.Lift), nil
		}
		unseen := s.set.Unseen(n.Targets)
		event, restored := s.standing.decide(s, in.Key, &n, unseen)
		fresh, merged := len(event.Targets)+len(restored), len(event.Merged)
		env.Meter.Deduped(fresh, len(n.Targets)-len(unseen), merged)
		if fresh+merged+len(event.Evidence)+len(event.Groups)+len(event.Recalled) == 0 {
			return nil, nil
		}
		s.holdBack(trapOptions, in.Key, &n, event)
		event.Targets = append(event.Targets, restored...)
		return encode(event), nil
	}
}

// Apply folds a Deduped.
func (s *seen) Apply(domain string, body []byte, _ int64) error {
	var d weftpb.Deduped
	if err := proto.Unmarshal(body, &d); err != nil {
		return fmt.Errorf("decode deduped: %w", err)
	}
	s.set.Apply(&d)
	s.book.Apply(domain, &d)
	s.sites.Apply(domain, &d)
	return nil
}

// Due names nothing: dedupe has no timers.
func (s *seen) Due(time.Time, int) []string { return nil }

// Close has nothing to say.
func (s *seen) Close() {}
