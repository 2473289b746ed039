package ledger

import (
	"context"
	"maps"
)

// TimersWaitFor are the inputs whose ends, as they are when a partition begins
// or goes on after it was held, its timers wait for (see Partition.CatchUp): all
// but ledgers. One of those may be far behind, and tells of nothing that a timer
// waits for.
func (d Definition) TimersWaitFor() (topics []string) {
	for _, in := range d.inputs {
		if !in.events {
			topics = append(topics, in.topic)
		}
	}
	return topics
}

// CatchUp lets nothing be due until the inputs are read up to these ends: what
// was reported while nobody read it must not be taken for late.
func (p *Partition) CatchUp(ends map[string]int64) { p.behind = maps.Clone(ends) }

// caughtUp tells whether the inputs have been read as far as CatchUp wants.
func (p *Partition) caughtUp() bool {
	maps.DeleteFunc(p.behind, func(topic string, end int64) bool {
		at, known := p.position(topic)
		return known && at.Offset >= end-1
	})
	return len(p.behind) == 0
}

// catchUp asks for the ends of the inputs that timers wait for.
func (k *ticks) catchUp(ctx context.Context) {
	if !k.timers {
		return
	}
	run, ends := k.table.run, map[string]int64{}
	for _, topic := range run.TimersWaitFor() {
		b, err := boundsOf(ctx, run.admin, topic, k.table.partition)
		if err == nil {
			input := run.source(k.table.partition)
			input.topic = topic
			b.End, err = input.lastGiven(ctx, b)
		}
		if err == nil && b.Start < b.End {
			ends[topic] = b.End
		} else if err != nil && ctx.Err() == nil {
			run.log.Warn("timers do not wait for an input", "topic", topic, "error", err)
		}
	}
	k.table.mu.Lock()
	defer k.table.mu.Unlock()
	if k.table.Partition != nil {
		k.table.CatchUp(ends)
	}
}
