package verify

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/topiclog"
)

// maxEventBytes is the largest event that a stage writes to its ledger.
const maxEventBytes = 512 << 10

// chain follows the events of one partition of a ledger and decides which are valid. It
// is a second implementation of ledger.EventReader on purpose, and also knows at which offset
// the owner's next event must be.
type chain struct {
	outcome *outcome
	inputs  []string
	// epoch of the latest claim, 0 before the first one; next is the offset of its
	// owner's next event, -1 if unknown.
	epoch, next int64
	positions   map[string]*weftpb.Position
}

// recordCounts are of both ledgers. Fenced events name an older claim, displaced events follow
// a lost one, and strangers are records that are not events.
type recordCounts struct{ claims, fenced, displaced, strangers int64 }

// newChain begins where its log begins, which may be in the middle of an epoch.
func newChain(o *outcome, inputs []string) *chain {
	return &chain{outcome: o, inputs: inputs, next: -1, positions: map[string]*weftpb.Position{}}
}

func (c *chain) violate(kind Kind, record RecordRef, format string, args ...any) {
	c.outcome.violate(Violation{Kind: kind, Says: fmt.Sprintf(format, args...), Records: []RecordRef{record}})
}

// read returns the event of a record, nil if it is not valid.
func (c *chain) read(r *kgo.Record) *weftpb.Event {
	c.outcome.shown(Ledgers, 1)
	c.outcome.shown(Budgets, 1)
	ev := new(weftpb.Event)
	err := proto.Unmarshal(r.Value, ev)
	if damaged(r.Value) {
		if err == nil && ev.Claim == nil && ev.Offset == r.Offset {
			c.violate(KindCorrupt, recordOf(r, ""), "the checksum of an event is wrong")
			return nil
		}
		c.outcome.counts.strangers++ // a copy that was changed, or an event so damaged that the next one of its owner shows a gap
		return nil
	}
	if err != nil || ev.Claim == nil && ev.Epoch <= 0 || ev.Claim != nil && ev.Sum == nil && !plainClaim(ev) {
		c.outcome.counts.strangers++
		return nil
	}
	if ev.Claim != nil {
		c.outcome.counts.claims++
		c.epoch, c.next = r.Offset+1, r.Offset+1
		return nil
	}
	if len(r.Value) > maxEventBytes {
		c.violate(KindSize, recordOf(r, fmt.Sprintf("%d bytes", len(r.Value))), "an event of %d bytes is larger than %d", len(r.Value), maxEventBytes)
	}
	switch {
	case ev.Epoch < c.epoch:
		c.outcome.counts.fenced++
		return nil
	case ev.Offset != r.Offset:
		c.outcome.counts.displaced++
		return nil
	case ev.Epoch > c.epoch && c.epoch > 0 || ev.Epoch > r.Offset:
		c.violate(KindEpoch, recordOf(r, says(ev)), "an event names epoch %d, the latest claim before it is epoch %d", ev.Epoch, c.epoch)
	}
	if ev.Epoch > c.epoch {
		c.epoch, c.next = ev.Epoch, -1 // the log begins in the middle of an epoch
	}
	if c.next >= 0 && r.Offset != c.next {
		if ev.Sum != nil && c.next >= r.Offset-ev.Unacknowledged {
			c.outcome.counts.displaced++ // what its owner wrote at next may be lost
			return nil
		}
		c.violate(KindGap, recordOf(r, says(ev)), "epoch %d goes on at %d, although its owner wrote nothing at %d", ev.Epoch, r.Offset, c.next)
	}
	c.next = r.Offset + 1
	c.move(r, ev)
	return ev
}

// sumTag is the tag of an event's checksum; sumBytes is the size of tag and checksum at
// the end of the event.
const (
	sumTag   = "\xfd\xff\x7f"
	sumBytes = len(sumTag) + 4
)

// damaged reports whether a record ends with a checksum that is not its own.
func damaged(value []byte) bool {
	body := len(value) - sumBytes
	if body < 0 || string(value[body:body+len(sumTag)]) != sumTag {
		return false
	}
	return crc32.Checksum(value[:body], castagnoli) != binary.LittleEndian.Uint32(value[len(value)-4:])
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// plainClaim reports whether an event is only a claim.
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
			c.violate(KindPosition, recordOf(r, says(ev)), "%s", wrong)
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

// within compares a position with its input: with its start before the ledger's end was
// read, with its end after that, and with the commit of the group before that.
func (c *chain) within(topic, input string, partition int32, before, after topiclog.Bounds, commit int64) {
	at := c.position(input)
	record := RecordRef{Topic: topic, Partition: partition, Offset: c.next - 1, Says: fmt.Sprintf("the last event; position %d in %s", at, input)}
	if at >= after.End {
		c.violate(KindPosition, record, "the position in %s is %d, and its log ends at %d", input, at, after.End)
	}
	if at+1 < before.Start {
		c.violate(KindPosition, record, "%s begins at %d, and the ledger has not read what follows %d", input, before.Start, at)
	}
	if commit > max(at+1, before.Start) {
		c.violate(KindCommit, record, "the group has committed %s up to %d, and the ledger has folded it up to %d", input, commit, at+1)
	}
}

// recordOf names a record; says describes its content.
func recordOf(r *kgo.Record, says string) RecordRef {
	return RecordRef{Topic: r.Topic, Partition: r.Partition, Offset: r.Offset, Says: says}
}

func says(ev *weftpb.Event) string {
	return fmt.Sprintf("epoch %d, offset %d, positions %v", ev.Epoch, ev.Offset, ev.Positions)
}
