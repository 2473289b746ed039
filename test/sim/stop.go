package sim

import (
	"math"
	"time"

	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/topics"
)

// stop ends a process in good order, as Ctrl-C and weft stop do: fetch begins
// nothing new, then the scheduler settles what was reported, then the other
// stages end. Then done is called, unless the process is killed meanwhile.
func (p *process) stop(done func()) {
	if !p.up || p.ending {
		return
	}
	p.ending = true
	p.w.trace("%s is to end", p.name)
	if s := p.shells[topics.Fetch]; s != nil {
		s.stop()
	}
	p.wait(func() bool { return p.instances[topics.Fetch] == nil }, p.w.now+time.Hour, func() {
		p.wait(p.settled, p.w.now+settleTimeout, func() {
			for _, name := range p.w.stagesOf(p) {
				if s := p.shells[name]; s != nil {
					s.stop()
				}
			}
			p.wait(func() bool { return len(p.instances) == 0 }, p.w.now+time.Hour, func() {
				p.up, p.ending = false, false
				p.w.trace("%s has ended", p.name)
				done()
			})
		})
	})
}

const (
	// settleTimeout bounds the wait for the scheduler at the end of a process.
	settleTimeout = 6 * time.Second
	// requestTimeout bounds the wait of fetch for the requests in flight.
	requestTimeout = 3 * time.Second
)

// drainDeadline is when a stage that ends now stops waiting for work that it has begun.
func (w *world) drainDeadline() time.Duration { return w.now + stage.DrainTimeout }

// wait calls then once done returns true, or at the deadline, while the process
// is ending.
func (p *process) wait(done func() bool, deadline time.Duration, then func()) {
	w := p.w
	switch {
	case !p.ending:
	case p.frozenUntil > w.now:
		w.at(p.frozenUntil, func() { p.wait(done, deadline, then) })
	case done() || w.now >= deadline:
		then()
	default:
		w.after(50*time.Millisecond, func() { p.wait(done, deadline, then) })
	}
}

// settled tells whether the scheduler has read all that was reported.
func (p *process) settled() bool {
	if p.instances[topics.Schedule] == nil || p.paused(topics.Schedule) {
		return true
	}
	w := p.w
	for partition := range w.partitions {
		l := w.cluster.log(w.names.Visited, partition)
		if w.cluster.groups[topics.Schedule].committed(l.topicPartition) < l.highWatermark {
			return false
		}
	}
	return true
}

// leave ends an instance gracefully, after its commits have arrived.
func (i *instance) leave() {
	arrived := func() bool { return i.member == nil || i.member.pendingCommits == 0 }
	i.wait(arrived, time.Millisecond, math.MaxInt64, func() {
		if i.member != nil {
			i.member.leave()
		}
		for name, other := range i.proc.instances {
			if other == i {
				i.proc.endStage(name)
			}
		}
	})
}
