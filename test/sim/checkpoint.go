package sim

import (
	"time"

	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/test/memstore"
)

// checkpoint is a published checkpoint on a process's disk.
type checkpoint struct {
	store   *memstore.Store
	folded  ledger.Folded
	damaged bool
}

// saver makes and publishes a table's checkpoints, when ledger.Saving says so.
type saver struct {
	*ledger.Saving
	copied *checkpoint // waits for its last event to be acknowledged
}

const checkpointEvery = 3 * time.Second

// usable returns the published checkpoint, if it can be used. One that cannot be used
// is deleted: once the ledger is longer than it says, it might seem to fit.
func (t *table) usable() *checkpoint {
	at := t.at(t.def.Ledger)
	c := t.instance.proc.disk[at]
	if c == nil {
		return nil
	}
	if offset := c.folded.Offset; c.damaged || offset >= t.ledger().highWatermark || !c.folded.Fits(t.ledger().records[offset].value) {
		delete(t.instance.proc.disk, at)
		return nil
	}
	return c
}

// maybeSave does the next step of a checkpoint, if one is due.
func (t *table) maybeSave() {
	if t.live {
		t.save(t.saver.Next(t.instance.proc.mono(), t.core.Folded().Offset, t.acked()))
	}
}

// saveLast publishes the state as it is. All events must be acknowledged.
func (t *table) saveLast() {
	for {
		step := t.saver.Final(t.core.Folded().Offset, t.acked())
		if step == ledger.SaveNothing {
			return
		}
		t.save(step)
	}
}

// acked is the offset up to which events are acknowledged.
func (t *table) acked() int64 {
	if t.w.bug("checkpoint-early") {
		return t.core.Folded().Offset
	}
	return t.writer.Acked()
}

func (t *table) save(step ledger.SaveStep) {
	switch step {
	case ledger.SaveCopy:
		t.saver.copied = &checkpoint{store: t.store.Clone(), folded: t.core.Folded()}
		t.saver.Copied(t.saver.copied.folded.Offset)
		if t.w.bug("checkpoint-early") {
			t.maybeSave()
		}
	case ledger.SavePublish:
		c, at := t.saver.copied, t.at(t.def.Ledger)
		t.saver.Published(t.instance.proc.mono())
		t.instance.proc.disk[at] = c
		t.w.trace("%s publishes a checkpoint of %v at %d", t.instance.name, at, c.folded.Offset)
		t.w.published(t.stage, at, c)
	}
}
