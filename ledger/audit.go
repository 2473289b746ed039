package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/internal/kafka"
)

// Auditor checks checkpoints in a bucket against their ledger. It takes no part
// in the crawl and changes nothing but its pins in the bucket. Owners keep a
// pinned checkpoint until the audit is over.
type Auditor struct {
	Bucket blob.Bucket
	// Client are the options that reach the brokers.
	Client []kgo.Opt
	// Dir is where copies are made; empty: the system's temporary directory.
	Dir string
}

// Audit is what an audit found of two checkpoints of a partition.
type Audit struct {
	// Log is what the ledger holds.
	Log Bounds
	// Older and Newer are what the two newest checkpoints are the folds of.
	Older, Newer Folded
	// Events is how many events between them were folded again, Keys how many keys
	// the result has.
	Events, Keys int64
}

// ErrUncovered means that the bucket does not hold two checkpoints of a partition
// yet.
var ErrUncovered = errors.New("not covered by two checkpoints")

// Audit checks the two newest checkpoints of a partition. Each must be complete, of
// this ledger and within its bounds, undamaged, and must open. The older one, with
// the events that follow it folded in, must equal the newer one key by key. Any
// error but ErrUncovered means that this is not so, or that it could not be checked.
func (a Auditor) Audit(ctx context.Context, proc Processor, partition int32) (_ Audit, err error) {
	p, log, err := a.find(ctx, proc.Ledger, partition)
	if err != nil {
		return Audit{}, err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("checkpoints of %s/%d: %w", proc.Ledger, partition, err)
		}
	}()
	bounds, err := log.bounds(ctx)
	if err != nil {
		return Audit{}, err
	}
	found := Audit{Log: bounds}
	older, newer, err := p.pinTwo(ctx, log)
	if err == nil {
		defer func() { err = errors.Join(err, p.unpin(context.WithoutCancel(ctx))) }()
		found.Older, found.Newer = older.Checkpoint.folded(), newer.Checkpoint.folded()
		err = a.compare(ctx, proc, p, log, older, newer, &found)
	}
	return found, err
}

// find returns a ledger's place in the bucket, and the way to its log.
func (a Auditor) find(ctx context.Context, ledger string, partition int32) (place, source, error) {
	client, err := kafka.NewClient(a.Client...)
	if err != nil {
		return place{}, source{}, err
	}
	defer client.Close()
	cluster, id, err := identify(ctx, client, ledger)
	if err != nil {
		return place{}, source{}, err
	}
	return place{a.Bucket, cluster, ledger, id, partition}, source{a.Client, ledger, partition}, nil
}

func (p place) pinTwo(ctx context.Context, log source) (older, newer manifest, err error) {
	if err := p.unpin(ctx); err != nil { // of an audit that was killed
		return older, newer, err
	}
	have, err := p.list(ctx)
	if err != nil {
		return older, newer, err
	}
	if n := len(have.manifests); n < 2 {
		return older, newer, fmt.Errorf("%w: there are %d", ErrUncovered, n)
	}
	names := have.manifests[:2]
	for _, name := range names {
		if err := p.bucket.Put(ctx, p.key(pinsDir, name), bytes.NewReader(nil), 0); err != nil {
			return older, newer, err
		}
	}
	// An owner that listed the pins before may still remove one of the two. The
	// following reads find that.
	if have, err = p.list(ctx); err == nil {
		if older, err = p.read(ctx, names[1], have, log); err == nil {
			newer, err = p.read(ctx, names[0], have, log)
		}
	}
	if err != nil {
		return older, newer, errors.Join(err, p.unpin(context.WithoutCancel(ctx)))
	}
	return older, newer, nil
}

func (p place) unpin(ctx context.Context) error {
	have, err := p.list(ctx)
	for _, name := range have.pins {
		err = errors.Join(err, p.bucket.Delete(ctx, p.key(pinsDir, name)))
	}
	return err
}

// compare downloads both checkpoints, folds the events between them into the older
// one, and compares the result with the newer one.
func (a Auditor) compare(ctx context.Context, proc Processor, p place, log source, older, newer manifest, found *Audit) (err error) {
	dir, err := os.MkdirTemp(a.Dir, "weft-audit-*")
	if err != nil {
		return fmt.Errorf("make a directory for copies: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	cache := pebble.NewCache(auditCacheBytes)
	defer cache.Unref()
	var stores [2]*disk
	for i, m := range []manifest{older, newer} {
		path := filepath.Join(dir, m.name())
		if err := p.download(ctx, m, path); err != nil {
			return fmt.Errorf("at offset %d: %w", m.Checkpoint.Offset, err)
		}
		if stores[i], err = openStore(path, cache, auditMemtableBytes); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stores[i].close()) }()
	}
	part, err := NewPartition(proc, p.partition, stores[0], found.Older, PartitionOptions{})
	if err != nil {
		return err
	}
	err = log.replay(ctx, found.Older.Offset+1, found.Newer.Offset+1, func(key string, raw []byte, offset int64) error {
		found.Events++
		return part.Fold(key, raw, offset)
	})
	if err != nil {
		return err
	}
	if got := part.Folded(); got.Epoch != found.Newer.Epoch {
		return fmt.Errorf("%w: the claim in force at %d is %d, not %d", errNoCheckpoint, got.Offset, got.Epoch, found.Newer.Epoch)
	}
	if err := stores[0].settle(); err != nil {
		return err
	}
	found.Keys, err = same(stores[0], stores[1])
	return err
}

const (
	auditCacheBytes    = 64 << 20
	auditMemtableBytes = 16 << 20
)

// same counts the keys of two stores if they are the same with the same values.
func same(a, b *disk) (keys int64, err error) {
	left, err := a.db.NewIter(nil)
	if err != nil {
		return 0, fmt.Errorf("compare states: %w", err)
	}
	defer func() { err = errors.Join(err, left.Close()) }()
	right, err := b.db.NewIter(nil)
	if err != nil {
		return 0, fmt.Errorf("compare states: %w", err)
	}
	defer func() { err = errors.Join(err, right.Close()) }()
	more, less := left.First(), right.First()
	for ; more && less; more, less = left.Next(), right.Next() {
		if !bytes.Equal(left.Key(), right.Key()) || !bytes.Equal(left.Value(), right.Value()) {
			return keys, fmt.Errorf("%w: it differs from the replay at key %q", errNoCheckpoint, min(string(left.Key()), string(right.Key())))
		}
		keys++
	}
	if more != less {
		return keys, fmt.Errorf("%w: it differs from the replay after %d keys", errNoCheckpoint, keys)
	}
	return keys, nil
}
