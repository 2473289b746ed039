package sim

import (
	"slices"
	"time"

	"github.com/weftcrawl/weft/topics"
)

// strike lets a fault happen.
func (w *world) strike(f Fault) {
	p := w.procs[f.Process%len(w.procs)]
	l := w.cluster.logs[w.targets(f.Kind)[f.Place%len(w.targets(f.Kind))]]
	w.trace("fault: %s process %s place %v for %v", f.Kind, p.name, l.place, f.For)
	until := w.now + f.For
	switch f.Kind {
	case KillProcess:
		if p.up {
			p.crash(f.For)
		}
	case KillStage:
		roles := w.roles(p)
		name := roles[f.Place%len(roles)]
		p.endStage(name)
		w.after(time.Second, func() { p.restart(name) })
	case Pause:
		p.until = max(p.until, until)
	case Unclean:
		w.cluster.unclean(l, f.For)
	case Away:
		l.away = until
	case Reject:
		l.rejecting, l.rate = until, f.Rate
	case Forget:
		l.forgetting, l.rate = until, f.Rate
	case Repeat:
		l.repeating, l.rate = until, f.Rate
	case Stranger:
		w.intrude(l, until, f.Rate)
	case AwayThenKill:
		l.away = until
		if p.up {
			w.at(until-f.For/8, func() { w.strike(Fault{Kind: KillProcess, Process: f.Process, For: time.Second}) })
		}
	case Sluggish:
		for _, stage := range topics.Stages() {
			w.cluster.groups[w.names.Group(stage)].sluggish = until
		}
		w.at(w.now+f.For/3, func() { p.until = max(p.until, w.now+f.For/2) })
	case PowerCut:
		if p.up {
			p.crash(f.For)
			w.cluster.powerCut(f.Rate)
			w.lossy = true
		}
	case ClockJump:
		p.skew += f.For
	case DamageCheckpoint:
		for _, c := range p.disk {
			c.damaged = true
		}
	case LoseCheckpoint:
		clear(p.disk)
	case DiskFull:
		p.hold.Store(true)
		w.at(until, func() { p.hold.Store(false) })
	case Hold:
		w.hold(holdStages(f.Place), f.For)
	case Stop:
		p.stop(func() { w.after(f.For, p.boots) })
	case Drain:
		w.drain(f.For)
	case Rebalance:
		stages := topics.Stages()
		g := w.cluster.groups[w.names.Group(stages[f.Place%len(stages)])]
		g.prepare()
	}
}

// targets are the partitions that a kind of fault may happen to. Records are
// only written twice to transient topics: ledgers have idempotent producers. Nobody is
// a stranger to seeds: what is written there is asked for.
func (w *world) targets(k Kind) []place {
	return slices.DeleteFunc(slices.Clone(w.cluster.places), func(at place) bool {
		topic, _ := w.names.Topic(at.topic)
		return topic.Kept == topics.Days || topic.Single || k == Repeat && topic.Kept != topics.Consumed || k == Stranger && at.topic == w.names.Seeds
	})
}

// end of a fault; none outlives it.
func (f Fault) end() time.Duration {
	if f.Kind == ClockJump {
		return f.At
	}
	return f.At + f.For
}
