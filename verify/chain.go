package verify

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/replay"
)

// maxEventBytes is how large an event of a ledger may be: the stages keep it by
// construction.
const maxEventBytes = 512 << 10

// chain follows the events of one partition of a ledger and tells which count.
// It is a second implementation of ledger.Reader on purpose, and knows more:
// where the owner's next event has to stand.
type chain struct {
	found  *findings
	inputs []string
	// epoch of the latest claim, 0 before the first one; next is where its
	// owner's next event stands, -1 if unknown.
	epoch, next int64
	positions   map[string]*weftpb.Position
	// fenced events name an older claim, displaced ones follow a lost event;
	// strangers' records are no events.
	claims, fenced, displaced, strangers int64
}

// newChain begins where its log begins, be it in the middle of an epoch.
func newChain(found *findings, inputs []string) *chain {
	return &chain{found: found, inputs: inputs, next: -1, positions: map[string]*weftpb.Position{}}
}

// read returns the event of a record, nil when it does not count.
func (c *chain) read(r *kgo.Record) *weftpb.Event {
	c.found.shown(Ledgers, 1)
	c.found.shown(Budgets, 1)
	ev := new(weftpb.Event)
	err := proto.Unmarshal(r.Value, ev)
	if damaged(r.Value) {
		if err == nil && ev.Claim == nil && ev.Offset == r.Offset {
			c.found.violate(Violation{Kind: KindCorrupt, Says: "the checksum of an event is wrong", Records: []Record{recordOf(r, "")}})
			return nil
		}
		c.strangers++ // a copy that was changed, or an event so damaged that the next one of its owner shows a gap
		return nil
	}
	if err != nil || ev.Claim == nil && ev.Epoch <= 0 || ev.Claim != nil && ev.Sum == nil && !plainClaim(ev) {
		c.strangers++
		return nil
	}
	if ev.Claim != nil {
		c.claims++
		c.epoch, c.next = r.Offset+1, r.Offset+1
		return nil
	}
	if len(r.Value) > maxEventBytes {
		c.found.violate(Violation{
			Kind: KindSize, Says: fmt.Sprintf("an event of %d bytes is larger than %d", len(r.Value), maxEventBytes),
			Records: []Record{recordOf(r, fmt.Sprintf("%d bytes", len(r.Value)))},
		})
	}
	switch {
	case ev.Epoch < c.epoch:
		c.fenced++
		return nil
	case ev.Offset != r.Offset:
		c.displaced++
		return nil
	case ev.Epoch > c.epoch && c.epoch > 0 || ev.Epoch > r.Offset:
		c.found.violate(Violation{
			Kind: KindEpoch, Says: fmt.Sprintf("an event names epoch %d, the latest claim before it is epoch %d", ev.Epoch, c.epoch),
			Records: []Record{recordOf(r, says(ev))},
		})
	}
	if ev.Epoch > c.epoch {
		c.epoch, c.next = ev.Epoch, -1 // the log begins in the middle of an epoch
	}
	if c.next >= 0 && r.Offset != c.next {
		if ev.Sum != nil && c.next >= r.Offset-ev.Unacknowledged {
			c.displaced++ // what its owner wrote at next may be lost
			return nil
		}
		c.found.violate(Violation{
			Kind: KindGap, Says: fmt.Sprintf("epoch %d goes on at %d, although its owner wrote nothing at %d", ev.Epoch, r.Offset, c.next),
			Records: []Record{recordOf(r, says(ev))},
		})
	}
	c.next = r.Offset + 1
	c.move(r, ev)
	return ev
}

// sumTag is the tag of an event's checksum, and sumBytes what both take at its end.
const (
	sumTag   = "\xfd\xff\x7f"
	sumBytes = len(sumTag) + 4
)

// damaged tells whether a record ends as an event with a checksum, and has another
// one.
func damaged(value []byte) bool {
	body := len(value) - sumBytes
	if body < 0 || string(value[body:body+len(sumTag)]) != sumTag {
		return false
	}
	return crc32.Checksum(value[:body], castagnoli) != binary.LittleEndian.Uint32(value[len(value)-4:])
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// plainClaim tells whether an event says nothing but that its owner claims.
func plainClaim(ev *weftpb.Event) bool {
	return proto.Equal(ev, &weftpb.Event{Claim: &weftpb.Claim{Owner: ev.Claim.Owner}})
}

// move folds the positions of an event.
func (c *chain) move(r *kgo.Record, ev *weftpb.Event) {
	for _, p := range ev.Positions {
		was, known := c.positions[p.Topic]
		wrong := ""
		switch {
		case !slices.Contains(c.inputs, p.Topic):
			wrong = fmt.Sprintf("%s is no input of this ledger", p.Topic)
		case !known || ev.Reset_:
		case p.Offset <= was.Offset:
			wrong = fmt.Sprintf("the position in %s moves from %d to %d without a reset", p.Topic, was.Offset, p.Offset)
		case p.Epoch < was.Epoch:
			wrong = fmt.Sprintf("the epoch of %s goes back from %d to %d", p.Topic, was.Epoch, p.Epoch)
		}
		if wrong != "" {
			c.found.violate(Violation{Kind: KindPosition, Says: wrong, Records: []Record{recordOf(r, says(ev))}})
		}
		c.positions[p.Topic] = p
	}
}

// position is the last folded offset of an input, -1 for none.
func (c *chain) position(topic string) int64 {
	if p, ok := c.positions[topic]; ok {
		return p.Offset
	}
	return -1
}

// within holds the positions against the inputs: their starts as they were
// before the ledger's end was read, their ends as they were after it, and what
// the group had committed before.
func (c *chain) within(topic, input string, partition int32, before, after replay.Bounds, commit int64) {
	at := c.position(input)
	record := Record{Topic: topic, Partition: partition, Offset: c.next - 1, Says: fmt.Sprintf("the last event; position %d in %s", at, input)}
	if at >= after.End {
		c.found.violate(Violation{
			Kind: KindPosition, Says: fmt.Sprintf("the position in %s is %d, and its log ends at %d", input, at, after.End),
			Records: []Record{record},
		})
	}
	if at+1 < before.Start {
		c.found.violate(Violation{
			Kind: KindPosition, Says: fmt.Sprintf("%s begins at %d, and the ledger has not read what follows %d", input, before.Start, at),
			Records: []Record{record},
		})
	}
	if commit > max(at+1, before.Start) {
		c.found.violate(Violation{
			Kind: KindCommit, Says: fmt.Sprintf("the group has committed %s up to %d, and the ledger has folded it up to %d", input, commit, at+1),
			Records: []Record{record},
		})
	}
}

// recordOf names a record; says is what it says.
func recordOf(r *kgo.Record, says string) Record {
	return Record{Topic: r.Topic, Partition: r.Partition, Offset: r.Offset, Says: says}
}

// says is an envelope in words.
func says(ev *weftpb.Event) string {
	return fmt.Sprintf("epoch %d, offset %d, positions %v", ev.Epoch, ev.Offset, ev.Positions)
}
