package ledger

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/weftcrawl/weft/state"
)

// Store is the state of one partition, and whether it is sound: Err must be
// checked before anything decided from it is written.
//
// One goroutine writes; any number may read.
type Store interface {
	state.Store
	// Err returns the first error, nil while the store is sound.
	Err() error
}

// disk is a Store on Pebble without a log of its own, because the ledger is the
// log.
type disk struct {
	db *pebble.DB

	// pending are the writes of the recovery, nil once it is over.
	pending atomic.Pointer[pending]

	mu     sync.Mutex
	err    error
	broken chan struct{} // closed with the first error
}

// unlogged is how every write is made: the ledger is the write-ahead log.
var unlogged = pebble.NoSync

// openStore opens dir, an existing Pebble directory or a new one, for the
// recovery that begins now; settle ends it.
func openStore(dir string, cache *pebble.Cache, memtable uint64) (*disk, error) {
	s := &disk{broken: make(chan struct{})}
	opts := &pebble.Options{
		Cache:        cache,
		DisableWAL:   true,
		MemTableSize: memtable,
		// A stall would stop the partition; four tables give compaction time.
		MemTableStopWritesThreshold: 4,
		L0CompactionThreshold:       4,
		L0StopWritesThreshold:       32,
		FormatMajorVersion:          pebble.FormatNewest,
		// A scratch store needs no durability; checkpoints are copies of it
		// that survive the process, and the ledger survives the machine.
		FS:     noSync{vfs.Default},
		Logger: complaints{s},
		EventListener: &pebble.EventListener{
			BackgroundError: func(err error) { s.fail("write", err) },
			// Unless it is told here, Pebble calls Fatalf.
			DataCorruption: func(found pebble.DataCorruptionInfo) { s.fail("read", found.Details) },
		},
	}
	for i := range opts.Levels {
		opts.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	var err error
	if s.db, err = pebble.Open(dir, opts); err != nil {
		return nil, fmt.Errorf("open state %s: %w", dir, err)
	}
	s.pending.Store(newPending(pendingBytes))
	return s, nil
}

// settle ends the recovery: Pebble gets what is pending, and from now on each
// write by itself. It returns the store's error.
func (s *disk) settle() error {
	s.passOn("settle")
	s.pending.Store(nil)
	return s.Err()
}

// passOn has Pebble get what is pending, before op, which asks Pebble alone.
func (s *disk) passOn(op string) {
	if p := s.pending.Load(); p != nil && s.Err() == nil {
		if err := p.flush(s.db); err != nil {
			s.fail(op, err)
		}
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
	out := slices.Clone(value)
	if out == nil {
		out = []byte{}
	}
	if err := closer.Close(); err != nil {
		s.fail("get", err)
	}
	return out
}

// Set stores value under key.
func (s *disk) Set(key, value []byte) {
	if s.Err() != nil {
		return
	}
	var err error
	if p := s.pending.Load(); p != nil {
		err = p.put(key, value, false, s.db)
	} else {
		err = s.db.Set(key, value, unlogged)
	}
	if err != nil {
		s.fail("set", err)
	}
}

// Delete removes key.
func (s *disk) Delete(key []byte) {
	if s.Err() != nil {
		return
	}
	var err error
	if p := s.pending.Load(); p != nil {
		err = p.put(key, nil, true, s.db)
	} else {
		err = s.db.Delete(key, unlogged)
	}
	if err != nil {
		s.fail("delete", err)
	}
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
	if err := it.Close(); err != nil {
		s.fail("scan", err)
	}
}

// Err returns the first error, nil while the store is sound.
func (s *disk) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// damaged tells whether the store's own files are corrupt.
func (s *disk) damaged() bool { return pebble.IsCorruptionError(s.Err()) }

func (s *disk) fail(op string, err error) {
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
	case <-s.broken: // Pebble tries again for ever
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
