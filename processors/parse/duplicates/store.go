package duplicates

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"

	"github.com/weftcrawl/weft/internal/dirlock"
	"github.com/weftcrawl/weft/internal/pebblelog"
	"github.com/weftcrawl/weft/processors/parse/simhash"
)

// store is the index on disk.
type store struct {
	db       *pebble.DB
	lock     *dirlock.Lock
	tune     tuning
	unlogged atomic.Int64 // bytes of the log folded since the last flush
	failed   atomic.Bool  // a call has failed: the index is to be built anew
	// broken is closed when a flush or compaction has failed, as on a full disk.
	broken chan struct{}
}

// slots is the number of folders in the index's folder. Each process that shares the
// folder locks one of them.
const slots = 64

// cacheBytes bounds Pebble's cache of blocks.
const cacheBytes = 32 << 20

// openStore opens the first folder in dir that no other process has. It does not matter
// which one: what is missing in it is read from the log. A store that cannot be opened is
// removed; with fresh, every store is.
func openStore(dir string, tune tuning, fresh bool) (*store, error) {
	for slot := range slots {
		dir := filepath.Join(dir, strconv.Itoa(slot))
		lock, err := dirlock.Take(dir, "lock")
		if errors.Is(err, dirlock.ErrInUse) {
			continue
		}
		if err != nil {
			return nil, err
		}
		s := &store{lock: lock, tune: tune}
		if err := s.open(filepath.Join(dir, "index"), fresh); err != nil {
			return nil, errors.Join(err, lock.Release())
		}
		return s, nil
	}
	return nil, fmt.Errorf("open index of duplicates in %s: %w", dir, dirlock.ErrInUse)
}

func (s *store) open(dir string, fresh bool) error {
	if fresh {
		if err := s.tune.files.RemoveAll(dir); err != nil {
			return fmt.Errorf("remove index of duplicates: %w", err)
		}
	}
	cache := pebble.NewCache(cacheBytes)
	defer cache.Unref()
	broken := make(chan struct{})
	fail := sync.OnceFunc(func() { close(broken) })
	s.broken = broken
	options := &pebble.Options{
		Cache: cache, DisableWAL: true, MemTableSize: uint64(s.tune.memtableBytes),
		MemTableStopWritesThreshold: 4, FormatMajorVersion: pebble.FormatNewest, Logger: silent{},
		FS: s.tune.files, // without the watch over slow disks that is Pebble's default
		// Without these, Pebble calls Fatalf. The read fails in any case.
		EventListener: &pebble.EventListener{
			DataCorruption:  func(pebble.DataCorruptionInfo) {},
			BackgroundError: func(error) { fail() },
		},
	}
	for i := range options.Levels {
		options.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	err := pebblelog.Begin(options.FS, dir)
	if err == nil {
		s.db, err = pebble.Open(dir, options)
	}
	if err == nil {
		return nil
	}
	if !fresh {
		return s.open(dir, true)
	}
	return fmt.Errorf("open index of duplicates: %w", err)
}

// checked returns err, and notes it.
func (s *store) checked(err error) error {
	if err != nil {
		s.failed.Store(true)
	}
	return err
}

// silent drops what Pebble logs: errors are returned to the callers, too. Pebble calls
// Fatalf when it cannot write its MANIFEST. Fatalf returns here, and the call that needed
// the MANIFEST fails.
type silent struct{}

func (silent) Infof(string, ...any)  {}
func (silent) Errorf(string, ...any) {}
func (silent) Fatalf(string, ...any) {}

// close writes everything that was folded to disk, if it can. Pebble would retry a failed
// write for ever; close does not wait for that, because the log has what is missing.
func (s *store) close() error {
	flushed, err := s.db.AsyncFlush()
	if err == nil {
		select {
		case <-flushed:
		case <-s.broken:
			err = errUnflushed
		}
	}
	return errors.Join(err, s.db.Close(), s.lock.Release())
}

var errUnflushed = errors.New("index of duplicates could not be written")

// get returns a copy of the value of a key; nil: there is no such key.
func (s *store) get(key []byte) ([]byte, error) {
	value, closer, err := s.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read index of duplicates: %w", err)
	}
	return bytes.Clone(value), closer.Close()
}

// entry returns the entry under key, whose hash is given; nil: there is no entry.
func (s *store) entry(key []byte, hash simhash.Hash) (*entry, error) {
	value, err := s.get(key)
	if value == nil || err != nil {
		return nil, err
	}
	e, err := readEntry(hash, value)
	return &e, err
}

// first is the entry of the first page with a text; nil: there is no such page.
func (s *store) first(p *partition, hash simhash.Hash) (*entry, error) {
	if !p.known.texts.mayHave(hash) {
		return nil, nil
	}
	return s.entry(hashKey(p.number, hash), hash)
}

// next is the offset that the fold of a partition goes on with.
func (s *store) next(partition int32) (int64, error) {
	value, err := s.get(kindKey(partition, kindNext))
	if value == nil || err != nil {
		return 0, err
	}
	if len(value) != 8 {
		return 0, errEntry
	}
	return int64(binary.BigEndian.Uint64(value)), nil
}

