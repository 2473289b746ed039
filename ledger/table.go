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
	"github.com/twmb/franz-go/pkg/kgo"
)

// table is the shell of one partition of a ledger in goka: it has the Partition, the
// writer and the store on disk. It is the storage that goka opens and closes.
//
// goka's goroutine of the partition calls take, and the goroutine of the ticks calls due. claim
// returns before either begins. mu protects the fields below from both. It is never held while
// waiting for the network.
type table struct {
	storage.Null // tables hold no values by key
	run          *runner
	life         context.Context // until the partition is given up
	member       *membership
	partition    int32
	dir          string

	mu         sync.Mutex
	*Partition // nil before Open
	store      *disk
	client     *kgo.Client      // reads the inputs, and is the writer's log; nil before the claim
	next       map[string]int64 // where each input goes on
	writer     *Writer
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
	ctx, cancel := context.WithTimeout(t.life, answerTimeout)
	defer cancel()
	log, err := boundsOf(ctx, t.run.admin, t.run.Ledger, t.partition)
	if err != nil {
		return err
	}
	c, err := readCheckpoint(t.dir, t.run.ledgerID)
	if err == nil {
		err = c.fits(t.run.life, t.run.source(t.run.Ledger, t.partition))
	}
	if errors.Is(err, errNoCheckpoint) {
		// Later, when the ledger has grown beyond it, it might seem to fit.
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
	if err := Reaches(t.run.Ledger, t.partition, log.Start, c.Offset+1); err != nil {
		return t.run.judge(err)
	}
	scratch, err := makeScratch(t.dir, c.Dir)
	if err != nil {
		return err
	}
	if t.store, err = openStore(scratch, t.run.cache, memtableBytes); err != nil {
		if mayBeDamaged(err) {
			err = errors.Join(err, discardCheckpoint(t.dir))
		}
		return err
	}
	t.saver = saver{Saving: NewSaving(t.run.opts.CheckpointEvery, time.Now()), sums: sums{}}
	t.Partition, err = NewPartition(t.run.Processor, t.partition, t.store, c.folded(), PartitionOptions{
		CarryEvery: t.run.opts.CarryEvery, CarryIdle: t.run.opts.CarryIdle,
		Observe:    t.observe,
		PassedOver: t.run.strangers.tell(t.run.log, t.partition),
		Panicked:   t.panicked,
	})
	return err
}

func (t *table) observe(kind string) { t.run.opts.Observe(kind, t.partition) }

// fold applies the record at offset. goka's recovery and the claim call it.
func (t *table) fold(key string, raw []byte, offset int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.judge(t.Fold(key, raw, offset))
}

// judge looks at the error that stops the partition. A damaged checkpoint is discarded,
// so that it is not opened again.
func (t *table) judge(err error) error {
	if err == nil {
		return nil
	}
	if t.store.damaged() {
		err = errors.Join(err, discardCheckpoint(t.dir))
	}
	return t.run.judge(err)
}

func (t *table) due() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || t.Partition == nil {
		return nil
	}
	return t.Due(time.Now())
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
			err = t.saveLast(time.Now())
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
	return errors.Join(append(errs, os.RemoveAll(filepath.Join(t.dir, scratchDir)))...)
}

// closeTimeout bounds the last flush. Events that are lost then are decided again.
const closeTimeout = 10 * time.Second

// GetOffset returns the offset of the last folded event.
func (t *table) GetOffset(none int64) (int64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.Partition == nil || t.folded < 0 {
		return none, nil
	}
	return t.folded, nil
}
