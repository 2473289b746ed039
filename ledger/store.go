package ledger

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/weftcrawl/weft/internal/kv"
	"github.com/weftcrawl/weft/internal/pebblelog"
)

// Store is what one partition's state is kept in. Its reads and writes return no
// errors: Err must be checked before anything decided from it is written.
//
// One goroutine writes; any number may read.
type Store interface {
	kv.Store
	// Err returns the first error, nil while the store is sound.
	Err() error
}

// disk is a Store on Pebble. It has no write-ahead log, because the ledger is one.
type disk struct {
	db *pebble.DB

	// pending are the writes of the recovery, nil once it is over.
	pending atomic.Pointer[pending]

	mu     sync.Mutex
	err    error
	broken chan struct{} // closed with the first error
}

const (
	// cacheBytes is Pebble's block cache, which all partitions share.
	cacheBytes = 16 << 20
	// memtableBytes is Pebble's write buffer of each partition, which may have two.
	// Without cgo the buffers and the cache lie on Go's heap.
	memtableBytes = 1 << 20
)

// unlogged is the option of every write.
var unlogged = pebble.NoSync

// openStore opens dir, an existing Pebble directory or a new one, for a recovery.
// settle ends the recovery.
func openStore(dir string, cache *pebble.Cache, memtable uint64) (*disk, error) {
	s := &disk{broken: make(chan struct{})}
	opts := &pebble.Options{
		Cache:        cache,
		DisableWAL:   true,
		MemTableSize: memtable,
		// A stall would stop the partition; four tables give compaction time.
		MemTableStopWritesThreshold: 4,
		// Keys come in any order, so a compaction out of L0 writes all of the base level again:
		// that level is small, and compactions are rare (docs/decisions/0060).
		L0CompactionThreshold: 8,
		L0StopWritesThreshold: 32,
		LBaseMaxBytes:         4 << 20,
		FormatMajorVersion:    pebble.FormatNewest,
		// A scratch store need not be durable. Checkpoints, which are copies of
		// it, survive the process, and the ledger survives the machine.
		FS:     noSync{vfs.Default},
		Logger: pebblelog.Logger(s.writeFailed),
		EventListener: &pebble.EventListener{
			BackgroundError: s.writeFailed,
			// Without this function Pebble calls Fatalf.
			DataCorruption: func(found pebble.DataCorruptionInfo) { s.fail("read", found.Details) },
		},
	}
	for i := range opts.Levels {
		opts.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	err := pebblelog.Begin(opts.FS, dir)
	if err == nil {
		s.db, err = pebble.Open(dir, opts)
	}
	if err != nil {
		return nil, fmt.Errorf("open state %s: %w", dir, err)
	}
	s.pending.Store(newPending(pendingBytes))
	return s, nil
}

// settle ends the recovery: pending writes go to Pebble, and from now on each write
// goes there at once. It returns the store's error.
func (s *disk) settle() error {
	s.passOn("settle")
	s.pending.Store(nil)
	return s.Err()
}

// passOn gives pending writes to Pebble, before op, which reads from Pebble alone.
func (s *disk) passOn(op string) {
	if p := s.pending.Load(); p != nil && s.Err() == nil {
		s.fail(op, p.flush(s.db))
	}
}

// Get returns a copy of the value of key, nil when absent.
func (s *disk) Get(key []byte) []byte {
	if s.Err() != nil {
		return nil
	}
	if p := s.pending.Load(); p != nil {
		if value, known := p.get(key); known {
			return value
		}
	}
	value, closer, err := s.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil
	}
	if err != nil {
		s.fail("get", err)
		return nil
	}
	out := append([]byte{}, value...)
	s.fail("get", closer.Close())
	return out
}

// Set stores value under key.
func (s *disk) Set(key, value []byte) { s.write("set", key, value, false) }

// Delete removes key.
func (s *disk) Delete(key []byte) { s.write("delete", key, nil, true) }

func (s *disk) write(op string, key, value []byte, deleted bool) {
	if s.Err() != nil {
		return
	}
	var err error
	switch p := s.pending.Load(); {
	case p != nil:
		err = p.put(key, value, deleted, s.db)
	case deleted:
		err = s.db.Delete(key, unlogged)
	default:
		err = s.db.Set(key, value, unlogged)
	}
	s.fail(op, err)
}

// Scan calls visit for the keys of [lower, upper) in ascending order until it
// returns false. The slices are valid only during the call.
func (s *disk) Scan(lower, upper []byte, visit func(key, value []byte) bool) {
	s.passOn("scan")
	if s.Err() != nil {
		return
	}
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		s.fail("scan", err)
		return
	}
	for ok := it.First(); ok && visit(it.Key(), it.Value()); ok = it.Next() {
	}
	s.fail("scan", it.Close())
}

// Err returns the first error, nil while the store is sound.
func (s *disk) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// damaged tells whether the store's own files are corrupt.
func (s *disk) damaged() bool { return pebble.IsCorruptionError(s.Err()) }

// writeFailed breaks the store at an error of Pebble's background work.
func (s *disk) writeFailed(err error) { s.fail("write", err) }

// fail breaks the store if err is an error.
func (s *disk) fail(op string, err error) {
	if err == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = fmt.Errorf("%s in state: %w", op, err)
		close(s.broken)
	}
}

// checkpoint writes a copy of the whole state to dir, which must not exist.
func (s *disk) checkpoint(dir string) error {
	s.passOn("checkpoint")
	if err := s.Err(); err != nil {
		return err
	}
	flushed, err := s.db.AsyncFlush()
	if err != nil {
		return fmt.Errorf("flush state: %w", err)
	}
	select {
	case <-flushed:
	case <-s.broken: // otherwise Pebble would retry for ever
		return s.Err()
	}
	if err := s.db.Checkpoint(dir); err != nil {
		return fmt.Errorf("checkpoint state: %w", err)
	}
	return nil
}

// close drops what was not checkpointed.
func (s *disk) close() error {
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("close state: %w", err)
	}
	return nil
}
