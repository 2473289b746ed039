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

// saver makes and publishes a table's checkpoints, when ledger.Saving says so.
type saver struct {
	*ledger.Saving
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

// maybeSave does what is due about the checkpoint.
func (t *table) maybeSave() {
	if t.live {
		t.save(t.saver.Next(t.life.proc.mono(), t.core.Folded().Offset, t.acked()))
	}
}

// saveLast publishes the state as it is; everything is acknowledged.
func (t *table) saveLast() {
	for {
		step := t.saver.Final(t.core.Folded().Offset, t.acked())
		if step == ledger.SaveNothing {
			return
		}
		t.save(step)
	}
}

// acked is how far events are acknowledged.
func (t *table) acked() int64 {
	if t.w.bug(BugCheckpointEarly) {
		return t.core.Folded().Offset
	}
	return t.writer.Acked()
}

func (t *table) save(step ledger.SaveStep) {
	switch step {
	case ledger.SaveCopy:
		t.saver.copied = &saved{store: t.store.Clone(), folded: t.core.Folded()}
		t.saver.Copied(t.saver.copied.folded.Offset)
		if t.w.bug(BugCheckpointEarly) {
			t.maybeSave()
		}
	case ledger.SavePublish:
		c, at := t.saver.copied, t.at(t.def.Ledger())
		t.saver.Published(t.life.proc.mono())
		t.life.proc.disk[at] = c
		t.w.trace("%s publishes a checkpoint of %v at %d", t.life.name, at, c.folded.Offset)
		t.w.published(t.stage, at, c)
	}
}
