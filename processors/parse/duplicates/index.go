package duplicates

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Log is the part of the topic parsed that the index needs.
type Log interface {
	// Incarnation is a name for the folder of the index. A log that was deleted and made
	// anew has another name, because its offsets are different.
	Incarnation(ctx context.Context) (string, error)
	// Bounds of a partition: it holds the offsets from start to before end.
	Bounds(ctx context.Context, partition int32) (start, end int64, err error)
	// Range calls visit with the records from one offset to before another, in order.
	// Records that are gone from the log are left out.
	Range(ctx context.Context, partition int32, from, to int64, visit func(Record) error) error
}

// Record is a record of parsed. Page is nil if it has no fingerprint.
type Record struct {
	Offset, Bytes int64
	Page          *Page
}

// Keep is how long a partition of another process stays on disk. looks is how often the
// index looks for such partitions during that time.
const (
	Keep  = time.Hour
	looks = 60
)

// Index knows the pages of the partitions that one process has. It is safe for
// concurrent use.
type Index struct {
	dir  string
	log  Log
	tune tuning

	mu         sync.Mutex
	partitions map[int32]*partition
	// away are the partitions that are on disk and not this process's, and since when:
	// they were revoked, or an earlier life of the process had them.
	away     map[int32]time.Time
	lookAway time.Time // when to look at them again

	// open guards store and fresh. Users of store lock it for reading.
	open  sync.RWMutex
	store *store // nil until it is used, and after an error
	fresh bool   // the store had an error: it is built anew
}

// tuning is what tests change.
type tuning struct {
	// flushBytes is how much of the log is read between two writes to disk. A process that
	// was killed reads it again. memtableBytes bounds what is not written to disk yet.
	flushBytes, memtableBytes int64
	files                     vfs.FS
	now                       func() time.Time
}

// New returns an index below dir. It opens its files when it is used.
func New(dir string, log Log) *Index {
	return &Index{
		dir: dir, log: log, partitions: map[int32]*partition{},
		tune: tuning{flushBytes: 64 << 20, memtableBytes: 8 << 20, files: vfs.Default, now: time.Now},
	}
}

// Close folds what is acknowledged, and leaves the index on disk. No page may be judged
// afterwards.
func (x *Index) Close() error {
	x.open.Lock()
	defer x.open.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.store == nil {
		return nil
	}
	var err error
	for _, p := range x.partitions {
		_, folding := p.settle(x.store) // if there is a gap, the next process reads the log
		err = errors.Join(err, folding)
	}
	return errors.Join(err, x.store.close())
}

// Judge finds out which page another page is a duplicate of. The pages of a partition are
// judged one at a time: the next one waits until the caller has given this page to the
// writer of the log, and has called Flight.Release.
func (x *Index) Judge(ctx context.Context, number int32, page Page) (*Flight, error) {
	if err := x.lockStore(ctx); err != nil {
		return nil, err
	}
	f := &Flight{index: x, landed: make(chan struct{})}
	judged := false
	defer func() {
		if !judged { // an error or a panic
			f.Release()
		}
	}()
	if err := x.store.checked(x.forgetAway()); err != nil {
		return nil, err
	}
	p := x.partition(number)
	p.order.Lock()
	f.partition = p
	if !page.Print.Empty() {
		m := match{of: entryOf(page)}
		if err := x.catchUp(ctx, p); err != nil {
			return nil, err
		}
		if err := x.store.checked(x.store.search(p, &m)); err != nil {
			return nil, err
		}
		f.Verdict = p.searchFlight(&m)
		m.of.verdict = f.Verdict
		f.entry = &m.of
	}
	p.addFlight(f)
	judged = true
	return f, nil
}

// Load reads the part of the log that the first judgement of a partition needs. After an
// error, Load or the first judgement goes on from there.
func (x *Index) Load(ctx context.Context, number int32) error {
	if err := x.lockStore(ctx); err != nil {
		return err
	}
	defer x.open.RUnlock()
	p := x.partition(number)
	p.order.Lock()
	defer p.order.Unlock()
	return x.catchUp(ctx, p)
}

