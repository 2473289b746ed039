package transfer

import (
	"fmt"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/ledger"
)

// chain makes the records of one partition of a new ledger from valid events of old
// partitions: each event names the latest claim before it and its own offset. If the owner
// of an old partition had changed between two of its events, there is a claim between
// them again, so that facts about one owner, such as its clock, do not span two owners.
type chain struct {
	// next is the offset of the next record, epoch is the epoch of the claim in force.
	next, epoch int64
	// epochs has the epoch of the last event from each old partition.
	epochs map[int32]int64
}

// follow begins the next event, which is from partition old with that epoch. It reports
// whether a claim is in front of the event. The offset of the event is next.
func (c *chain) follow(old int32, epoch int64) (claims bool) {
	last, known := c.epochs[old]
	if claims = c.epoch == 0 || known && last != epoch; claims {
		c.next++
		c.epoch = c.next
	}
	if c.epochs == nil {
		c.epochs = map[int32]int64{}
	}
	c.epochs[old] = epoch
	return claims
}

// event encodes the event that was begun.
func (c *chain) event(body []byte, positions ...*weftpb.Position) ([]byte, error) {
	raw, err := ledger.Encode(&weftpb.Event{Epoch: c.epoch, Offset: c.next, Body: body, Positions: positions})
	if err != nil {
		return nil, fmt.Errorf("encode event: %w", err)
	}
	c.next++
	return raw, nil
}
