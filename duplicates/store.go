package duplicates

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/weftcrawl/weft/dirlock"
	"github.com/weftcrawl/weft/similar"
)

// store is the index on disk.
type store struct {
	db       *pebble.DB
	lock     *dirlock.Lock
	options  Options
	unlogged atomic.Int64 // bytes of the log folded since the last flush
	// broken is closed when a flush or compaction has failed, as on a full disk.
	broken chan struct{}
}

// slots are the directories that processes which share one take one each of.
const slots = 64

// openStore opens the first directory below o.Dir that no other process has.
// Which one does not matter: the log makes up for what is missing in it. What
// cannot be opened is thrown away, and so is all of it when fresh.
func openStore(o Options, fresh bool) (*store, error) {
	for slot := range slots {
		dir := filepath.Join(o.Dir, strconv.Itoa(slot))
		lock, err := dirlock.Take(dir, "lock")
		if errors.Is(err, dirlock.ErrInUse) {
			continue
		}
		if err != nil {
			return nil, err
		}
		s := &store{lock: lock, options: o}
		if err := s.open(filepath.Join(dir, "index"), fresh); err != nil {
			return nil, errors.Join(err, lock.Release())
		}
		return s, nil
	}
	return nil, fmt.Errorf("open index of duplicates in %s: %w", o.Dir, dirlock.ErrInUse)
}

func (s *store) open(dir string, fresh bool) error {
	if fresh {
		if err := s.files().RemoveAll(dir); err != nil {
			return fmt.Errorf("remove index of duplicates: %w", err)
		}
	}
	cache := pebble.NewCache(s.options.CacheBytes)
	defer cache.Unref()
	broken := make(chan struct{})
	var once sync.Once
	s.broken = broken
	options := &pebble.Options{
		Cache: cache, DisableWAL: true, MemTableSize: uint64(s.options.MemtableBytes),
		MemTableStopWritesThreshold: 4, FormatMajorVersion: pebble.FormatNewest, Logger: silent{},
		FS: s.files(), // without the watch over slow disks that is Pebble's default
		// Unless it is told here, Pebble calls Fatalf; the read fails, too.
		EventListener: &pebble.EventListener{
			DataCorruption:  func(pebble.DataCorruptionInfo) {},
			BackgroundError: func(error) { once.Do(func() { close(broken) }) },
		},
	}
	for i := range options.Levels {
		options.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	var err error
	if s.db, err = pebble.Open(dir, options); err == nil {
		return nil
	}
	if !fresh {
		return s.open(dir, true)
	}
	return fmt.Errorf("open index of duplicates: %w", err)
}

func (s *store) files() vfs.FS {
	if s.options.fs != nil {
		return s.options.fs
	}
	return vfs.Default
}

// silent drops what Pebble logs: what matters comes back as an error. Fatalf,
// which it calls when it cannot write its MANIFEST, returns: the call that was
// to write it fails.
type silent struct{}

func (silent) Infof(string, ...any)  {}
func (silent) Errorf(string, ...any) {}
func (silent) Fatalf(string, ...any) {}

// close leaves all that was folded on disk, if it can: what it cannot write, Pebble
// would try for ever, and the log makes up for it.
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

// get returns the entry under key, whose hash is given, nil if there is none.
func (s *store) get(key []byte, hash similar.Hash) (*entry, error) {
	value, closer, err := s.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read index of duplicates: %w", err)
	}
	e, err := readEntry(hash, value)
	return &e, errors.Join(err, closer.Close())
}

// first is the entry of the first page with a text, nil if there is none.
func (s *store) first(partition int32, k *known, hash similar.Hash) (*entry, error) {
	if !k.texts.mayHave(hash) {
		return nil, nil
	}
	return s.get(hashKey(partition, hash), hash)
}

// next is the offset that the fold of a partition goes on with.
func (s *store) next(partition int32) (int64, error) {
	value, closer, err := s.db.Get(kindKey(partition, kindNext))
	if errors.Is(err, pebble.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read index of duplicates: %w", err)
	}
	if len(value) != 8 {
		return 0, errors.Join(errEntry, closer.Close())
	}
	next := int64(binary.BigEndian.Uint64(value))
	return next, closer.Close()
}

