package sim

import (
	"errors"
	"time"

	"github.com/weftcrawl/weft/topics"
)

// stop ends a process in good order, as Ctrl-C and weft stop do: first nothing
// new is fetched, then the scheduler settles what was reported, then the other
// stages end. When it is over, done is called, unless the process is killed
// meanwhile.
func (p *process) stop(done func()) {
	if !p.up || p.ending {
		return
	}
	p.ending = true
	p.w.trace("%s is to end", p.name)
	if s := p.stages[topics.Fetch]; s != nil {
		s.stop()
	}
	p.await(func() bool { return p.lives[topics.Fetch] == nil }, p.w.now+time.Hour, func() {
		p.await(p.settled, p.w.now+settleTimeout, func() {
			for _, name := range p.w.roles(p) {
				if s := p.stages[name]; s != nil {
					s.stop()
				}
			}
			p.await(func() bool { return len(p.lives) == 0 }, p.w.now+time.Hour, func() {
				p.up, p.ending = false, false
				p.w.trace("%s has ended", p.name)
				done()
			})
		})
	})
}

// settleTimeout bounds the wait for the scheduler at the end of a process, and
// drainTimeout that of a stage for what it has begun.
const (
	settleTimeout = 6 * time.Second
	drainTimeout  = 8 * time.Second
	restTimeout   = 3 * time.Second
)

// await looks again and again whether something is so, and goes on when it is,
// or the time is over.
func (p *process) await(so func() bool, until time.Duration, then func()) {
	w := p.w
	switch {
	case !p.ending:
	case p.until > w.now:
		w.at(p.until, func() { p.await(so, until, then) })
	case so() || w.now >= until:
		then()
	default:
		w.after(50*time.Millisecond, func() { p.await(so, until, then) })
	}
}

// settled tells whether the scheduler knows what was reported to it.
func (p *process) settled() bool {
	if p.lives[topics.Schedule] == nil || p.paused(topics.Schedule) {
		return true
	}
	w := p.w
	for partition := range w.partitions {
		l := w.cluster.log(w.names.Visited, partition)
		if w.cluster.groups[w.names.Group(topics.Schedule)].committed(l.place) < l.seen {
			return false
		}
	}
	return true
}

// leave ends a life in good order, once its commits have arrived.
func (l *life) leave() {
	if l.member != nil && l.member.on > 0 {
		l.after(time.Millisecond, l.leave)
		return
	}
	if l.member != nil {
		l.member.leave()
	}
	for name, other := range l.proc.lives {
		if other == l {
			l.proc.endStage(name)
		}
	}
}

// drain is what weft stop --drain does: nothing new is released, and when
// nothing is under way for a second the processes end. If that does not come,
// the crawl goes on.
func (w *world) drain(away time.Duration) {
	w.ask(func(c topics.Control) topics.Control { c.Draining = true; return c })
	goOn := func() { w.ask(func(c topics.Control) topics.Control { c.Draining = false; return c }) }
	deadline, quiet := w.now+drainPatience, time.Duration(-1)
	var look func()
	look = func() {
		status, err := w.status()
		switch {
		case errors.Is(err, errUnclean):
		case err != nil:
			w.violate("drain", "%v", err)
			return
		case status.InFlight() != "":
			quiet = -1
		case quiet < 0:
			quiet = w.now
		}
		switch {
		case w.now > deadline:
			goOn()
		case quiet >= 0 && w.now-quiet >= time.Second:
			w.trace("nothing is under way any more")
			w.count("drained")
			w.judgeQuiet()
			goOn() // an order to end ends the draining too
			for _, p := range w.procs {
				p.stop(func() { w.after(away, p.boots) })
			}
		default:
			w.after(200*time.Millisecond, look)
		}
	}
	look()
}

// drainPatience is how long people wait for nothing to be under way.
const drainPatience = 20 * time.Second
