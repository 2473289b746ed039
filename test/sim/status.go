package sim

import (
	"errors"
	"slices"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/inspect/status"
	"github.com/weftcrawl/weft/topics"
)

// watch reads the crawl's status again and again, in the four steps of the drained
// test, between which other events happen. When the test says that the crawl is
// drained, the run ends, and that is checked.
func (w *world) watch() {
	reading := newReading()
	commits, ends := w.readCommits(), w.readEnds()
	before := []func(*status.Sample){w.readBefore}
	switch {
	case w.bug("drain-ends-first"):
		commits, ends = ends, commits
	case w.bug("drain-without-before"):
		before = nil
		ends = append(ends, func(r *status.Sample) { r.Before = r.Ends[w.names.Scheduled] })
	}
	steps := slices.Concat(before, commits, []func(*status.Sample){w.readStarts}, ends, []func(*status.Sample){w.readGauges})
	pace := w.between(time.Millisecond, 200*time.Millisecond)
	if w.chance(2) {
		pace *= 10 // slow brokers
	}
	var next func(i int)
	next = func(i int) {
		steps[i](reading)
		if i+1 < len(steps) {
			w.after(w.between(0, pace), func() { next(i + 1) })
			return
		}
		status, err := reading.Status(w.names)
		switch {
		case err != nil:
			w.violate("drain", "%v", err)
		case status.Drained():
			w.over = true
			w.trace("drained")
			w.checkDrained()
		default:
			w.leap()
			w.after(w.between(0, w.pollInterval()/8), w.watch)
		}
	}
	next(0)
}

func (w *world) left() string {
	status, err := w.status()
	if err != nil {
		return err.Error()
	}
	return status.Left()
}

// status reads the whole status of the crawl in one moment.
func (w *world) status() (status.Status, error) {
	r := newReading()
	for _, step := range slices.Concat(w.readCommits(), w.readEnds()) {
		step(r)
	}
	w.readBefore(r)
	w.readStarts(r)
	w.readGauges(r)
	return r.Status(w.names)
}

func newReading() *status.Sample {
	return &status.Sample{Commits: map[topics.Stage]status.Offsets{}, Starts: status.Offsets{}, Ends: status.Offsets{}}
}

func set(o status.Offsets, at topicPartition, offset int64) {
	if o[at.topic] == nil {
		o[at.topic] = map[int32]int64{}
	}
	o[at.topic][at.partition] = offset
}

func (w *world) readBefore(r *status.Sample) {
	r.Before = map[int32]int64{}
	for p := range w.partitions {
		r.Before[p] = w.cluster.log(w.names.Scheduled, p).highWatermark
	}
}

// readCommits reads the commits of one group after another.
func (w *world) readCommits() (steps []func(*status.Sample)) {
	for _, stage := range topics.Stages() {
		steps = append(steps, func(r *status.Sample) {
			r.Commits[stage] = status.Offsets{}
			for at, next := range w.cluster.groups[stage].commits {
				set(r.Commits[stage], at, next)
			}
		})
	}
	w.shuffle(steps)
	return steps
}

// readEnds reads the ends of one topic after another, in any order.
func (w *world) readEnds() (steps []func(*status.Sample)) {
	for _, stage := range topics.Stages() {
		for _, topic := range w.names.Inputs(stage) {
			steps = append(steps, func(r *status.Sample) {
				for p := range w.partitions {
					l := w.cluster.log(topic, p)
					set(r.Ends, l.topicPartition, l.highWatermark)
				}
			})
		}
	}
	w.shuffle(steps)
	return steps
}

func (w *world) shuffle(steps []func(*status.Sample)) {
	w.rng.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
}

func (w *world) readStarts(r *status.Sample) {
	for _, at := range w.cluster.partitions {
		set(r.Starts, at, w.cluster.logs[at].start)
	}
}

func (w *world) readGauges(r *status.Sample) {
	for p := range w.partitions {
		l := w.cluster.log(w.names.Scheduled, p)
		last, err := l.lastDecision(r.Ends[l.topic][p])
		gauges := last.GetGauges()
		if err != nil {
			if !errors.Is(err, errUnclean) {
				w.violate("drain", "%v", err)
			}
			gauges = &weftpb.Gauges{Pending: 1} // not known
		}
		r.Gauges = append(r.Gauges, gauges)
	}
}
