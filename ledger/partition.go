package ledger

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// Partition is the core of one partition of a ledger: the state that its
// events fold into, how far they and the inputs are folded, and what the next
// event is. It knows neither goka nor Kafka nor files: a table is its shell in
// a running crawl, and the simulation (package sim) has another.
//
// Its life is Fold for every record of the ledger, Claim, Fold up to the claim,
// Resume, Live; then Answer, Tick and Rejected make events, each of which is
// folded with FoldNext before the next one is made.
//
// A Partition is not safe for concurrent use.
type Partition struct {
	def    Definition
	number int32
	opts   PartitionOptions

	store     Store
	state     State
	reader    Reader              // claims seen in the ledger
	folded    int64               // offset of the last folded event, -1 before
	record    uint32              // its checksum
	positions map[string]Position // of the inputs, as events say
	moved     map[string]Position // folded since, and not yet carried by an event
	carried   []*weftpb.Position  // by the event that was made last
	intact    map[string]int64    // of the inputs that Cut named
	acked     int64               // offset of the last event that is acknowledged, as far as is known
	strangers int64               // records passed over, here and in inputs that are ledgers
	live      bool                // claimed: events may be made
	behind    map[string]int64    // ends that inputs have to be read to before anything is due

	lastInput, lastEvent time.Time
}

// PartitionOptions are what a Partition wants to know of its shell.
type PartitionOptions struct {
	// CarryEvery and CarryIdle are those of Options.
	CarryEvery, CarryIdle time.Duration
	// Observe is told of each Happened; nil: nobody.
	Observe func(kind string)
	// PassedOver is told where a record stands that is no event; nil: nobody.
	PassedOver func(topic string, offset int64)
}

// Folded says what a store is the fold of.
type Folded struct {
	// Offset is the last event folded, -1 for none; Epoch the claim in force.
	Offset, Epoch int64
	// Positions of the inputs, as far as events carry them.
	Positions map[string]Position
	// Strangers is how many records were passed over that are no events.
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
	// Hole is that of a Reader of the input at Offset.
	Hole int64 `json:"hole,omitempty"`
	// TimestampMS is that of the record at Offset, in milliseconds since 1970;
	// 0: unknown. If the log was cut and written again, it holds another.
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

// Nothing is what an empty store is the fold of.
func Nothing() Folded { return Folded{Offset: -1} }

// NewPartition returns the partition whose store is the fold of what at says.
// The store is the partition's alone.
func NewPartition(def Definition, number int32, store Store, at Folded, opts PartitionOptions) (*Partition, error) {
	if opts.Observe == nil {
		opts.Observe = func(string) {}
	}
	if opts.PassedOver == nil {
		opts.PassedOver = func(string, int64) {}
	}
	state, err := def.open(number, store)
	if err != nil {
		return nil, fmt.Errorf("open state of %s/%d: %w", def.ledger, number, err)
	}
	p := &Partition{
		def: def, number: number, opts: opts, store: store, state: state,
		reader: Reader{Epoch: at.Epoch}, folded: at.Offset, record: at.Record, strangers: at.Strangers,
		positions: map[string]Position{}, moved: map[string]Position{}, intact: map[string]int64{},
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
// partition's own claim. What ends a transaction is a record without a value.
func (p *Partition) Fold(key string, raw []byte, offset int64) error {
	if offset <= p.folded {
		return nil
	}
	if err := Reaches(p.def.ledger, p.number, offset, p.folded+1); err != nil {
		return err
	}
	before := p.reader.Strangers
	ev, err := p.reader.Read(raw, p.def.ledger, p.number, offset)
	if err != nil {
		return err
	}
	p.folded, p.record = offset, checksum(raw)
	if p.reader.Strangers > before {
		p.passOver(p.def.ledger, offset)
		return nil
	}
	if ev == nil {
		p.opts.Observe(HappenedDropped)
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

// passOver counts a record of a ledger that is no event of it.
func (p *Partition) passOver(topic string, offset int64) {
	p.strangers++
	p.opts.Observe(HappenedStranger)
	p.opts.PassedOver(topic, offset)
}

func (p *Partition) apply(key string, body []byte, offset int64) error {
	if len(body) == 0 {
		return nil
	}
	err := p.state.Apply(key, body, offset)
	if broken := p.store.Err(); broken != nil {
		return broken // reads found nothing after it: the event is not to blame
	}
	if err != nil {
		return fmt.Errorf("%w: %s/%d at %d: %w", ErrCorrupt, p.def.ledger, p.number, offset, err)
	}
	return nil
}

// FoldNext folds the event that is about to be appended.
func (p *Partition) FoldNext(key string, raw []byte, now time.Time) error {
	offset := p.folded + 1
	ev, err := decode(raw, p.def.ledger, p.number, offset)
	if err == nil {
		err = p.apply(key, ev.Body, offset)
	}
	if err != nil {
		return err
	}
	p.folded, p.record = offset, checksum(raw)
	p.lastEvent = now
	maps.Copy(p.positions, p.moved)
	clear(p.moved)
	return nil
}

// event frames body as the next event, carrying the positions that moved.
func (p *Partition) event(body []byte) []byte {
	ev := &weftpb.Event{
		Epoch: p.reader.Epoch, Offset: p.folded + 1, Body: body,
		Unacknowledged: p.folded - p.acked, Strangers: p.strangers,
	}
	p.carried = nil
	for _, in := range p.def.inputs {
		if at, ok := p.moved[in.topic]; ok {
			p.carried = append(p.carried, at.record(in.topic))
		}
	}
	ev.Positions = p.carried
	return encode(ev)
}

// Acknowledged says up to which offset the partition's events are acknowledged.
// The events that it makes say so in turn.
func (p *Partition) Acknowledged(offset int64) { p.acked = max(p.acked, offset) }

// Carried are the positions that the event which was made last carries: they
// may be committed once it is acknowledged.
func (p *Partition) Carried() []*weftpb.Position { return p.carried }

// move books that the record at offset of topic is folded. The position counts
// once an event carries it: a checkpoint that told of it before would have its
// next owner commit, and a janitor trim, what the ledger has still to come to.
func (p *Partition) move(topic string, to Position) { p.moved[topic] = to }

// position is how far an input is folded.
func (p *Partition) position(topic string) (at Position, known bool) {
	if at, known = p.moved[topic]; !known {
		at, known = p.positions[topic]
	}
	return at, known
}

// Close tells the state that the partition is given up.
func (p *Partition) Close() { p.state.Close() }

// lasting tells an error that no new life of a partition can mend.
func lasting(err error) bool {
	return errors.Is(err, ErrCorrupt) || errors.Is(err, ErrTrimmed) || errors.Is(err, ErrInputLost) ||
		errors.Is(err, ErrNameTaken)
}