// forget removes all of a partition.
func (s *store) forget(partition int32) error {
	from := binary.BigEndian.AppendUint32(nil, uint32(partition))
	if err := s.db.DeleteRange(from, binary.BigEndian.AppendUint32(nil, uint32(partition)+1), pebble.NoSync); err != nil {
		return fmt.Errorf("empty index of duplicates: %w", err)
	}
	return nil
}

// load reads what is to be in memory of a partition.
func (s *store) load(partition int32) (*known, error) {
	k := new(known)
	err := s.scan(partition, kindHash, func(key, _ []byte) error {
		hash, err := readHashKey(key)
		k.texts.add(hash)
		return err
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

// scan visits what a partition has of a kind of keys.
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

// representative returns the entry of a representative.
func (s *store) representative(partition int32, number int) (*entry, error) {
	value, closer, err := s.db.Get(representativeKey(partition, number))
	if err != nil {
		return nil, fmt.Errorf("read index of duplicates: %w", err)
	}
	defer closer.Close()
	r, err := readRepresentative(value)
	if err != nil {
		return nil, err
	}
	return s.named(partition, r.entry)
}

// follower returns the entry of a follower, nil if there is none.
func (s *store) follower(partition int32, sim, domain uint64) (*entry, error) {
	key, closer, err := s.db.Get(followerKey(partition, sim, domain))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read index of duplicates: %w", err)
	}
	defer closer.Close()
	return s.named(partition, key)
}

// named returns the entry of a key without its partition.
func (s *store) named(partition int32, key []byte) (*entry, error) {
	var hash similar.Hash
	if len(key) < 1+len(hash) {
		return nil, errEntry
	}
	copy(hash[:], key[1:])
	e, err := s.get(append(kindKey(partition, key[0]), key[1:]...), hash)
	if err == nil && e == nil {
		err = errEntry
	}
	return e, err
}

// fold takes in the record at an offset, of so many bytes; nil: it is of a page
// without text. What is known already changes nothing.
func (s *store) fold(partition int32, k *known, offset, bytes int64, e *entry) error {
	batch := s.db.NewBatch()
	defer func() { _ = batch.Close() }() // it only frees memory
	fresh := false
	if e != nil {
		var err error
		if fresh, err = s.add(batch, partition, k, *e); err != nil {
			return err
		}
	}
	next := binary.BigEndian.AppendUint64(nil, uint64(offset+1))
	if err := errors.Join(batch.Set(kindKey(partition, kindNext), next, nil), batch.Commit(pebble.NoSync)); err != nil {
		return fmt.Errorf("write index of duplicates: %w", err)
	}
	if fresh {
		k.texts.add(e.print.Hash)
		if e.representative() {
			k.near.add(e.print.Min, e.domain)
		}
	}
	if s.unlogged.Add(bytes) < s.options.FlushBytes {
		return nil
	}
	s.unlogged.Store(0)
	if _, err := s.db.AsyncFlush(); err != nil {
		return fmt.Errorf("flush index of duplicates: %w", err)
	}
	return nil
}

// add is the part of fold that is about a page: it tells whether the page is new.
func (s *store) add(batch *pebble.Batch, partition int32, k *known, e entry) (fresh bool, err error) {
	key := hashKey(partition, e.print.Hash)
	first, err := s.first(partition, k, e.print.Hash)
	if err != nil {
		return false, err
	}
	if first != nil {
		if first.domain == e.domain {
			return false, nil
		}
		key = firstKey(partition, e.print.Hash, e.domain)
		if own, err := s.get(key, e.print.Hash); own != nil || err != nil {
			return false, err
		}
	}
	err = batch.Set(key, e.append(nil), nil)
	if e.representative() {
		r := representative{e.print.Min, e.domain, key[4:]}
		err = errors.Join(err, batch.Set(representativeKey(partition, len(k.near.mins)), r.append(nil), nil))
	}
	if e.follower() {
		err = errors.Join(err, batch.Set(followerKey(partition, e.print.Sim, e.domain), key[4:], nil))
	}
	if err != nil {
		return false, fmt.Errorf("write index of duplicates: %w", err)
	}
	return true, nil
}
