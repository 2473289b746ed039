package ledger

import (
	"fmt"
	"path/filepath"
	"time"
)

// saver makes and publishes a partition's checkpoints.
type saver struct {
	dir  string
	last time.Time // when the last checkpoint was published or tried
	// copied is a finished copy that waits for its last event to be
	// acknowledged; nil: none.
	copied *checkpoint
	sums   sums // of the store's tables, for what is sent
}

// copyState copies the state as of the last folded event. The copy counts only
// once it is published.
func (t *table) copyState() error {
	name := fmt.Sprintf("copy-%d", t.folded)
	if t.saver.copied != nil && t.saver.copied.Dir == name {
		return nil
	}
	if c, err := readCheckpoint(t.dir, t.run.ledgerID); err == nil && c.Dir == name {
		return nil // nothing was folded since it was published
	}
	path := filepath.Join(t.dir, name)
	if err := t.store.checkpoint(path); err != nil {
		return err
	}
	files, err := listFiles(path)
	if err != nil {
		return err
	}
	sums, err := sumFiles(path, files)
	if err != nil {
		return err
	}
	at := t.Folded()
	t.saver.copied = &checkpoint{
		Version: checkpointVersion, Ledger: t.run.ledgerID, Dir: name,
		Offset: at.Offset, Epoch: at.Epoch, Positions: at.Positions, Record: at.Record,
		Files: files, Sums: sums,
	}
	return nil
}

// publish publishes the copy once its last event is acknowledged.
func (t *table) publish() error {
	c := t.saver.copied
	if c == nil || t.writer.Acked() < c.Offset {
		return nil
	}
	t.saver.copied = nil
	now := t.run.opts.Clock()
	if err := c.publish(t.dir); err != nil {
		return err
	}
	t.ship(*c)
	t.run.opts.Observe(Happening{Kind: HappenedCheckpoint, Partition: t.partition, Age: now.Sub(t.saver.last)})
	t.saver.last = now
	return nil
}

// save publishes the state as it is; everything must be acknowledged.
func (t *table) save() error {
	if err := t.copyState(); err != nil {
		return err
	}
	return t.publish()
}

// maybeSave copies the state when its checkpoint is old, and publishes a copy
// whose events have been acknowledged meanwhile.
func (t *table) maybeSave(now time.Time) error {
	if t.saver.copied != nil {
		return t.publish()
	}
	if now.Sub(t.saver.last) < t.run.opts.CheckpointEvery {
		return nil
	}
	return t.copyState()
}
