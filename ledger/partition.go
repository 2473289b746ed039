package ledger

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// Partition is the core of one partition of a ledger: the state that its events
// fold into, how far the events and the inputs are folded, and what the next event
// is. It does not know goka, Kafka or files. Its shell in a running crawl is a
// table; the simulation (package sim) has another one.
//
// Its life is: Fold for every record of the ledger, a claim, Fold up to the claim,
// Resume, Live. Then Answer and Tick make events, and FoldNext folds each event
// before the next one is made.
//
// A Partition is not safe for concurrent use.
type Partition struct {
	proc   Processor
	number int32
	opts   PartitionOptions

	store     Store
	state     State
	reader    EventReader         // claims seen in the ledger
	folded    int64               // offset of the last folded event, -1 before
	record    uint32              // its checksum
	positions map[string]Position // of the inputs, as events say
	// moved are the positions that were folded since, and that no event carries yet. A position
	// counts only when an event carries it. If a checkpoint had it before that, the next owner
	// would commit it, and the janitor would trim records that the ledger still needs.
	moved     map[string]Position
	carried   []*weftpb.Position // by the event that was made last
	made      []byte             // the body of that event
	acked     int64              // offset of the last event that is acknowledged, as far as is known
	strangers int64              // records that were skipped, here and in inputs that are ledgers
	live      bool               // claimed: events may be made
	// catchingUp are the ends that inputs have to be read to before anything is due.
	catchingUp map[string]int64

	lastInput, lastEvent time.Time
}

// PartitionOptions are what a Partition needs from its shell.
type PartitionOptions struct {
	// CarryEvery and CarryIdle come from Options.
	CarryEvery, CarryIdle time.Duration
	// Observe is called with the kind of each incident; nil: nothing is.
	Observe func(kind string)
	// PassedOver is called with the place of each record that is not an event; nil: nothing is.
	PassedOver func(topic string, offset int64)
	// Panicked is called for each panic of the stage's code, with its cause and
	// the place of the record whose decision it was; the topic is empty in folds,
	// timers and snapshots. Nil: the partition does not recover from panics.
	Panicked func(cause any, topic string, offset int64)
}

// Folded says what a store is the fold of.
type Folded struct {
	// Offset is the last event folded, -1 for none; Epoch the claim in force.
	Offset, Epoch int64
	// Positions of the inputs, as far as events carry them.
	Positions map[string]Position
	// Strangers is how many records were skipped because they are not events.
	Strangers int64
	// Record is the checksum of the event at Offset: one that is written there
	// after the log was cut has another.
	Record uint32
}

// Fits tells whether value is what was folded at Offset.
func (f Folded) Fits(value []byte) bool { return checksum(value) == f.Record }

// Position is how far an input topic is folded.
type Position struct {
	Offset int64 `json:"offset"`
	// Epoch is the latest claim seen in the input when it is a ledger itself.
	Epoch int64 `json:"epoch,omitempty"`
	// Hole is the hole of an EventReader of the input at Offset.
	Hole int64 `json:"hole,omitempty"`
	// TimestampMS is the timestamp of the record at Offset, in milliseconds since 1970; 0:
	// unknown. If the log was cut and written again, it holds another.
	TimestampMS int64 `json:"timestamp_ms,omitempty"`
}

// record is the position as events carry it.
func (at Position) record(topic string) *weftpb.Position {
	return &weftpb.Position{Topic: topic, Offset: at.Offset, Epoch: at.Epoch, Hole: at.Hole, TimestampMs: at.TimestampMS}
}

// positionOf is the inverse of record.
func positionOf(at *weftpb.Position) Position {
	return Position{Offset: at.Offset, Epoch: at.Epoch, Hole: at.Hole, TimestampMS: at.TimestampMs}
}

// Nothing is the Folded of an empty store.
func Nothing() Folded { return Folded{Offset: -1} }

// NewPartition returns the partition whose store is the fold of what at says.
// The store is the partition's alone.
func NewPartition(proc Processor, number int32, store Store, at Folded, opts PartitionOptions) (*Partition, error) {
	if opts.Observe == nil {
		opts.Observe = func(string) {}
	}
	if opts.PassedOver == nil {
		opts.PassedOver = func(string, int64) {}
	}
	state, err := proc.Open(number, store)
	if err != nil {
		return nil, fmt.Errorf("open state of %s/%d: %w", proc.Ledger, number, err)
	}
	p := &Partition{
		proc: proc, number: number, opts: opts, store: store, state: state,
		reader: EventReader{Epoch: at.Epoch}, folded: at.Offset, record: at.Record, strangers: at.Strangers,
		positions: map[string]Position{}, moved: map[string]Position{},
	}
	maps.Copy(p.positions, at.Positions)
	return p, nil
}

// Folded says what the store is the fold of now.
func (p *Partition) Folded() Folded {
	return Folded{
		Offset: p.folded, Epoch: p.reader.Epoch, Positions: maps.Clone(p.positions), Strangers: p.strangers, Record: p.record,
	}
}

// State is the stage's state, to be looked at.
func (p *Partition) State() State { return p.state }

// Fold applies the record at offset of the ledger, in recovery and up to the
// partition's own claim. The record that ends a transaction has no value.
func (p *Partition) Fold(key string, raw []byte, offset int64) error {
	if offset <= p.folded {
		return nil
	}
	if err := Reaches(p.proc.Ledger, p.number, offset, p.folded+1); err != nil {
		return err
	}
	before := p.reader.Strangers
	ev, err := p.reader.Read(raw, p.proc.Ledger, p.number, offset)
	if err != nil {
		return err
	}
	p.folded, p.record = offset, checksum(raw)
	if p.reader.Strangers > before {
		p.passOver(p.proc.Ledger, offset)
		return nil
	}
	if ev == nil {
		p.opts.Observe(IncidentDropped)
		return nil
	}
	p.strangers = ev.Strangers
	for _, at := range ev.Positions {
		if old, ok := p.positions[at.Topic]; !ok || at.Offset > old.Offset || ev.Reset_ {
			p.positions[at.Topic] = positionOf(at)
		}
	}
	return p.apply(key, ev.Body, offset)
}

func (p *Partition) passOver(topic string, offset int64) {
	p.strangers++
	p.opts.Observe(IncidentStranger)
	p.opts.PassedOver(topic, offset)
}

// Close tells the state that the process gives the partition up.
func (p *Partition) Close() { p.state.Close() }

// lasting tells whether no new life of a partition can mend an error.
func lasting(err error) bool {
	return errors.Is(err, ErrCorrupt) || errors.Is(err, ErrTrimmed) || errors.Is(err, ErrInputLost) ||
		errors.Is(err, ErrNameTaken)
}
