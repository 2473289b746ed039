package ledger

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// saver makes and publishes a partition's checkpoints when Saving says so.
type saver struct {
	*Saving
	copied checkpoint // the copy that waits to be published
	sums   sums       // of the store's tables, for what is sent
}

// maybeSave does what is due about the checkpoint, unless the writer has failed.
func (t *table) maybeSave() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.writer.Err(); err != nil {
		return err
	}
	now := time.Now()
	return t.save(t.saver.Next(now, t.folded, t.writer.Acked()), now)
}

// saveLast publishes the state as it is. Everything must be acknowledged.
func (t *table) saveLast(now time.Time) error {
	for {
		step := t.saver.Final(t.folded, t.writer.Acked())
		if err := t.save(step, now); err != nil || step == SaveNothing {
			return err
		}
	}
}

func (t *table) save(step SaveStep, now time.Time) error {
	switch step {
	case SaveCopy:
		return t.copyState()
	case SavePublish:
		return t.publish(now)
	}
	return nil
}

// copyState copies the state as of the last folded event. The copy counts only
// once it is published.
func (t *table) copyState() error {
	at := t.Folded()
	name := fmt.Sprintf("copy-%d", at.Offset)
	path := filepath.Join(t.dir, name)
	if err := os.RemoveAll(path); err != nil { // an earlier life may have left one
		return fmt.Errorf("remove old copy: %w", err)
	}
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
	t.saver.copied = checkpoint{
		Version: checkpointVersion, Ledger: t.run.ledgerID, Dir: name,
		Offset: at.Offset, Epoch: at.Epoch, Positions: at.Positions, Strangers: at.Strangers, Record: at.Record,
		Files: files, Sums: sums,
	}
	t.saver.Copied(at.Offset)
	return nil
}

func (t *table) publish(now time.Time) error {
	c := t.saver.copied
	if err := c.publish(t.dir); err != nil {
		return err
	}
	t.ship(c)
	t.observe(IncidentCheckpoint)
	t.saver.Published(now)
	return nil
}
