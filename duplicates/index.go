package duplicates

import (
	"context"
	"errors"
	"sync"
)

// Log is the topic parsed, as far as the index needs it.
type Log interface {
	// Bounds of a partition: it holds the offsets from start to before end.
	Bounds(ctx context.Context, partition int32) (start, end int64, err error)
	// Range calls visit with the records from one offset to before another, in
	// order; what is gone from the log is left out.
	Range(ctx context.Context, partition int32, from, to int64, visit func(Record) error) error
}

// Record is one of parsed. Page is nil if it has no fingerprint.
type Record struct {
	Offset, Bytes int64
	Page          *Page
}

// Index knows the pages of the partitions of one process. Safe for concurrent
// use.
type Index struct {
	options Options
	log     Log

	mu         sync.Mutex
	partitions map[int32]*partition
	away       away

	// open guards store: those who use it hold it for reading.
	open   sync.RWMutex
	store  *store
	broken bool // guarded by mu
}

// Open opens the index.
func Open(o Options, log Log) (*Index, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	s, err := openStore(o, false)
	if err != nil {
		return nil, err
	}
	return &Index{options: o, log: log, partitions: map[int32]*partition{}, store: s}, nil
}

// Close folds what is acknowledged, and leaves the index on disk. Nothing may be
// judged any more.
func (x *Index) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	var err error
	for number, p := range x.partitions {
		// What has a gap is left to be read from the log.
		if folding := p.settle(x.store, number); !errors.Is(folding, errGap) {
			err = errors.Join(err, folding)
		}
	}
	return errors.Join(err, x.store.close())
}

// Judge finds out what a page is, and calls hand with it, which hands the page to
// the writer of the log before it returns. Pages of a partition are judged one at a
// time. Hand's argument written is to be called once, from anywhere, with the
// offset that is acknowledged and the record's size, or with why there is none.
func (x *Index) Judge(ctx context.Context, number int32, page Page, hand func(v Verdict, written func(offset, bytes int64, err error))) error {
	if err := x.mend(); err != nil {
		return err
	}
	x.open.RLock()
	defer x.open.RUnlock()
	if err := x.judge(x.sweep()); err != nil {
		return err
	}
	p := x.partition(number)
	p.order.Lock()
	defer p.order.Unlock()
	if page.Print.Empty() {
		f := p.begin(nil)
		hand(Verdict{}, f.written)
		return nil
	}
	m := match{of: entryOf(page)}
	err := x.current(ctx, number, p)
	if err == nil {
		err = x.judge(x.store.search(number, p.known, &m))
	}
	if err != nil {
		return err
	}
	verdict := p.search(&m)
	page.Verdict = verdict
	e := entryOf(page)
	hand(verdict, p.begin(&e).written)
	return nil
}

// Load reads of the log what the first judgement of a partition would have to read.
// After an error either goes on where it was.
func (x *Index) Load(ctx context.Context, number int32) error {
	if err := x.mend(); err != nil {
		return err
	}
	x.open.RLock()
	defer x.open.RUnlock()
	p := x.partition(number)
	p.order.Lock()
	defer p.order.Unlock()
	return x.current(ctx, number, p)
}

// Take notes that partitions have come, or come back, to this process: others may
// have written to them.
func (x *Index) Take(partitions []int32) {
	for _, number := range partitions {
		x.partition(number).take()
	}
}

// Release waits, until ctx ends, for the pages of partitions that are in flight:
// the next owner then finds them in the log.
func (x *Index) Release(ctx context.Context, partitions []int32) {
	for _, number := range partitions {
		p := x.partition(number)
		p.wait(ctx)
		p.release()
	}
}

// Reset forgets what is in flight: its writer has ended.
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
		p = new(partition)
		x.partitions[number] = p
	}
	return p
}

// judge notes that the store is broken if err, of its use, is one.
func (x *Index) judge(err error) error {
	if err != nil {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.broken = true
	}
	return err
}

// mend builds the index anew after an error.
func (x *Index) mend() error {
	x.mu.Lock()
	broken := x.broken
	x.mu.Unlock()
	if !broken {
		return nil
	}
	x.open.Lock()
	defer x.open.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.broken {
		return nil // by another
	}
	_ = x.store.close() // it has failed before
	s, err := openStore(x.options, true)
	if err != nil {
		return err
	}
	x.store, x.broken = s, false
	for _, p := range x.partitions {
		p.begins(p.isHere())
	}
	return nil
}

// current reads what of the log the fold of a partition lacks. Its order is held.
func (x *Index) current(ctx context.Context, number int32, p *partition) error {
	for !p.isCurrent() {
		start, end, err := x.log.Bounds(ctx, number)
		if err == nil {
			err = x.judge(p.resume(x.store, number, start, end))
		}
		if err == nil {
			err = x.read(ctx, number, p, end)
		}
		if err != nil {
			p.lapse()
			return err
		}
	}
	err := p.settle(x.store, number)
	var others gap
	for errors.As(err, &others) {
		if err := x.read(ctx, number, p, others.end); err != nil {
			return err
		}
		err = p.settle(x.store, number)
	}
	return x.judge(err)
}

// read folds the log up to an offset.
func (x *Index) read(ctx context.Context, number int32, p *partition, to int64) error {
	err := x.log.Range(ctx, number, p.next, to, func(r Record) error {
		var e *entry
		if r.Page != nil && !r.Page.Print.Empty() {
			of := entryOf(*r.Page)
			e = &of
		}
		if err := x.judge(x.store.fold(number, p.known, r.Offset, r.Bytes, e)); err != nil {
			return err
		}
		p.next = r.Offset + 1
		return nil
	})
	if err == nil {
		p.next = max(p.next, to)
	}
	return err
}
