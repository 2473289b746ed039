package sim

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/broker"
	"github.com/weftcrawl/weft/internal/topiclog"
	"github.com/weftcrawl/weft/topics"
)

// cluster is the simulated brokers: the logs, and the coordinators of the groups.
// A record that arrives is in its log at once. When it is replicated, readers see
// it and its writer gets the acknowledgement. An unclean election cuts what is not
// replicated.
type cluster struct {
	w          *world
	names      topics.Names
	logs       map[topicPartition]*log
	partitions []topicPartition // of logs, in a fixed order
	groups     map[topics.Stage]*group
	// readers are the groups that read a topic. untilConsumed are the topics that are trimmed.
	readers       map[string][]*group
	untilConsumed map[string]bool
}

type topicPartition struct {
	topic     string
	partition int32
}

func (p topicPartition) String() string { return fmt.Sprintf("%s/%d", p.topic, p.partition) }

// log is one partition. Trimmed records stay in memory, for the checks.
type log struct {
	topicPartition
	records       []record
	start         int64 // the first offset that readers may have
	highWatermark int64 // the end for readers: what is before it is replicated
	replicatedAt  time.Duration
	listeners     []func() // called when highWatermark moves
	waiting       []record // for a leader
	cuts          int      // how often records at the end were lost, and others may get their offsets
	last          lastRead

	awayUntil  time.Duration          // there is no leader until then
	faultUntil map[Kind]time.Duration // Reject, LoseAck, WriteTwice and ForeignWriter last until then
	rate       int                    // of all four: one in so many
}

// lastRead is a last decision, as long as no record that it was read from is lost.
type lastRead struct {
	start, end int64
	cuts       int
	decision   *weftpb.Scheduled
}

type record struct {
	key, value []byte
	offset     int64
	writtenMs  int64 // wall clock of the writer
	latest     int64 // epoch of the latest claim before it, for a planted bug
	settled    func(offset int64, err error)
	unsent     func() bool // its writer ended before it came to the leader
	foreign    bool        // another program wrote it
}

// Errors of writers.
var (
	errRefused = errors.New("the broker refused the record")
	errSilent  = errors.New("no acknowledgement in time")
	errUnclean = errors.New("the leader ended before the record was replicated")
)

func newCluster(w *world, names topics.Names, partitions int32) *cluster {
	c := &cluster{w: w, names: names, logs: map[topicPartition]*log{}, groups: map[topics.Stage]*group{}}
	c.readers, c.untilConsumed = map[string][]*group{}, map[string]bool{}
	for _, t := range names.Topics() {
		c.untilConsumed[t.Name] = t.Kept == topics.UntilConsumed
		for p := range partitions {
			at := topicPartition{t.Name, p}
			c.logs[at] = &log{topicPartition: at, faultUntil: map[Kind]time.Duration{}}
			c.partitions = append(c.partitions, at)
		}
	}
	for _, stage := range topics.Stages() {
		c.groups[stage] = newGroup(w, names.Group(stage), partitions)
		for _, input := range names.Inputs(stage) {
			c.readers[input] = append(c.readers[input], c.groups[stage])
		}
	}
	return c
}

func (c *cluster) log(topic string, partition int32) *log {
	return c.logs[topicPartition{topic, partition}]
}

// arrive is called when a record reaches the leader of its partition.
func (c *cluster) arrive(l *log, r record) {
	if l.waiting = append(l.waiting, r); len(l.waiting) == 1 {
		c.accept(l)
	}
}

// accept writes the records that wait for the leader of a partition, in order. If
// there is no leader, it does so when there is one.
func (c *cluster) accept(l *log) {
	if l.awayUntil > c.w.now {
		c.w.at(l.awayUntil, func() { c.accept(l) })
		return
	}
	waiting := l.waiting
	l.waiting = nil
	for _, r := range waiting {
		if !r.unsent() {
			c.write(l, r)
		}
	}
}

// write writes a record to its log, with the faults that the partition has now.
func (c *cluster) write(l *log, r record) {
	w := c.w
	strikes := func(k Kind) bool { return l.faultUntil[k] > w.now && w.chance(l.rate) }
	if strikes(Reject) {
		w.trace("%v refuses a record", l.topicPartition)
		r.settled(-1, errRefused)
		return
	}
	if strikes(ForeignWriter) && !c.writeBehindForeign(l, r) {
		return
	}
	if strikes(LoseAck) {
		settled := r.settled
		r.settled = func(offset int64, _ error) {
			w.trace("%v does not acknowledge %d", l.topicPartition, offset)
			settled(-1, errSilent)
		}
	}
	if strikes(WriteTwice) {
		w.trace("%v has a record twice", l.topicPartition)
		second := r
		second.settled = func(int64, error) {}
		c.append(l, second)
	}
	c.append(l, r)
}

