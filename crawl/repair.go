package crawl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weftcrawl/weft/broker"
	"github.com/weftcrawl/weft/cluster"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/topics"
)

// Look is Reach for commands that only read: damaged logs are served as far as
// they can be read, and damaged is told, in words, what cannot. Nothing may be
// written.
func Look(ctx context.Context, dir string, damaged func(what string)) (access cluster.Access, release func(), err error) {
	return reach(ctx, broker.Options{Dir: Options{Dir: dir}.brokerDir(), Damaged: func(found []broker.Damage) {
		for _, d := range found {
			damaged(d.String())
		}
	}})
}

// Mend says what becomes of a damaged stretch of a log.
type Mend string

// What becomes of it.
const (
	// MendBegins: the log begins behind it, since a checkpoint holds what it said.
	MendBegins Mend = "begin behind it"
	// MendEnds: the log ends before it, as after an unclean end of the machine.
	MendEnds Mend = "end before it"
	// MendLeaves: it is left out.
	MendLeaves Mend = "leave it out"
)

// Damaged is a partition that is damaged, and what can be done.
type Damaged struct {
	broker.Damage // from the first damaged offset to the last
	Mend          Mend
	// Checkpoint is the offset up to which a checkpoint holds the state, with
	// MendBegins.
	Checkpoint int64
}

// FindDamage looks for damage in the logs of crawl names in dir, which no process
// may run: batches that cannot be read, and events that are not what was written.
func FindDamage(dir string, names topics.Names) ([]Damaged, error) {
	o := Options{Dir: dir}
	if _, err := os.Stat(o.brokerDir()); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: there is no crawl in %s", ErrUsage, dir)
	}
	if running, err := InUse(dir); err != nil || running {
		return nil, errors.Join(err, fmt.Errorf("%w: a process runs the crawl in %s, or looks at it: stop it first", ErrUsage, dir))
	}
	events := map[string]*broker.Damage{}
	readers := map[string]*ledger.Reader{}
	found, err := broker.Walk(o.brokerDir(), func(batch []byte, at broker.Damage) error {
		if at.Topic != names.Deduped && at.Topic != names.Scheduled || events[at.Dir] != nil {
			return nil
		}
		if readers[at.Dir] == nil {
			readers[at.Dir] = new(ledger.Reader)
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
	whole := map[string]*Damaged{}
	var order []string
	for _, d := range found {
		w := whole[d.Dir]
		if w == nil {
			w = &Damaged{Damage: d}
			whole[d.Dir], order = w, append(order, d.Dir)
		}
		w.From, w.To = min(w.From, d.From), max(w.To, d.To)
	}
	var all []Damaged
	for _, dir := range order {
		w := whole[dir]
		w.Mend, w.Checkpoint = mending(o.stateDir(), names, w.Damage)
		all = append(all, *w)
	}
	return all, nil
}

// mending decides what becomes of a partition.
func mending(states string, names topics.Names, d broker.Damage) (Mend, int64) {
	if d.Topic != names.Deduped && d.Topic != names.Scheduled {
		return MendLeaves, 0
	}
	c, ok := ledger.Published(states, d.Topic, d.Partition)
	if !ok || c.Offset < d.To {
		return MendEnds, 0
	}
	if d.Topic == names.Deduped { // its reader must have read what goes
		reader, ok := ledger.Published(states, names.Scheduled, d.Partition)
		if !ok || reader.Positions[names.Deduped].Offset < d.To {
			return MendEnds, 0
		}
	}
	return MendBegins, c.Offset
}

// readEvents reads the events of a batch.
func readEvents(reader *ledger.Reader, batch []byte, at broker.Damage) error {
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

// Repair mends what FindDamage has found, and keeps the partitions as they were in
// the folder aside.
func Repair(dir, aside string, all []Damaged) error {
	keep := map[string]broker.Keep{}
	for _, d := range all {
		switch d.Mend {
		case MendBegins:
			keep[d.Dir] = func(first, _ int64) bool { return first >= d.To }
		case MendEnds:
			keep[d.Dir] = func(_, next int64) bool { return next <= d.From }
		case MendLeaves:
			keep[d.Dir] = func(int64, int64) bool { return true }
		}
	}
	return broker.Repair(Options{Dir: dir}.brokerDir(), filepath.Clean(aside), keep)
}
