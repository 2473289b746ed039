package sim

import (
	"slices"
	"time"

	"github.com/weftcrawl/weft/topics"
)

// inject makes a fault happen.
func (w *world) inject(f Fault) {
	p := w.procs[f.Process%len(w.procs)]
	l := w.cluster.logs[w.targets(f.Kind)[f.Target%len(w.targets(f.Kind))]]
	w.trace("fault: %s, process %s, partition %v, for %v", f.Kind, p.name, l.topicPartition, f.For)
	until := w.now + f.For
	switch f.Kind {
	case KillProcess:
		if p.up {
			p.crash(f.For)
		}
	case KillStage:
		stages := w.stagesOf(p)
		name := stages[f.Target%len(stages)]
		p.endStage(name)
		w.after(time.Second, func() { p.restart(name) })
	case Freeze:
		p.frozenUntil = max(p.frozenUntil, until)
	case UncleanElection:
		w.cluster.unclean(l, f.For)
	case LeaderAway:
		l.awayUntil = until
	case Reject, LoseAck, WriteTwice:
		l.faultUntil[f.Kind], l.rate = until, f.Rate
	case ForeignWriter:
		w.startForeignWriter(l, until, f.Rate)
	case LeaderAwayThenKill:
		l.awayUntil = until
		if p.up {
			w.at(until-f.For/8, func() { w.inject(Fault{Kind: KillProcess, Process: f.Process, For: time.Second}) })
		}
	case SlowCoordinator:
		for _, g := range w.cluster.groups {
			g.slowUntil = until
		}
		w.at(w.now+f.For/3, func() { p.frozenUntil = max(p.frozenUntil, w.now+f.For/2) })
	case PowerCut:
		if p.up {
			p.crash(f.For)
			w.cluster.powerCut(f.Rate)
			w.lostAcknowledged = true
		}
	case ClockJump:
		p.clockSkew += f.For
	case DamageCheckpoint:
		for _, c := range p.disk {
			c.damaged = true
		}
	case LoseCheckpoint:
		clear(p.disk)
	case DiskFull:
		p.diskLow.Store(true)
		w.at(until, func() { p.diskLow.Store(false) })
	case Outage:
		w.startOutage(f)
	case Storm:
		w.startStorm(f)
	case PauseStages:
		w.pauseStages(stagesToPause(f.Target), f.For)
	case SetDomain:
		w.setDomain(f)
	case Stop:
		p.stop(func() { w.after(f.For, p.boot) })
	case Drain:
		w.drain(f.For)
	case Rebalance:
		stages := topics.Stages()
		w.cluster.groups[stages[f.Target%len(stages)]].prepare()
	}
}

// targets are the partitions that a kind of fault may happen to. Only records of
// transient topics are written twice, because ledgers have idempotent producers. A
// foreign writer leaves seeds alone: every record there is a valid request.
func (w *world) targets(k Kind) []topicPartition {
	return slices.DeleteFunc(slices.Clone(w.cluster.partitions), func(at topicPartition) bool {
		topic, _ := w.names.Topic(at.topic)
		return topic.Kept == topics.OneWeek || topic.Single ||
			k == WriteTwice && topic.Kept != topics.UntilConsumed || k == ForeignWriter && at.topic == w.names.Seeds
	})
}

// end is when the fault is over.
func (f Fault) end() time.Duration {
	if f.Kind == ClockJump {
		return f.At
	}
	return f.At + f.For
}
