package sim

import (
	"errors"
	"time"

	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/test/memstore"
	"github.com/weftcrawl/weft/topics"
)

// ledgerStage is one instance of a stateful stage. It does for the stage's
// partitions what the runner and the group of package ledger do in a running crawl.
type ledgerStage struct {
	baseShell
	instance *instance
	w        *world
	stage    topics.Stage
	def      ledger.Processor
	member   *member
	tables   map[int32]*table
	paused   bool
}

func newLedgerStage(i *instance, name topics.Stage) *ledgerStage {
	return &ledgerStage{instance: i, w: i.proc.w, stage: name, def: i.proc.w.define(i.proc, name), tables: map[int32]*table{}}
}

func (o *ledgerStage) start() {
	o.member = &member{instance: o.instance}
	o.member.assigned = func(partitions []int32) {
		for _, p := range partitions {
			if o.tables[p] == nil {
				o.tables[p] = newTable(o, p)
				o.instance.after(o.w.latency(), o.tables[p].open)
			}
		}
	}
	o.member.revoked = o.close
	o.paused = o.instance.proc.paused(o.stage)
	o.w.cluster.groups[o.stage].join(o.member)
}

// onControl is called when there is a new control. A stage that goes on after a
// pause first reads what was written meanwhile.
func (o *ledgerStage) onControl() {
	paused := o.instance.proc.paused(o.stage)
	if o.paused && !paused {
		for _, p := range keys(o.tables) {
			if o.tables[p].live {
				o.tables[p].catchUp()
				o.tables[p].wake()
			}
		}
	}
	o.paused = paused
}

func (o *ledgerStage) stop() { o.close(o.instance.leave) }

// close closes all partitions, and then calls then.
func (o *ledgerStage) close(then func()) {
	open := len(o.tables)
	if open == 0 {
		then()
	}
	for _, p := range keys(o.tables) {
		o.tables[p].close(o.w.now+closeTimeout, func() {
			delete(o.tables, p)
			if open--; open == 0 {
				then()
			}
		})
	}
}

// closeTimeout bounds the wait for acknowledgements at the end of a table.
const closeTimeout = 10 * time.Second

// writer is what a table appends with: a ledger.Writer, unless a bug is planted.
type writer interface {
	Append(key string, value []byte, done func(offset int64, err error))
	AppendClaim(value []byte, done func(offset int64, err error))
	Poison(err error)
	Err() error
	Acked() int64
}

// table does for one ledger.Partition what its goroutine does in a running crawl.
type table struct {
	*ledgerStage
	partition     int32
	store         *memstore.Store
	core          *ledger.Partition
	out           *producer
	writer        writer
	live          bool
	closing       bool
	next          map[string]int64 // offsets of the inputs to be delivered
	due           []string
	dueCheckedAt  time.Duration // when due keys were asked for
	stepScheduled bool
	toCommit      map[string]int64 // by topic
	saver         saver
}

func newTable(o *ledgerStage, partition int32) *table {
	return &table{ledgerStage: o, partition: partition, next: map[string]int64{}, toCommit: map[string]int64{}}
}

func (t *table) at(topic string) topicPartition { return topicPartition{topic, t.partition} }

func (t *table) ledger() *log { return t.w.cluster.log(t.def.Ledger, t.partition) }

// open makes the state from the published checkpoint, and claims the partition.
func (t *table) open() {
	if t.closing {
		return
	}
	t.store, t.saver.Saving = &memstore.Store{}, ledger.NewSaving(checkpointEvery, t.instance.proc.mono())
	folded := ledger.Nothing()
	if c := t.usable(); c != nil {
		t.store, folded = c.store.Clone(), c.folded
	}
	core, err := ledger.NewPartition(t.def, t.partition, t.w.bugs.store(t), folded, ledger.PartitionOptions{
		CarryEvery: 10 * time.Second, CarryIdle: 200 * time.Millisecond,
		Observe: func(kind string) { t.w.count(string(t.stage) + "_" + kind) },
	})
	if err != nil {
		t.fail(err)
		return
	}
	t.core = core
	end := t.ledger().highWatermark
	t.recover(end, func() { t.claim() })
}

// recover folds the ledger up to end, in pieces, and then calls then.
func (t *table) recover(end int64, then func()) {
	if t.closing {
		return
	}
	from := t.core.Folded().Offset + 1
	if from >= end {
		then()
		return
	}
	for _, r := range t.ledger().read(from, min(200, int(end-from))) {
		value := t.w.bugs.reread(r)
		if err := t.core.Fold(string(r.key), value, r.offset); err != nil {
			t.fail(err)
			return
		}
	}
	t.instance.after(t.w.latency(), func() { t.recover(end, then) })
}

func (t *table) wake() {
	if t.stepScheduled || t.closing || t.instance.ended {
		return
	}
	t.stepScheduled = true
	t.instance.after(t.w.latency(), func() {
		t.stepScheduled = false
		t.step()
	})
}

