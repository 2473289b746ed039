package ledger

import (
	"context"
	"maps"
)

// behind returns, by topic, the ends of the inputs that are no ledgers as they
// are when a partition begins, or goes on after it was held. Its timers wait
// until the inputs are read so far: what was reported meanwhile must not be
// taken for late. A ledger as input may be far behind, and tells of nothing
// that a timer waits for.
func (k *ticks) behind(ctx context.Context) map[string]int64 {
	run, ends := k.table.run, map[string]int64{}
	if !k.timers {
		return ends
	}
	for _, in := range run.inputs {
		if in.events {
			continue
		}
		b, err := boundsOf(ctx, run.admin, in.topic, k.table.partition)
		if err == nil && b.Start < b.End {
			ends[in.topic] = b.End
		} else if err != nil && ctx.Err() == nil {
			run.log.Warn("timers do not wait for an input", "topic", in.topic, "error", err)
		}
	}
	return ends
}

// left removes from ends the inputs whose position has reached them.
func (t *table) left(ends map[string]int64) map[string]int64 {
	if len(ends) == 0 {
		return ends
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.Partition == nil {
		return ends
	}
	maps.DeleteFunc(ends, func(topic string, end int64) bool {
		at, known := t.position(topic)
		return known && at.Offset >= end-1
	})
	return ends
}
