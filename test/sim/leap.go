package sim

import (
	"time"

	"github.com/weftcrawl/weft/processors/fetch/hostqueue"
	"github.com/weftcrawl/weft/topics"
)

// leap leaps over time in which nothing happens: all machines wait for the scheduler, and it
// waits for the next time at which a host that is down may be asked. Only crawls with long
// outages need that. For leases, heartbeats and other repeated events no time passes. The
// clocks go on, and the scheduler looks at its clock in steps that are not long enough for
// it to believe that its machine slept.
func (w *world) leap() {
	if w.c.GiveUpAfter == 0 || !w.idle() {
		return
	}
	from := w.now
	for w.now-from < longestLeap && !w.due() {
		step := leapStep
		if w.now-from < preciseLeap {
			step = time.Second
		}
		if w.now+step >= w.nextFixed() {
			break
		}
		w.now += step
	}
	by := w.now - from
	if by == 0 {
		return
	}
	w.leaped += by
	w.putOff(by)
	for _, g := range w.cluster.groups {
		for _, m := range g.members {
			m.lastHeartbeat += by
		}
	}
	w.trace("nothing happens for %v", by)
	w.count("leaps")
}

const (
	leapStep    = 50 * time.Second
	longestLeap = 2 * time.Hour
	// preciseLeap is how long leaps have steps of a second: waits of a minute, as for hosts with a
	// limit, are kept exactly enough.
	preciseLeap = 70 * time.Second
	// idleFor is how long nothing happens before a leap.
	idleFor = 5 * time.Second
)

// idle tells whether nothing happens, and nothing is under way that takes time.
func (w *world) idle() bool {
	if w.now-w.lastActivity < idleFor {
		return false
	}
	for _, f := range w.c.Faults {
		if f.Kind != Outage && f.Kind != Storm && f.At <= w.now && w.now < f.end()+time.Minute {
			return false
		}
	}
	for _, g := range w.cluster.groups {
		if g.preparing {
			return false
		}
	}
	scheduling := int32(0)
	for _, p := range w.procs {
		if !p.up || p.ending || p.frozenUntil > w.now {
			return false
		}
		if f, ok := p.shells[topics.Fetch].(*fetcher); ok && !f.idle() {
			return false
		}
		if o, ok := p.shells[topics.Schedule].(*ledgerStage); ok {
			for _, t := range o.tables {
				if !t.live || t.out.open > 0 {
					return false
				}
				scheduling++
			}
		}
	}
	for p := range w.partitions {
		l := w.cluster.log(w.names.Scheduled, p)
		if last, err := l.lastDecision(l.highWatermark); err != nil || last.GetGauges().GetVisits() > 0 {
			return false
		}
	}
	return scheduling == w.partitions
}

// idle tells whether the fetcher has no visit.
func (f *fetcher) idle() bool {
	for _, q := range f.queues {
		if kind := q.Next(f.instance.proc.mono()).Kind; kind != hostqueue.Idle && kind != hostqueue.Over {
			return false
		}
	}
	return len(f.inFlight)+len(f.inLine)+f.out.open+f.reporter.open == 0
}

// due tells whether the scheduler has something to do now.
func (w *world) due() bool {
	for _, p := range w.procs {
		if o, ok := p.shells[topics.Schedule].(*ledgerStage); ok {
			for _, n := range keys(o.tables) {
				if len(o.tables[n].core.Due(p.wall())) > 0 {
					return true
				}
			}
		}
	}
	return false
}