// tick wakes the table when a key may be due.
func (t *table) tick() {
	if t.closing {
		return
	}
	t.wake()
	t.instance.after(t.w.pollInterval(), t.tick)
}

// step answers one record of an input or one due key, unless the stage is paused.
func (t *table) step() {
	if t.closing || t.paused {
		return
	}
	now := t.instance.proc.wall()
	var ready []string
	for _, topic := range t.def.InputTopics() {
		if t.next[topic] < t.w.cluster.log(topic, t.partition).highWatermark {
			ready = append(ready, topic)
		}
	}
	if len(t.due) == 0 && t.w.now-t.dueCheckedAt >= tickEvery {
		t.dueCheckedAt, t.due = t.w.now, t.core.Due(now)
	}
	switch n := t.w.rng.IntN(3); {
	case len(t.due) > 0 && (n == 0 || len(ready) == 0):
		key := t.due[0]
		t.due = t.due[1:]
		t.core.Acknowledged(t.writer.Acked())
		event, err := t.core.Tick(key, now)
		t.append(key, event, err)
	case len(ready) > 0:
		topic := ready[t.w.rng.IntN(len(ready))]
		t.answer(topic, now)
	default:
		t.append("", nil, nil) // a save may be due
		return
	}
	t.wake()
}

const (
	tickEvery   = 20 * time.Millisecond
	commitEvery = 200 * time.Millisecond
)

// answer answers the next record of an input. Now and then a record is delivered
// again.
func (t *table) answer(topic string, now time.Time) {
	l := t.w.cluster.log(topic, t.partition)
	offset := t.next[topic]
	if again := offset - int64(1+t.w.rng.IntN(3)); again >= l.start && t.w.chance(30) {
		offset = again
	} else {
		t.next[topic] = offset + 1
	}
	r := l.records[offset]
	rec := ledger.InputRecord{Topic: topic, Key: string(r.key), Value: t.w.bugs.input(t, topic, r), Offset: offset, TimestampMS: r.writtenMs}
	t.core.Acknowledged(t.writer.Acked())
	event, err := t.core.Answer(rec, now)
	var rejected *ledger.Rejection
	switch {
	case !errors.As(err, &rejected):
	case r.foreign:
		t.core.Rejected(topic, offset)
		err = nil
	default:
		t.w.violate("rejected", "%s rejects %v at %d: %s", t.instance.name, l.topicPartition, offset, rejected.Reason)
		return
	}
	t.append(rec.Key, event, err)
}

// append folds and appends an event, if there is one, as the table of package ledger
// does.
func (t *table) append(key string, event []byte, err error) {
	if err == nil && event != nil {
		if err = t.core.FoldNext(key, event, t.instance.proc.wall()); err == nil {
			carried := t.core.Carried()
			t.w.trace("%s appends %v at %d", t.instance.name, t.ledger().topicPartition, t.core.Folded().Offset)
			t.checkReleases(key, event)
			noteCommits := func() {
				for _, p := range carried {
					t.toCommit[p.Topic] = max(t.toCommit[p.Topic], p.Offset+1)
				}
			}
			t.writer.Append(key, event, func(_ int64, err error) {
				if err == nil {
					noteCommits()
				}
			})
			if t.w.bug("commit-early") || t.w.bug("resume-from-commits") {
				noteCommits()
			}
		}
	}
	if err == nil {
		err = t.writer.Err()
	}
	if err != nil {
		t.fail(err)
		return
	}
	t.maybeSave()
}

// fail ends the instance with an error. The next instance must be able to go on.
func (t *table) fail(err error) {
	if t.writer != nil {
		t.writer.Poison(err)
	}
	if errors.Is(err, ledger.ErrCorrupt) || errors.Is(err, ledger.ErrInputLost) {
		t.w.violate("ledger", "%s cannot go on: %v", t.instance.name, err)
	}
	t.instance.fail(err)
}

// commit sends the commits of what was acknowledged, again and again.
func (t *table) commit() {
	t.sendCommits()
	if !t.closing {
		t.instance.after(t.w.pollInterval(), t.commit)
	}
}

func (t *table) sendCommits() {
	for _, topic := range keys(t.toCommit) {
		t.member.commit(t.at(topic), t.toCommit[topic])
	}
	clear(t.toCommit)
}

// close waits for acknowledgements, publishes a last checkpoint, and then calls
// then.
func (t *table) close(deadline time.Duration, then func()) {
	t.closing = true
	acknowledged := func() bool { return t.out == nil || t.out.open == 0 }
	t.instance.wait(acknowledged, 5*time.Millisecond, deadline, func() {
		if t.live && t.out.open == 0 && t.writer.Err() == nil {
			t.saveLast()
			t.sendCommits()
		}
		if t.core != nil {
			t.core.Close()
		}
		then()
	})
}
