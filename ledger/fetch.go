package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// newest returns the checkpoint to recover from: the local one, or a newer one of the bucket,
// which it publishes here. If a checkpoint in the bucket cannot be used, the one before it is
// tried. why is the error if there is no local checkpoint.
func (t *table) newest(local checkpoint, why error, log Bounds) (checkpoint, error) {
	remote := t.run.opts.Remote
	if remote == nil {
		return local, why
	}
	if err := remote.sweep(t.dir); err != nil {
		return local, err
	}
	from := int64(-1)
	if why == nil {
		from = local.Offset
	}
	trouble := func(err error) (checkpoint, error) {
		if err != nil && Reaches(t.run.Ledger, t.partition, log.Start, from+1) != nil {
			return checkpoint{}, fmt.Errorf("look for a checkpoint in %s: %w", remote.bucket, err) // try again
		}
		return local, why
	}
	have, err := t.place().list(t.run.life)
	if err != nil {
		t.passOver("", err)
		return trouble(err)
	}
	var unknown error // of checkpoints that may be usable
	for _, name := range have.manifests {
		if offsetOf(name) <= from {
			break
		}
		c, err := t.fetch(name, have)
		if err == nil {
			return c, nil
		}
		t.passOver(name, err)
		if !errors.Is(err, errNoCheckpoint) {
			unknown = errors.Join(unknown, err)
		}
	}
	return trouble(unknown)
}

// fetch downloads a checkpoint and publishes it in the partition's directory.
func (t *table) fetch(name string, have inventory) (checkpoint, error) {
	m, err := t.place().read(t.run.life, name, have, t.run.source(t.run.Ledger, t.partition))
	if err != nil {
		return checkpoint{}, err
	}
	temporary := filepath.Join(t.dir, "fetching")
	c := m.Checkpoint
	c.Dir = fmt.Sprintf("copy-%d", c.Offset)
	err = os.RemoveAll(temporary)
	if err == nil {
		err = t.place().download(t.run.life, m, temporary)
	}
	if err != nil {
		return checkpoint{}, errors.Join(err, os.RemoveAll(temporary))
	}
	// A copy of that name was never published, so nothing uses its directory.
	if err := os.RemoveAll(filepath.Join(t.dir, c.Dir)); err != nil {
		return checkpoint{}, fmt.Errorf("remove an unpublished checkpoint: %w", err)
	}
	if err := os.Rename(temporary, filepath.Join(t.dir, c.Dir)); err != nil {
		return checkpoint{}, fmt.Errorf("take over a checkpoint: %w", err)
	}
	if err := c.publish(t.dir); err != nil {
		return checkpoint{}, err
	}
	t.run.log.Info("a checkpoint was taken from the bucket", "partition", t.partition, "offset", c.Offset)
	t.observe(IncidentFetched)
	return c, nil
}

// passOver logs that a checkpoint of the bucket, or the whole bucket, is not used.
func (t *table) passOver(name string, err error) {
	t.run.log.Warn("a checkpoint in the bucket cannot be used", "partition", t.partition, "checkpoint", name, "because", err)
	t.observe(IncidentPassedOver)
}
