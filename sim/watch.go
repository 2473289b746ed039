package sim

import (
	"errors"
	"slices"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/drain"
	"github.com/weftcrawl/weft/topics"
)

// watch reads the crawl's status again and again, in the four steps of the
// drained test with others' steps between them, and ends the run when the test
// says so. What the test says is judged.
func (w *world) watch() {
	reading := &drain.Reading{Commits: map[topics.Stage]drain.Offsets{}, Ends: drain.Offsets{}}
	commits, ends := w.readCommits(), w.readEnds()
	before := []func(*drain.Reading){w.readBefore}
	switch {
	case w.bug(BugDrainEndsFirst):
		commits, ends = ends, commits
	case w.bug(BugDrainWithoutBefore):
		before = nil
		ends = append(ends, func(r *drain.Reading) { r.Before = r.Ends[w.names.Scheduled] })
	}
	steps := slices.Concat(before, commits, []func(*drain.Reading){w.readStarts}, ends, []func(*drain.Reading){w.readGauges})
	pace := w.between(time.Millisecond, 200*time.Millisecond)
	if w.chance(2) {
		pace *= 10 // brokers may take their time
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
			w.judgeEnd()
		default:
			w.after(w.rhythm()/2, w.watch)
		}
	}
	next(0)
}

// left says what keeps the crawl from being drained.
func (w *world) left() string {
	status, err := w.status()
	if err != nil {
		return err.Error()
	}
	return status.Left()
}

// status reads all of the crawl's status in one moment.
func (w *world) status() (drain.Status, error) {
	r := &drain.Reading{Commits: map[topics.Stage]drain.Offsets{}, Ends: drain.Offsets{}}
	for _, step := range slices.Concat(w.readCommits(), w.readEnds()) {
		step(r)
	}
	w.readBefore(r)
	w.readStarts(r)
	w.readGauges(r)
	return r.Status(w.names)
}

func (w *world) readBefore(r *drain.Reading) {
	r.Before = map[int32]int64{}
	for p := range w.partitions {
		r.Before[p] = w.cluster.log(w.names.Scheduled, p).seen
	}
}

// readCommits reads the commits of one group after another.
func (w *world) readCommits() (steps []func(*drain.Reading)) {
	for _, stage := range topics.Stages() {
		steps = append(steps, func(r *drain.Reading) {
			offsets := drain.Offsets{}
			for at, next := range w.cluster.groups[w.names.Group(stage)].commits {
				if offsets[at.topic] == nil {
					offsets[at.topic] = map[int32]int64{}
				}
				offsets[at.topic][at.partition] = next
			}
			r.Commits[stage] = offsets
		})
	}
	w.shuffle(steps)
	return steps
}

// readEnds reads the ends of one topic after another, in any order.
func (w *world) readEnds() (steps []func(*drain.Reading)) {
	for _, stage := range topics.Stages() {
		for _, topic := range w.names.Inputs(stage) {
			steps = append(steps, func(r *drain.Reading) {
				r.Ends[topic] = map[int32]int64{}
				for p := range w.partitions {
					r.Ends[topic][p] = w.cluster.log(topic, p).seen
				}
			})
		}
	}
	w.shuffle(steps)
	return steps
}

func (w *world) shuffle(steps []func(*drain.Reading)) {
	w.rng.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
}

func (w *world) readStarts(r *drain.Reading) {
	r.Starts = drain.Offsets{}
	for _, at := range w.cluster.places {
		if r.Starts[at.topic] == nil {
			r.Starts[at.topic] = map[int32]int64{}
		}
		r.Starts[at.topic][at.partition] = w.cluster.logs[at].start
	}
}

func (w *world) readGauges(r *drain.Reading) {
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
