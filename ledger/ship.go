package ledger

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// shipment is a published checkpoint on its way to a bucket.
type shipment struct {
	place
	checkpoint checkpoint
	dir        string // of its files, which are links and its own
	sums       sums   // of the store that it is a copy of
	log        source
	observe    func(kind string)
}

// errSuperseded means that the bucket holds a valid checkpoint beyond ours:
// another process owns the partition.
var errSuperseded = errors.New("a later owner has sent a checkpoint")

// ship hands a published checkpoint to the remote, if there is one. Only the links are
// made here. If that fails, the partition goes on.
func (t *table) ship(c checkpoint) {
	remote := t.run.opts.Remote
	if remote == nil {
		return
	}
	dir := filepath.Join(t.dir, fmt.Sprintf("%s%d", sendingDir, c.Offset))
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		err = cloneFiles(filepath.Join(t.dir, c.Dir), dir)
	}
	if err != nil {
		t.observe(IncidentUnsent)
		t.run.log.Warn("a checkpoint cannot be sent", "partition", t.partition, "error", errors.Join(err, os.RemoveAll(dir)))
		return
	}
	remote.offer(&shipment{
		place: t.place(), checkpoint: c, dir: dir, sums: t.saver.sums,
		log: t.run.source(t.run.Ledger, t.partition), observe: t.observe,
	})
}

func (t *table) place() place {
	return place{t.run.opts.Remote.bucket, t.run.cluster, t.run.Ledger, t.run.ledgerID, t.partition}
}

// sums are the checksums of a store's tables by name. A store does not use a name
// twice, but another store in the same directory may use it again. Only the
// goroutine that sends uses sums.
type sums map[string]string

// of returns the SHA-256 of a file. It checks a table that it has not seen, because
// a damaged table would make every later checkpoint useless.
func (s sums) of(dir, name string) (string, error) {
	if sum := s[name]; sum != "" {
		return sum, nil
	}
	path := filepath.Join(dir, name)
	if err := checkTable(path); err != nil {
		return "", err
	}
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read checkpoint: %w", err)
	}
	defer file.Close()
	digest := sha256.New()
	if _, err := io.Copy(digest, file); err != nil {
		return "", fmt.Errorf("read checkpoint: %w", err)
	}
	sum := hex.EncodeToString(digest.Sum(nil))
	if filepath.Ext(name) == tableExt {
		s[name] = sum
	}
	return sum, nil
}

// send puts into the bucket what it lacks of the checkpoint, the manifest last, and
// removes what is no longer needed.
func (s *shipment) send(ctx context.Context) error {
	have, err := s.list(ctx)
	if err != nil {
		return err
	}
	if err := s.yield(ctx, have); err != nil {
		return err
	}
	m := manifest{Checkpoint: s.checkpoint, Cluster: s.cluster, Partition: s.partition, Objects: map[string]string{}}
	m.Checkpoint.Dir = "" // it has a meaning on this machine only
	for name, size := range s.checkpoint.Files {
		sum, err := s.sums.of(s.dir, name)
		if err != nil {
			return err
		}
		m.Objects[name] = sum
		if got, ok := have.objects[sum]; ok && got == size {
			continue
		}
		if err := s.put(ctx, name, sum, size); err != nil {
			return err
		}
		have.objects[sum] = size // files may be alike
	}
	raw, err := seal(m)
	if err != nil {
		return err
	}
	if err := s.bucket.Put(ctx, s.key(manifestsDir, m.name()), bytes.NewReader(raw), int64(len(raw))); err != nil {
		return err
	}
	return s.tidy(ctx, m)
}

func (s *shipment) put(ctx context.Context, name, sum string, size int64) error {
	file, err := os.Open(filepath.Join(s.dir, name))
	if err != nil {
		return fmt.Errorf("read checkpoint: %w", err)
	}
	defer file.Close()
	return s.bucket.Put(ctx, s.key(objectsDir, sum), file, size)
}

// yield returns errSuperseded when the bucket holds a checkpoint beyond ours that fits
// the ledger. A checkpoint beyond ours that does not fit is of an end that the log
// has lost. It is removed, because it would seem the newest for long.
func (s *shipment) yield(ctx context.Context, have inventory) error {
	for _, name := range have.manifests {
		if offsetOf(name) <= s.checkpoint.Offset {
			return nil
		}
		_, err := s.read(ctx, name, have, s.log)
		switch {
		case err == nil:
			return errSuperseded
		case !errors.Is(err, errNoCheckpoint):
			return err
		}
		if err := s.bucket.Delete(ctx, s.key(manifestsDir, name)); err != nil {
			return err
		}
	}
	return nil
}

// tidy checks that m is complete, keeps the newest usable checkpoint before it and
// those that are pinned, and removes the others and the objects that only they need.
// Manifests are removed first: then nothing refers to their objects.
func (s *shipment) tidy(ctx context.Context, m manifest) error {
	have, err := s.list(ctx)
	if err != nil {
		return err
	}
	if _, err := s.read(ctx, m.name(), have, s.log); err != nil {
		return fmt.Errorf("list the checkpoints that were sent: %w", err)
	}
	needed := map[string]bool{}
	before := 0 // usable ones
	for _, name := range have.manifests {
		kept := m
		if name != m.name() {
			if kept, err = s.read(ctx, name, have, s.log); err != nil && !errors.Is(err, errNoCheckpoint) {
				return err
			}
			pinned := err == nil && slices.Contains(have.pins, name)
			if err != nil || before > 0 && !pinned {
				if err := s.bucket.Delete(ctx, s.key(manifestsDir, name)); err != nil {
					return err
				}
				continue
			}
			before++
		}
		for _, sum := range kept.Objects {
			needed[sum] = true
		}
	}
	for sum := range have.objects {
		if !needed[sum] {
			if err := s.bucket.Delete(ctx, s.key(objectsDir, sum)); err != nil {
				return err
			}
		}
	}
	return nil
}
