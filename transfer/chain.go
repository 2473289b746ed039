package transfer

import (
	"fmt"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/ledger"
)

// chain makes the records of one partition of a new ledger out of valid events
// of old ones: each names the latest claim before it and where it stands. Where
// the claim had changed since the last event that came from the same old
// partition there is a claim again, so that what only holds under one owner,
// such as one clock, is not read into the history of two.
type chain struct {
	// next is the offset of the next record, epoch that of the claim in force.
	next, epoch int64
	// epochs are those of the last event from each old partition.
	epochs map[int32]int64
}

// links are the records of one step.
type links struct {
	claim []byte // nil: none
	event []byte
	at    int64 // offset of the event
}

// claims tells whether the event that comes next, written under epoch in
// partition old, needs a claim.
func (c *chain) claims(old int32, epoch int64) bool {
	last, known := c.epochs[old]
	return c.epoch == 0 || known && last != epoch
}

// offset is where that event will stand.
func (c *chain) offset(old int32, epoch int64) int64 {
	if c.claims(old, epoch) {
		return c.next + 1
	}
	return c.next
}

// add makes the event.
func (c *chain) add(old int32, epoch int64, owner string, body []byte, positions ...*weftpb.Position) (links, error) {
	var l links
	if c.claims(old, epoch) {
		l.claim = ledger.ClaimOf(owner)
		c.next++
		c.epoch = c.next
	}
	if c.epochs == nil {
		c.epochs = map[int32]int64{}
	}
	c.epochs[old] = epoch
	l.at = c.next
	var err error
	l.event, err = ledger.Encode(&weftpb.Event{Epoch: c.epoch, Offset: c.next, Body: body, Positions: positions})
	if err != nil {
		return links{}, fmt.Errorf("encode event: %w", err)
	}
	c.next++
	return l, nil
}
