package crawl

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weftcrawl/weft/internal/broker"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/topics"
)

// Remedy says how a damaged part of a log is repaired.
type Remedy string

// Remedies.
const (
	// BeginBehind: the log begins behind it, because a checkpoint has its state.
	BeginBehind Remedy = "begin behind it"
	// EndBefore: the log ends before it, as after a crash of the machine.
	EndBefore Remedy = "end before it"
	// LeaveOut: it is left out.
	LeaveOut Remedy = "leave it out"
)

// Damaged is a damaged partition, and its repair.
type Damaged struct {
	broker.Damage // from the first damaged offset to the last
	Remedy        Remedy
	// Checkpoint is the offset of a checkpoint that has the state, with BeginBehind.
	Checkpoint int64
}

// FindDamage looks for damage in the logs of crawl names in dir, which must not run: batches that
// cannot be read, and events with a wrong checksum.
func FindDamage(dir string, names topics.Names) ([]Damaged, error) {
	o := Options{Dir: dir}
	if _, err := os.Stat(o.brokerDir()); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: there is no crawl in %s", ErrUsage, dir)
	}
	running, err := InUse(dir)
	if err != nil {
		return nil, fmt.Errorf("lock the directory of the broker: %w", err)
	}
	if running {
		return nil, fmt.Errorf("%w: a process runs the crawl in %s, or looks at it: stop it first", ErrUsage, dir)
	}
	events := map[string]*broker.Damage{}
	readers := map[string]*ledger.EventReader{}
	found, err := broker.Walk(o.brokerDir(), func(batch []byte, at broker.Damage) error {
		if at.Topic != names.Deduped && at.Topic != names.Scheduled || events[at.Dir] != nil {
			return nil
		}
		if readers[at.Dir] == nil {
			readers[at.Dir] = new(ledger.EventReader)
		}
		if readEvents(readers[at.Dir], batch, at) != nil {
			events[at.Dir] = &at
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, at := range events {
		found = append(found, *at)
	}
	var all []Damaged
	for _, d := range found {
		i := slices.IndexFunc(all, func(known Damaged) bool { return known.Dir == d.Dir })
		if i < 0 {
			i, all = len(all), append(all, Damaged{Damage: d})
		}
		whole := &all[i].Damage
		whole.From, whole.To = min(whole.From, d.From), max(whole.To, d.To)
	}
	slices.SortFunc(all, func(a, b Damaged) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	for i := range all {
		all[i].Remedy, all[i].Checkpoint = remedyOf(o.stateDir(), names, all[i].Damage)
	}
	return all, nil
}

func remedyOf(states string, names topics.Names, d broker.Damage) (Remedy, int64) {
	if d.Topic != names.Deduped && d.Topic != names.Scheduled {
		return LeaveOut, 0
	}
	c, ok := ledger.Published(states, d.Topic, d.Partition)
	if !ok || c.Offset < d.To {
		return EndBefore, 0
	}
	if d.Topic == names.Deduped { // schedule must have read what is removed
		reader, ok := ledger.Published(states, names.Scheduled, d.Partition)
		if !ok || reader.Positions[names.Deduped].Offset < d.To {
			return EndBefore, 0
		}
	}
	return BeginBehind, c.Offset
}

func readEvents(reader *ledger.EventReader, batch []byte, at broker.Damage) error {
	part := &kmsg.FetchResponseTopicPartition{Partition: at.Partition, HighWatermark: at.To, LastStableOffset: at.To, RecordBatches: batch}
	fetched, _ := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{
		Offset: at.From, Topic: at.Topic, Partition: at.Partition,
	}, part, kgo.DefaultDecompressor(), nil)
	if fetched.Err != nil {
		return fetched.Err
	}
	for _, r := range fetched.Records {
		if _, err := reader.Read(r.Value, r.Topic, r.Partition, r.Offset); err != nil {
			return err
		}
	}
	return nil
}

// Repair repairs the damage that FindDamage has found. It moves the old partitions to the folder
// aside.
func Repair(dir, aside string, all []Damaged) error {
	keep := map[string]broker.Keep{}
	for _, d := range all {
		switch d.Remedy {
		case BeginBehind:
			keep[d.Dir] = func(first, _ int64) bool { return first >= d.To }
		case EndBefore:
			keep[d.Dir] = func(_, next int64) bool { return next <= d.From }
		case LeaveOut:
			keep[d.Dir] = func(int64, int64) bool { return true }
		}
	}
	return broker.Repair(Options{Dir: dir}.brokerDir(), filepath.Clean(aside), keep)
}
