package sim

import (
	"errors"
	"slices"
	"time"

	"github.com/weftcrawl/weft/frontier/memstore"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/topics"
)

// owner is one life of a stateful stage: the shell of its partitions, as
// package ledger's runner and group are in a running crawl.
type owner struct {
	life   *life
	w      *world
	stage  topics.Stage
	def    ledger.Definition
	member *member
	tables map[int32]*table
	held   bool
}

func newOwner(l *life, name topics.Stage) *owner {
	return &owner{life: l, w: l.proc.w, stage: name, def: l.proc.w.define(l.proc, name), tables: map[int32]*table{}}
}

func (o *owner) begin() {
	o.member = &member{life: o.life}
	o.member.assigned = func(partitions []int32) {
		for _, p := range partitions {
			if o.tables[p] == nil {
				o.tables[p] = newTable(o, p)
				o.life.after(o.w.latency(), o.tables[p].open)
			}
		}
	}
	o.member.revoked = o.close
	o.held = o.life.proc.paused(o.stage)
	o.w.cluster.groups[o.w.names.Group(o.stage)].join(o.member)
}

func (o *owner) release() {}

// hear is called when people ask something of the crawl. A stage that goes on
// after it was held first reads what was written meanwhile.
func (o *owner) hear() {
	held := o.life.proc.paused(o.stage)
	if o.held && !held {
		for _, p := range sorted(o.tables) {
			if o.tables[p].live {
				o.tables[p].catchUp()
				o.tables[p].wake()
			}
		}
	}
	o.held = held
}

// stop ends the life in good order.
func (o *owner) stop() { o.close(o.life.leave) }

// close closes every partition, then says so.
func (o *owner) close(then func()) {
	open := len(o.tables)
	if open == 0 {
		then()
	}
	for _, p := range sorted(o.tables) {
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

// table is the shell of one ledger.Partition.
type table struct {
	*owner
	partition int32
	store     *memstore.Store
	core      *ledger.Partition
	out       *producer
	writer    writer
	live      bool
	closing   bool
	next      map[string]int64 // offsets of the inputs to be delivered
	due       []string
	looked    time.Duration // when due keys were asked for
	stepping  bool
	marks     map[place]int64
	saver     saver
}

func newTable(o *owner, partition int32) *table {
	return &table{owner: o, partition: partition, next: map[string]int64{}, marks: map[place]int64{}}
}

func (t *table) at(topic string) place { return place{topic, t.partition} }

func (t *table) ledger() *log { return t.w.cluster.log(t.def.Ledger(), t.partition) }

// open makes the store from the published checkpoint.
func (t *table) open() {
	if t.closing {
		return
	}
	t.store, t.saver.Saving = &memstore.Store{}, ledger.NewSaving(checkpointEvery, t.life.proc.mono())
	folded := ledger.Nothing()
	if c := t.checkpoint(); c != nil {
		t.store, folded = c.store.Clone(), c.folded
	}
	core, err := ledger.NewPartition(t.def, t.partition, t.w.bugs.store(t), folded, ledger.PartitionOptions{
		CarryEvery: 10 * time.Second, CarryIdle: 200 * time.Millisecond,
		Observe: func(kind string) { t.w.count(string(t.stage) + "_" + kind) },
	})
	if err != nil {
		t.stop(err)
		return
	}
	t.core = core
	end := t.ledger().seen
	t.recover(end, func() { t.claim() })
}

// recover folds the ledger up to an end, in pieces.
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
		value := t.w.bugs.event(t, r)
		if err := t.core.Fold(string(r.key), value, r.offset); err != nil {
			t.stop(err)
			return
		}
	}
	t.life.after(t.w.latency(), func() { t.recover(end, then) })
}

// wake lets the table work soon.
func (t *table) wake() {
	if t.stepping || t.closing || t.life.ended {
		return
	}
	t.stepping = true
	t.life.after(t.w.latency(), func() {
		t.stepping = false
		t.step()
	})
}

// tick wakes it when a key may be due: often when there is work, seldom else.
func (t *table) tick() {
	if t.closing {
		return
	}
	t.wake()
	t.life.after(t.w.rhythm(), t.tick)
}

