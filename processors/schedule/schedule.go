// Package schedule is the stage schedule: it decides which URL is fetched next,
// and when.
//
//	reads    deduped     URLs of one domain that are new (a ledger)
//	         visited     outcomes of a visit, and robots rules
//	writes   scheduled   its ledger: what was decided for one domain, and the
//	                     visits that may begin
//	decides  frontier.Frontier: AdmitDeduped for a record of deduped, Settle for one of
//	         visited, Tick for a domain whose time has come
//
// fetch makes the visits that scheduled releases, and writes their outcomes to
// visited.
package schedule

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/settings"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/processors/schedule/frontier"
	"github.com/weftcrawl/weft/topics"
)

// Run runs the stage until ctx ends.
func Run(ctx context.Context, env stage.Env) error {
	low, stop := stage.WatchReserve(ctx, env, topics.Schedule)
	defer stop()
	return stage.Stateful(ctx, env, topics.Schedule, Define(env, low))
}

// Define returns the ledger processor of the stage. It uses the names, the definition, the
// settings, the pauses, the clock, the meter and Known of env. While diskLow is true, no visit
// is released.
func Define(env stage.Env, diskLow *atomic.Bool) ledger.Processor {
	return ledger.Processor{
		Ledger: env.Names.Scheduled,
		Inputs: []ledger.Input{{Topic: env.Names.Deduped, Events: true}, {Topic: env.Names.Visited}},
		Open: func(partition int32, store ledger.Store) (ledger.State, error) {
			opts := settings.FrontierOptions(env.Definition)
			opts.Partition = partition
			opts.Setting = func(domain string) *weftpb.DomainSetting { return settings.DomainSetting(env.Settings.Of(domain)) }
			if err := frontier.Migrate(store, partition); err != nil {
				return nil, err
			}
			f := frontier.New(opts, store)
			return &state{env: env, partition: partition, diskLow: diskLow, frontier: f, clock: partitionClock{decided: f.Decided}}, nil
		},
	}
}

// state is the state of a partition: its frontier.
type state struct {
	env       stage.Env
	partition int32
	diskLow   *atomic.Bool

	frontier     *frontier.Frontier
	clock        partitionClock
	begins       int64 // the first offset of the ledger
	settingsRead int   // the number of settings that the frontier was told about
}

func (s *state) Decide(in ledger.InputRecord, now time.Time, offset int64) ([]byte, error) {
	if in.Topic == s.env.Names.Deduped {
		return s.admit(in, now, offset)
	}
	var v weftpb.Visited
	if proto.Unmarshal(in.Value, &v) != nil {
		return nil, stage.Undecodable()
	}
	if err := stage.InPlace(in.Key, s.partition, s.env.Definition.Partitions); err != nil {
		return nil, err
	}
	event, err := s.frontier.Settle(in.Key, &v, s.moment(now, offset))
	for range s.frontier.Opened(in.Key, event) {
		s.env.Meter.BreakerOpened()
	}
	return encode(event, err)
}

// admit decides on an event of dedupe. One that cannot be read is damage: dedupe
// wrote it.
func (s *state) admit(in ledger.InputRecord, now time.Time, offset int64) ([]byte, error) {
	var d weftpb.Deduped
	err := proto.Unmarshal(in.Value, &d)
	if !stage.IsDomain(in.Key) {
		err = errors.New("its key is not a domain")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s at %d: %w", ledger.ErrCorrupt, in.Topic, in.Offset, err)
	}
	return encode(s.frontier.AdmitDeduped(in.Key, &d, s.moment(now, offset)))
}

func (s *state) Due(now time.Time, limit int) []string {
	domains, read := s.env.Settings.Since(s.settingsRead)
	s.frontier.SettingsChanged(domains)
	s.settingsRead = read
	return s.frontier.Due(s.moment(now, 0), limit)
}

func (s *state) Tick(domain string, now time.Time, offset int64) ([]byte, error) {
	return encode(s.frontier.Tick(domain, s.moment(now, offset)))
}

// Snapshot returns an event that tells the gauges.
func (s *state) Snapshot(now time.Time, offset int64) ([]byte, error) {
	return encode(s.frontier.Report(s.moment(now, offset)))
}

// moment is the time of a decision, by the partition's clock.
func (s *state) moment(now time.Time, offset int64) frontier.Moment {
	if s.env.Clock != nil {
		now = s.env.Clock()
	}
	now = s.clock.read(now)
	var known int64
	if s.env.Known != nil {
		known = s.env.Known()
	}
	return frontier.Moment{
		Known: known,
		Now:   now, OwnedSince: s.clock.ownedSince, WokenAt: s.clock.wokenAt, Offset: offset, Begins: s.begins,
		Paused: s.diskLow.Load() || s.env.Pauses.Control().PausesReleases(),
	}
}

// encode returns the body of a decision; nil stays nil: nothing happens.
func encode(ev *weftpb.Scheduled, err error) ([]byte, error) {
	switch {
	case errors.Is(err, frontier.ErrImpossible):
		return nil, fmt.Errorf("%w: %w", ledger.ErrCorrupt, err)
	case err != nil || ev == nil:
		return nil, err
	}
	return stage.Encode(ev), nil
}

func (s *state) Apply(domain string, body []byte, offset int64) error {
	var ev weftpb.Scheduled
	if err := proto.Unmarshal(body, &ev); err != nil {
		return fmt.Errorf("decode scheduled: %w", err)
	}
	return s.frontier.Apply(domain, &ev, offset)
}

func (s *state) Begins(offset int64) { s.begins = offset }

// Close reports the outcomes of the partition's URLs, and how many URLs wait for each host that
// is down.
func (s *state) Close() {
	s.env.Meter.Outcomes(s.partition, s.frontier.Outcomes())
	s.env.Meter.Down(s.partition, s.frontier.Down())
}