// partitions lists the partitions that the store has.
func (s *store) partitions() (numbers []int32, err error) {
	it, err := s.db.NewIter(nil)
	if err != nil {
		return nil, fmt.Errorf("read index of duplicates: %w", err)
	}
	for ok := it.First(); ok; {
		number := binary.BigEndian.Uint32(it.Key())
		numbers = append(numbers, int32(number))
		ok = it.SeekGE(binary.BigEndian.AppendUint32(nil, number+1))
	}
	return numbers, errors.Join(it.Error(), it.Close())
}

func (s *store) forget(partition int32) error {
	from := binary.BigEndian.AppendUint32(nil, uint32(partition))
	if err := s.db.DeleteRange(from, binary.BigEndian.AppendUint32(nil, uint32(partition)+1), pebble.NoSync); err != nil {
		return fmt.Errorf("empty index of duplicates: %w", err)
	}
	return nil
}

// load reads the part of a partition that is in memory.
func (s *store) load(partition int32) (*known, error) {
	k := new(known)
	err := s.scan(partition, kindHash, func(key, _ []byte) error {
		if len(key) != 5+len(simhash.Hash{}) {
			return errEntry
		}
		k.texts.add(simhash.Hash(key[5:]))
		return nil
	})
	if err == nil {
		err = s.scan(partition, kindRepresentative, func(_, value []byte) error {
			r, err := readRepresentative(value)
			k.near.add(r.min, r.domain)
			return err
		})
	}
	if err == nil {
		err = s.db.DeleteRange(kindKey(partition, kindOldRepresentative), kindKey(partition, kindOldRepresentative+1), pebble.NoSync)
	}
	if err != nil {
		return nil, fmt.Errorf("read index of duplicates: %w", err)
	}
	return k, nil
}

// scan visits the keys of a kind in a partition.
func (s *store) scan(partition int32, kind byte, visit func(key, value []byte) error) error {
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: kindKey(partition, kind), UpperBound: kindKey(partition, kind+1)})
	if err != nil {
		return err
	}
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		err = visit(it.Key(), it.Value())
	}
	return errors.Join(err, it.Close())
}

func (s *store) representative(partition int32, number int) (*entry, error) {
	value, err := s.get(representativeKey(partition, number))
	if err != nil {
		return nil, err
	}
	r, err := readRepresentative(value)
	if err != nil {
		return nil, err
	}
	return s.named(partition, r.entry)
}

// follower returns the entry of a follower; nil: there is no follower.
func (s *store) follower(partition int32, sim, domain uint64) (*entry, error) {
	key, err := s.get(followerKey(partition, sim, domain))
	if key == nil || err != nil {
		return nil, err
	}
	return s.named(partition, key)
}

// named returns the entry of a key without its partition.
func (s *store) named(partition int32, key []byte) (*entry, error) {
	var hash simhash.Hash
	if len(key) < 1+len(hash) {
		return nil, errEntry
	}
	copy(hash[:], key[1:])
	e, err := s.entry(append(kindKey(partition, key[0]), key[1:]...), hash)
	if err == nil && e == nil {
		err = errEntry
	}
	return e, err
}

// fold adds the record at p.next. bytes is its size; e is nil if its page has no text. A
// page that is known already changes nothing.
func (s *store) fold(p *partition, bytes int64, e *entry) error {
	batch := s.db.NewBatch()
	defer func() { _ = batch.Close() }() // it only frees memory
	fresh := false
	if e != nil {
		var err error
		if fresh, err = s.add(batch, p, *e); err != nil {
			return err
		}
	}
	next := binary.BigEndian.AppendUint64(nil, uint64(p.next+1))
	if err := errors.Join(batch.Set(kindKey(p.number, kindNext), next, nil), batch.Commit(pebble.NoSync)); err != nil {
		return fmt.Errorf("write index of duplicates: %w", err)
	}
	p.next++
	if fresh {
		p.known.texts.add(e.print.Hash)
		if e.representative() {
			p.known.near.add(e.print.Min, e.domain)
		}
	}
	if s.unlogged.Add(bytes) < s.tune.flushBytes {
		return nil
	}
	s.unlogged.Store(0)
	if _, err := s.db.AsyncFlush(); err != nil {
		return fmt.Errorf("flush index of duplicates: %w", err)
	}
	return nil
}

// add is the part of fold for a page. It tells whether the page is new.
func (s *store) add(batch *pebble.Batch, p *partition, e entry) (fresh bool, err error) {
	key := hashKey(p.number, e.print.Hash)
	first, err := s.first(p, e.print.Hash)
	if err != nil {
		return false, err
	}
	if first != nil {
		if first.domain == e.domain {
			return false, nil
		}
		key = firstKey(p.number, e.print.Hash, e.domain)
		if own, err := s.entry(key, e.print.Hash); own != nil || err != nil {
			return false, err
		}
	}
	err = batch.Set(key, e.append(nil), nil)
	if e.representative() {
		r := representative{e.print.Min, e.domain, key[4:]}
		err = errors.Join(err, batch.Set(representativeKey(p.number, len(p.known.near.mins)), r.append(nil), nil))
	}
	if e.follower() {
		err = errors.Join(err, batch.Set(followerKey(p.number, e.print.Sim, e.domain), key[4:], nil))
	}
	if err != nil {
		return false, fmt.Errorf("write index of duplicates: %w", err)
	}
	return true, nil
}
