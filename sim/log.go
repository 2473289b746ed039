package sim

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/replay"
	"github.com/weftcrawl/weft/topics"
)

// cluster is the simulated brokers: logs, and the commits of groups. Whatever
// is appended is in the log at once, and is seen by readers and acknowledged
// when it is replicated; an unclean end cuts what is not.
type cluster struct {
	w      *world
	names  topics.Names
	logs   map[place]*log
	places []place // of logs, in a fixed order
	groups map[string]*group
}

// place is a partition of a topic.
type place struct {
	topic     string
	partition int32
}

func (p place) String() string { return fmt.Sprintf("%s/%d", p.topic, p.partition) }

// log is one partition. Records stay in memory after they are trimmed, for
// those who judge.
type log struct {
	place
	records []record
	start   int64 // first offset that readers may have
	seen    int64 // end for readers: what is replicated
	lag     time.Duration
	readers []func() // told when seen moves
	waiting []record // for a leader

	away       time.Duration // no leader until then
	rejecting  time.Duration // appends may be refused until then
	forgetting time.Duration // acknowledgements may be lost until then
	repeating  time.Duration // records may be written twice until then
	intruding  time.Duration // strangers' records may take others' places until then
	rate       int           // of all four: one in so many
}

type record struct {
	key, value []byte
	offset     int64
	writtenMs  int64 // wall clock of the writer
	latest     int64 // epoch of the latest claim before it, for a planted bug
	settled    func(offset int64, err error)
	unsent     func() bool // its writer ended before it came to the leader
	strange    bool        // another program wrote it
}

// What a writer may hear.
var (
	errRefused = errors.New("the broker refused the record")
	errSilent  = errors.New("no acknowledgement in time")
	errUnclean = errors.New("the leader ended before the record was replicated")
)

func newCluster(w *world, names topics.Names, partitions int32) *cluster {
	c := &cluster{w: w, names: names, logs: map[place]*log{}, groups: map[string]*group{}}
	for _, t := range names.Topics() {
		for p := range partitions {
			at := place{t.Name, p}
			c.logs[at] = &log{place: at}
			c.places = append(c.places, at)
		}
	}
	for _, stage := range topics.Stages() {
		c.groups[names.Group(stage)] = newGroup(w, names.Group(stage), partitions)
	}
	return c
}

func (c *cluster) log(topic string, partition int32) *log { return c.logs[place{topic, partition}] }

// arrive is a record at the leader of its partition. settled is told what the
// writer hears, when it is sent.
func (c *cluster) arrive(l *log, r record) {
	if l.waiting = append(l.waiting, r); len(l.waiting) == 1 {
		c.accept(l)
	}
}

// accept takes what waits for the leader of a partition, in order, when there
// is one.
func (c *cluster) accept(l *log) {
	if l.away > c.w.now {
		c.w.at(l.away, func() { c.accept(l) })
		return
	}
	waiting := l.waiting
	l.waiting = nil
	for _, r := range waiting {
		if !r.unsent() {
			c.take(l, r)
		}
	}
}

func (c *cluster) take(l *log, r record) {
	w := c.w
	if l.rejecting > w.now && w.chance(l.rate) {
		w.trace("%v refuses a record", l.place)
		r.settled(-1, errRefused)
		return
	}
	if !c.intruded(l, r) {
		return
	}
	if l.forgetting > w.now && w.chance(l.rate) {
		settled := r.settled
		r.settled = func(offset int64, _ error) {
			w.trace("%v forgets to acknowledge %d", l.place, offset)
			settled(-1, errSilent)
		}
	}
	if l.repeating > w.now && w.chance(l.rate) {
		w.trace("%v holds a record twice", l.place)
		twin := r
		twin.settled = func(int64, error) {}
		c.append(l, twin)
	}
	c.append(l, r)
}

func (c *cluster) append(l *log, r record) {
	w := c.w
	r.offset = l.end()
	w.bugs.arrived(l, &r)
	l.records = append(l.records, r)
	l.lag = max(l.lag, w.now+w.between(0, 3*time.Millisecond)) + 1
	w.at(l.lag, func() { l.replicate(r.offset) })
}

// replicate shows the record at offset to readers, unless it was cut.
func (l *log) replicate(offset int64) {
	if offset != l.seen || offset >= l.end() {
		return // cut, and perhaps written again by another
	}
	r := &l.records[offset]
	l.seen = offset + 1
	r.settled(offset, nil)
	for _, wake := range l.readers {
		wake()
	}
}

// end is the leader's end of the log.
func (l *log) end() int64 { return int64(len(l.records)) }

// unclean ends the leader of a partition: what is not replicated is gone, and
// its offsets are given again.
func (c *cluster) unclean(l *log, away time.Duration) {
	cut := l.records[l.seen:]
	c.w.trace("%v ends uncleanly, %d records are cut", l.place, len(cut))
	l.records = l.records[:l.seen:l.seen]
	l.away = c.w.now + away
	for _, r := range cut {
		r.settled(-1, errUnclean)
	}
}

// powerCut loses up to so many records at the end of each log, whatever was
// said of them. At its start the broker takes commits back to the ends.
func (c *cluster) powerCut(most int) {
	for _, at := range c.places {
		l := c.logs[at]
		keep := max(l.end()-int64(c.w.rng.IntN(most+1)), l.start)
		l.records = l.records[:keep:keep]
		l.seen = min(l.seen, keep)
	}
	for _, stage := range topics.Stages() {
		g := c.groups[c.names.Group(stage)]
		for _, m := range slices.Clone(g.members) {
			g.expel(m)
		}
		for at, next := range g.commits {
			g.commits[at] = min(next, c.logs[at].seen)
		}
	}
}

// read returns up to max records from an offset on.
func (l *log) read(from int64, most int) []record {
	from = max(from, l.start)
	if from >= l.seen {
		return nil
	}
	return l.records[from:min(l.seen, from+int64(most))]
}

// lastDecision is what a log of scheduled says last before end.
func (l *log) lastDecision(end int64) (*weftpb.Scheduled, error) {
	return replay.LastDecision(replay.Bounds{Start: l.start, End: end}, func(within replay.Bounds, visit func(*kgo.Record) error) error {
		if within.End > l.seen {
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
}

// trim is the janitor's rule: what every group of a transient topic has
// committed is dropped, but never the last record.
func (c *cluster) trim() {
	for _, at := range c.places {
		topic, _ := c.names.Topic(at.topic)
		if topic.Kept != topics.Consumed {
			continue
		}
		l := c.logs[at]
		least := l.seen - 1
		for _, stage := range topics.Stages() {
			for _, input := range c.names.Inputs(stage) {
				if input == at.topic {
					least = min(least, c.groups[c.names.Group(stage)].committed(at))
				}
			}
		}
		if c.w.bug(BugTrimTooFar) {
			least = l.seen - 1
		}
		l.start = max(l.start, least)
	}
}

func (c *cluster) follow(at place, wake func()) {
	l := c.logs[at]
	l.readers = append(l.readers, wake)
}
