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

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// table is one partition of a ledger: its state, its writer and how far it is.
// It is the storage that goka opens, sets and closes.
//
// goka's partition goroutine calls Set and what the processor's callbacks call;
// the ticks' goroutine calls due, and the group's Setup runs before either. mu
// keeps them apart; it is never held while waiting for the network.
type table struct {
	run       *runner
	partition int32
	dir       string

	mu        sync.Mutex
	state     State
	store     *Store
	writer    *Writer
	reader    Reader              // claims seen in the ledger
	folded    int64               // offset of the last folded event, -1 before
	positions map[string]Position // of the inputs, as folded
	moved     map[string]Position // folded, and not yet carried by an event
	carried   []*weftpb.Position  // by the event that Set folded last
	session   commits             // where acknowledged positions are committed
	live      bool                // claimed: events may be appended
	closed    bool

	ticking              atomic.Int64 // ticks that are not answered yet
	lastInput, lastEvent time.Time
	saver                saver
}

// Open makes the scratch store from the published checkpoint.
func (t *table) Open() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := os.MkdirAll(t.dir, 0o755); err != nil {
		return fmt.Errorf("make state directory: %w", err)
	}
	start, end, err := t.run.bounds(t.partition)
	if err != nil {
		return err
	}
	c, err := readCheckpoint(t.dir, t.run.ledgerID)
	if err == nil && c.Offset >= end {
		err = fmt.Errorf("%w: at offset %d, beyond the ledger's end %d", errNoCheckpoint, c.Offset, end)
	}
	switch {
	case errors.Is(err, errNoCheckpoint):
		t.run.log.Info("state is rebuilt from the ledger", "partition", t.partition, "because", err)
		c = checkpoint{Offset: -1}
	case err != nil:
		return err
	}
	if c.Offset+1 < start {
		return t.run.fatal(fmt.Errorf("%w: %s/%d begins at %d, recovery needs %d",
			ErrTrimmed, t.run.ledger, t.partition, start, c.Offset+1))
	}
	scratch, err := makeScratch(t.dir, c.Dir)
	if err != nil {
		return err
	}
	if t.store, err = openStore(scratch, t.run.cache, uint64(t.run.opts.MemtableBytes)); err != nil {
		return errors.Join(err, discardCheckpoint(t.dir))
	}
	t.folded, t.reader.Epoch = c.Offset, c.Epoch
	t.positions, t.moved = map[string]Position{}, map[string]Position{}
	for topic, pos := range c.Positions {
		t.positions[topic] = pos
	}
	t.saver = saver{dir: t.dir, last: t.run.opts.Clock()}
	if t.state, err = t.run.open(t.partition, t.store); err != nil {
		return fmt.Errorf("open state of %s/%d: %w", t.run.ledger, t.partition, err)
	}
	return nil
}

// ErrTrimmed means that a ledger no longer holds events that recovery needs.
var ErrTrimmed = errors.New("ledger is trimmed below its checkpoint")

// fold applies the record at offset. goka's recovery and the claim call it.
func (t *table) fold(key string, raw []byte, offset int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if offset <= t.folded {
		return nil
	}
	ev, err := t.reader.Read(raw, t.run.ledger, t.partition, offset)
	if err != nil {
		return t.run.fatal(err)
	}
	t.folded = offset
	if ev == nil {
		t.run.opts.Observe(Happening{Kind: HappenedDropped, Partition: t.partition})
		return nil
	}
	for _, p := range ev.Positions {
		if old, ok := t.positions[p.Topic]; !ok || p.Offset > old.Offset || ev.Reset_ {
			t.positions[p.Topic] = Position{Offset: p.Offset, Epoch: p.Epoch}
		}
	}
	return t.apply(key, ev.Body, offset)
}

func (t *table) apply(key string, body []byte, offset int64) error {
	if len(body) == 0 {
		return nil
	}
	err := t.state.Apply(key, body, offset)
	if broken := t.store.Err(); broken != nil {
		// Reads found nothing after it: the event is not to blame.
		if t.store.damaged() {
			broken = errors.Join(broken, discardCheckpoint(t.dir))
		}
		return broken
	}
	if err != nil {
		return t.run.fatal(fmt.Errorf("%w: %s/%d at %d: %w", ErrCorrupt, t.run.ledger, t.partition, offset, err))
	}
	return nil
}

// Set folds the event that the processor is about to append. It never returns
// an error, since goka would commit the input when that happens during
// shutdown: it poisons the writer, and the append that follows fails.
func (t *table) Set(key string, raw []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	offset := t.folded + 1
	ev, err := decode(raw, t.run.ledger, t.partition, offset)
	if err == nil {
		err = t.apply(key, ev.Body, offset)
	}
	if err != nil {
		t.writer.Poison(err)
		return nil
	}
	t.folded = offset
	t.lastEvent = t.run.opts.Clock()
	clear(t.moved)
	return nil
}

// event frames body as the next event, carrying the positions that moved.
func (t *table) event(body []byte) []byte {
	ev := &weftpb.Event{Epoch: t.reader.Epoch, Offset: t.folded + 1, Body: body}
	t.carried = nil
	for _, input := range t.run.inputs {
		if p, ok := t.moved[input.topic]; ok {
			t.carried = append(t.carried, &weftpb.Position{Topic: input.topic, Offset: p.Offset, Epoch: p.Epoch})
		}
	}
	ev.Positions = t.carried
	return encode(ev)
}

// move books that the record at offset of topic is folded.
func (t *table) move(topic string, p Position) {
	t.positions[topic], t.moved[topic] = p, p
}

// due returns the keys that a tick has something to do for: those whose time
// has come, and carryKey when moved positions have waited long enough or the
// claim is still the last event.
func (t *table) due() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.live || t.closed {
		return nil
	}
	now := t.run.opts.Clock()
	keys := t.state.Due(now, maxDue)
	if t.lastEvent.IsZero() || len(t.moved) > 0 && (now.Sub(t.lastEvent) >= t.run.opts.CarryEvery || now.Sub(t.lastInput) >= t.run.opts.CarryIdle) {
		keys = append(keys, carryKey)
	}
	return keys
}

const (
	// maxDue bounds the ticks that are under way at a time.
	maxDue = 512
	// carryKey stands for the partition itself; no domain is empty.
	carryKey = ""
)

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
		if err == nil && t.live {
			err = t.save()
		}
		errs = append(errs, err)
		t.writer.Close()
	}
	if t.state != nil {
		t.state.Close()
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
	if t.folded < 0 {
		return none, nil
	}
	return t.folded, nil
}