// OnAssigned notes that partitions have come, or come back, to this process: other
// processes may have written to them.
func (x *Index) OnAssigned(partitions []int32) {
	for _, number := range partitions {
		x.partition(number).readLogAgain(true)
	}
}

// OnRevoked notes that partitions leave this process. It waits, until ctx ends, for their
// pages in flight: the next owner then finds them in the log.
func (x *Index) OnRevoked(ctx context.Context, partitions []int32) {
	for _, number := range partitions {
		p := x.partition(number)
		p.wait(ctx)
		p.readLogAgain(false)
	}
}

// Reset forgets the partitions and the pages in flight: their writer has ended.
func (x *Index) Reset() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.partitions = map[int32]*partition{}
}

func (x *Index) partition(number int32) *partition {
	x.mu.Lock()
	defer x.mu.Unlock()
	p := x.partitions[number]
	if p == nil {
		p = &partition{number: number}
		x.partitions[number] = p
	}
	return p
}

// lockStore opens the store if need be, and locks open for reading.
func (x *Index) lockStore(ctx context.Context) error {
	for {
		x.open.RLock()
		if x.store != nil && !x.store.failed.Load() {
			return nil
		}
		x.open.RUnlock()
		if err := x.openStore(ctx); err != nil {
			return err
		}
	}
}

// openStore opens the store for the first time, or builds it anew after an error.
func (x *Index) openStore(ctx context.Context) error {
	x.open.Lock()
	defer x.open.Unlock()
	if x.store != nil {
		if !x.store.failed.Load() {
			return nil // another goroutine has opened it
		}
		_ = x.store.close() // its error was returned when the store failed
		x.store, x.fresh = nil, true
	}
	incarnation, err := x.log.Incarnation(ctx)
	if err != nil {
		return err
	}
	if x.store, err = openStore(filepath.Join(x.dir, incarnation), x.tune, x.fresh); err != nil {
		return err
	}
	x.fresh = false
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, p := range x.partitions {
		p.readLogAgain(p.here.Load())
	}
	return nil
}

// catchUp reads the part of the log that the fold of a partition lacks. p.order is locked.
func (x *Index) catchUp(ctx context.Context, p *partition) error {
	for !p.current.Load() {
		start, end, err := x.log.Bounds(ctx, p.number)
		if err == nil {
			err = x.store.checked(p.resume(x.store, start, end))
		}
		if err == nil {
			err = x.read(ctx, p, end)
		}
		if err != nil {
			p.lapse()
			return err
		}
	}
	for {
		others, err := p.settle(x.store)
		if err != nil || others == 0 {
			return x.store.checked(err)
		}
		if err := x.read(ctx, p, others); err != nil {
			return err
		}
	}
}

func (x *Index) read(ctx context.Context, p *partition, to int64) error {
	err := x.log.Range(ctx, p.number, p.next, to, func(r Record) error {
		var e *entry
		if r.Page != nil && !r.Page.Print.Empty() {
			of := entryOf(*r.Page)
			e = &of
		}
		p.next = r.Offset
		return x.store.checked(x.store.fold(p, r.Bytes, e))
	})
	if err == nil {
		p.next = max(p.next, to)
	}
	return err
}

// forgetAway forgets the partitions that have been away for as long as they are kept. A
// partition that comes back before that, such as after a restart, goes on where it was. The
// caller may use the store and holds no lock.
func (x *Index) forgetAway() error {
	now := x.tune.now()
	x.mu.Lock()
	defer x.mu.Unlock()
	if now.Before(x.lookAway) {
		return nil
	}
	x.lookAway = now.Add(Keep / looks)
	stored, err := x.store.partitions()
	since := map[int32]time.Time{}
	for _, number := range stored {
		p := x.partitions[number]
		if p == nil {
			p = &partition{number: number}
		}
		before, noted := x.away[number]
		switch {
		case p.here.Load() || p.current.Load(): // its pages are judged here
			continue
		case !noted:
			before = now
		case now.Sub(before) >= Keep:
			err = errors.Join(err, p.forget(x.store))
			continue
		}
		since[number] = before
	}
	x.away = since
	return err
}