// step answers one input or one due key, whichever comes first, unless people
// hold the stage.
func (t *table) step() {
	if t.closing || t.held {
		return
	}
	now := t.life.proc.wall()
	var ready []string
	for _, topic := range t.def.Inputs() {
		if t.next[topic] < t.w.cluster.log(topic, t.partition).seen {
			ready = append(ready, topic)
		}
	}
	if len(t.due) == 0 && t.w.now-t.looked >= tickEvery {
		t.looked, t.due = t.w.now, t.core.Due(now)
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
		t.take(topic, now)
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

// take answers the next record of an input; now and then one is delivered
// again.
func (t *table) take(topic string, now time.Time) {
	l := t.w.cluster.log(topic, t.partition)
	offset := t.next[topic]
	if again := offset - int64(1+t.w.rng.IntN(3)); again >= l.start && t.w.chance(30) {
		offset = again
	} else {
		t.next[topic] = offset + 1
	}
	r := l.records[offset]
	rec := ledger.Record{Topic: topic, Key: string(r.key), Value: t.w.bugs.input(t, topic, r), Offset: offset, TimestampMS: r.writtenMs}
	t.core.Acknowledged(t.writer.Acked())
	event, err := t.core.Answer(rec, now)
	var rejected *ledger.Rejection
	switch {
	case !errors.As(err, &rejected):
	case r.strange:
		t.core.Rejected(topic, offset)
		err = nil
	default:
		t.w.violate("rejected", "%s rejects %v at %d: %s", t.life.name, l.place, offset, rejected.Reason)
		return
	}
	t.append(rec.Key, event, err)
}

// append folds and appends an event, as the table in package ledger does.
func (t *table) append(key string, event []byte, err error) {
	if err == nil && event != nil {
		if err = t.core.FoldNext(key, event, t.life.proc.wall()); err == nil {
			carried := t.core.Carried()
			t.w.trace("%s appends %v at %d", t.life.name, t.ledger().place, t.core.Folded().Offset)
			t.judgeHold(event)
			mark := func() {
				for _, p := range carried {
					t.marks[t.at(p.Topic)] = max(t.marks[t.at(p.Topic)], p.Offset+1)
				}
			}
			t.writer.Append(key, event, func(_ int64, err error) {
				if err == nil {
					mark()
				}
			})
			if t.w.bug(BugCommitEarly) || t.w.bug(BugResumeFromCommits) {
				mark()
			}
		}
	}
	if err == nil {
		err = t.writer.Err()
	}
	if err != nil {
		t.stop(err)
		return
	}
	t.maybeSave()
}

// stop ends the life of the stage with an error, which must be one that a new
// life mends.
func (t *table) stop(err error) {
	if t.writer != nil {
		t.writer.Poison(err)
	}
	if errors.Is(err, ledger.ErrCorrupt) || errors.Is(err, ledger.ErrInputLost) {
		t.w.violate("ledger", "%s cannot go on: %v", t.life.name, err)
	}
	t.life.fail(err)
}

// commit sends what was acknowledged.
func (t *table) commit() {
	t.flushMarks()
	if !t.closing {
		t.life.after(t.w.rhythm(), t.commit)
	}
}

func (t *table) flushMarks() {
	for _, at := range sortedPlaces(t.marks) {
		t.member.commit(at, t.marks[at])
		delete(t.marks, at)
	}
}

// close flushes and publishes a last checkpoint, then calls then.
func (t *table) close(deadline time.Duration, then func()) {
	t.closing = true
	if t.out != nil && t.out.open > 0 && t.w.now < deadline {
		t.life.after(5*time.Millisecond, func() { t.close(deadline, then) })
		return
	}
	if t.live && t.out.open == 0 && t.writer.Err() == nil {
		t.saveLast()
		t.flushMarks()
	}
	if t.core != nil {
		t.core.Close()
	}
	then()
}

// sorted returns the keys of a map in order, so that runs are the same.
func sorted[V any](m map[int32]V) []int32 {
	keys := make([]int32, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