func (c *cluster) append(l *log, r record) {
	w := c.w
	r.offset = l.end()
	w.bugs.arrived(l, &r)
	l.records = append(l.records, r)
	l.replicatedAt = max(l.replicatedAt, w.now+w.between(0, 3*time.Millisecond)) + 1
	w.at(l.replicatedAt, func() { l.replicate(r.offset) })
}

// replicate makes the record at offset visible to readers, unless it was cut.
func (l *log) replicate(offset int64) {
	if offset != l.highWatermark || offset >= l.end() {
		return // it was cut, and perhaps another record has its offset
	}
	r := &l.records[offset]
	l.highWatermark = offset + 1
	r.settled(offset, nil)
	for _, wake := range l.listeners {
		wake()
	}
}

// end is the leader's end of the log.
func (l *log) end() int64 { return int64(len(l.records)) }

// unclean makes a replica the leader of a partition that does not have the latest
// records. They are lost, and others get their offsets.
func (c *cluster) unclean(l *log, away time.Duration) {
	cut := l.records[l.highWatermark:]
	c.w.trace("%v loses its leader, %d records are cut", l.topicPartition, len(cut))
	l.records = l.records[:l.highWatermark:l.highWatermark]
	l.cuts++
	l.awayUntil = c.w.now + away
	for _, r := range cut {
		r.settled(-1, errUnclean)
	}
}

// powerCut loses up to most records at the end of each log, acknowledged or not.
// When the broker starts, it sets commits back to the ends.
func (c *cluster) powerCut(most int) {
	for _, at := range c.partitions {
		l := c.logs[at]
		keep := max(l.end()-int64(c.w.rng.IntN(most+1)), l.start)
		l.records = l.records[:keep:keep]
		l.cuts++
		l.highWatermark = min(l.highWatermark, keep)
	}
	for _, stage := range topics.Stages() {
		g := c.groups[stage]
		for _, m := range slices.Clone(g.members) {
			g.expel(m)
		}
		for at, next := range g.commits {
			g.commits[at] = min(next, c.logs[at].highWatermark)
		}
	}
}

// read returns up to most records from an offset on.
func (l *log) read(from int64, most int) []record {
	from = max(from, l.start)
	if from >= l.highWatermark {
		return nil
	}
	return l.records[from:min(l.highWatermark, from+int64(most))]
}

// lastDecision is the last valid event before end in a log of scheduled. It is asked for
// again and again, also while nothing happens.
func (l *log) lastDecision(end int64) (*weftpb.Scheduled, error) {
	if l.last.decision != nil && l.last.start == l.start && l.last.end == end && l.last.cuts == l.cuts {
		return l.last.decision, nil
	}
	last, err := topiclog.ReadLast(topiclog.Bounds{Start: l.start, End: end}, func(within topiclog.Bounds, visit func(*kgo.Record) error) error {
		if within.End > l.highWatermark {
			return errUnclean // the power was cut since the end was read
		}
		for _, r := range l.read(within.Start, int(within.End-within.Start)) {
			err := visit(&kgo.Record{Topic: l.topic, Partition: l.partition, Offset: r.offset, Key: r.key, Value: r.value})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		l.last = lastRead{start: l.start, end: end, cuts: l.cuts, decision: last.Decision}
	}
	return last.Decision, err
}

// trim does what the janitor does with transient topics.
func (c *cluster) trim() {
	for _, at := range c.partitions {
		if !c.untilConsumed[at.topic] {
			continue
		}
		l := c.logs[at]
		var commits []int64
		for _, group := range c.readers[at.topic] {
			commits = append(commits, group.committed(at))
		}
		if c.w.bug("trim-too-far") {
			commits = []int64{l.highWatermark}
		}
		l.start = max(l.start, broker.TrimTo(commits, l.highWatermark))
	}
}

// subscribe calls wake whenever a partition has new records.
func (c *cluster) subscribe(at topicPartition, wake func()) {
	l := c.logs[at]
	l.listeners = append(l.listeners, wake)
}
