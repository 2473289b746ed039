package sim

import (
	"time"

	"github.com/weftcrawl/weft/frontier/memstore"
	"github.com/weftcrawl/weft/ledger"
)

// saved is a published checkpoint on a process's disk.
type saved struct {
	store   *memstore.Store
	folded  ledger.Folded
	damaged bool
}

// saver makes and publishes a table's checkpoints, by the rules of package
// ledger's.
type saver struct {
	last   time.Duration
	copied *saved // waits for its last event to be acknowledged
}

const checkpointEvery = 3 * time.Second

// checkpoint returns the published one if it can be used. One that cannot is
// discarded: once the ledger has grown beyond it, it might seem to fit.
func (t *table) checkpoint() *saved {
	at := t.at(t.def.Ledger())
	c := t.life.proc.disk[at]
	if c == nil {
		return nil
	}
	if offset := c.folded.Offset; c.damaged || offset >= t.ledger().seen || !c.folded.Fits(t.ledger().records[offset].value) {
		delete(t.life.proc.disk, at)
		return nil
	}
	return c
}

// maybeSave copies the state when its checkpoint is old, and publishes a copy
// whose events are acknowledged.
func (t *table) maybeSave() {
	switch {
	case !t.live:
	case t.saver.copied != nil:
		t.publish()
	case t.w.now-t.saver.last >= checkpointEvery:
		t.copy()
		if t.w.bug(BugCheckpointEarly) {
			t.publish()
		}
	}
}

func (t *table) copy() { t.saver.copied = &saved{store: t.store.Clone(), folded: t.core.Folded()} }

func (t *table) publish() {
	c := t.saver.copied
	if t.writer.Acked() < c.folded.Offset && !t.w.bug(BugCheckpointEarly) {
		return
	}
	t.saver.copied, t.saver.last = nil, t.w.now
	at := t.at(t.def.Ledger())
	if old := t.life.proc.disk[at]; old != nil && old.folded.Offset == c.folded.Offset {
		return
	}
	t.life.proc.disk[at] = c
	t.w.trace("%s publishes a checkpoint of %v at %d", t.life.name, at, c.folded.Offset)
	t.w.published(t.stage, at, c)
}

// save publishes the state as it is; everything is acknowledged.
func (t *table) save() {
	t.copy()
	t.publish()
}
