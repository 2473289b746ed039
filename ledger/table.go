package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lovoo/goka/storage"
)

// table is the shell of one partition of a ledger in goka: its core, its writer
// and its store on disk. It is the storage that goka opens, sets and closes.
//
// goka's partition goroutine calls Set and what the processor's callbacks call;
// the ticks' goroutine calls due, and the group's Setup runs before either. mu
// keeps them apart; it is never held while waiting for the network.
type table struct {
	run       *runner
	partition int32
	dir       string

	mu         sync.Mutex
	*Partition // nil before Open
	store      *disk
	writer     *Writer
	session    commits // where acknowledged positions are committed
	closed     bool

	ticking atomic.Int64 // ticks that are not answered yet
	saver   saver
}

// Open makes the scratch store from the published checkpoint.
func (t *table) Open() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := os.MkdirAll(t.dir, 0o755); err != nil {
		return fmt.Errorf("make state directory: %w", err)
	}
	log, err := t.run.bounds(t.partition)
	if err != nil {
		return err
	}
	c, err := readCheckpoint(t.dir, t.run.ledgerID)
	if err == nil {
		err = c.fits(t.run.life, t.run.source(t.partition))
	}
	if errors.Is(err, errNoCheckpoint) {
		// Once the ledger has grown beyond it, it might seem to fit.
		err = errors.Join(err, discardCheckpoint(t.dir))
	}
	c, err = t.newest(c, err, log)
	switch {
	case errors.Is(err, errNoCheckpoint):
		t.run.log.Info("state is rebuilt from the ledger", "partition", t.partition, "because", err)
		c = checkpoint{Offset: -1}
	case err != nil:
		return err
	}
	if err := Reaches(t.run.ledger, t.partition, log.Start, c.Offset+1); err != nil {
		return t.run.judge(err)
	}
	scratch, err := makeScratch(t.dir, c.Dir)
	if err != nil {
		return err
	}
	if t.store, err = openStore(scratch, t.run.cache, uint64(t.run.opts.MemtableBytes)); err != nil {
		if mayBeDamaged(err) {
			err = errors.Join(err, discardCheckpoint(t.dir))
		}
		return err
	}
	t.saver = saver{Saving: NewSaving(t.run.opts.CheckpointEvery, t.run.opts.Clock())}
	t.Partition, err = NewPartition(t.run.Definition, t.partition, t.store, c.folded(), PartitionOptions{
		CarryEvery: t.run.opts.CarryEvery, CarryIdle: t.run.opts.CarryIdle,
		Observe:    func(kind string) { t.run.opts.Observe(Happening{Kind: kind, Partition: t.partition}) },
		PassedOver: t.run.strangers.tell(t.run.log, t.partition, t.run.opts.Clock),
	})
	return err
}

// fold applies the record at offset. goka's recovery and the claim call it.
func (t *table) fold(key string, raw []byte, offset int64) error {
	if err := t.foldGap(offset); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.judge(t.Fold(key, raw, offset))
}

// judge looks at what stopped the partition: a checkpoint that was found damaged
// is not opened again.
func (t *table) judge(err error) error {
	if err == nil {
		return nil
	}
	if t.store.damaged() {
		err = errors.Join(err, discardCheckpoint(t.dir))
	}
	return t.run.judge(err)
}

// Set folds the event that the processor is about to append. It never returns
// an error, since goka would commit the input when that happens during
// shutdown: it poisons the writer, and the append that follows fails.
func (t *table) Set(key string, raw []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.FoldNext(key, raw, t.run.opts.Clock()); err != nil {
		t.writer.Poison(t.judge(err))
	}
	return nil
}

// due returns the keys that a tick has something to do for.
func (t *table) due() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || t.Partition == nil {
		return nil
	}
	return t.Due(t.run.opts.Clock())
}

// Close flushes the writer and publishes a last checkpoint.
func (t *table) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil
	}
	t.closed = true
	var errs []error
	if t.writer != nil {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		err := t.writer.Flush(ctx)
		cancel()
		if errors.Is(t.writer.Err(), ErrFenced) { // the flush may be what shows the other owner
			t.run.rejoin()
		}
		if err == nil && t.live {
			err = t.saveLast(t.run.opts.Clock())
		}
		errs = append(errs, err)
		t.writer.Close()
	}
	if t.Partition != nil {
		t.Partition.Close()
	}
	if t.store != nil {
		errs = append(errs, t.store.close())
	}
	errs = append(errs, os.RemoveAll(filepath.Join(t.dir, scratchDir)))
	t.run.forget(t)
	return errors.Join(errs...)
}

// closeTimeout bounds the last flush; what it loses is decided again.
const closeTimeout = 10 * time.Second

// The rest of goka's storage: tables hold no values by key, and offsets are
// those of the fold.

func (t *table) Has(string) (bool, error)   { return false, nil }
func (t *table) Get(string) ([]byte, error) { return nil, nil }
func (t *table) Delete(string) error        { return errors.New("ledger: events are not deleted") }
func (t *table) SetOffset(int64) error      { return nil }
func (t *table) MarkRecovered() error       { return nil }

func (t *table) Iterator() (storage.Iterator, error) { return nil, errNoKeys }
func (t *table) IteratorWithRange(_, _ []byte) (storage.Iterator, error) {
	return nil, errNoKeys
}

var errNoKeys = errors.New("ledger: tables hold no values by key")

// GetOffset returns the offset of the last folded event.
func (t *table) GetOffset(none int64) (int64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.Partition == nil || t.folded < 0 {
		return none, nil
	}
	return t.folded, nil
}
