package ledger

import (
	"errors"
	"fmt"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// ErrInputLost means that an input topic no longer holds what the ledger says
// comes next: it was trimmed too far, or it is not the topic it was.
var ErrInputLost = errors.New("input does not hold the ledger's position")

// ClaimOf is the record with which owner claims a partition.
func ClaimOf(owner string) []byte {
	return encode(&weftpb.Event{Claim: &weftpb.Claim{Owner: owner}})
}

// Bounds of a log: its first offset and its end.
type Bounds struct{ Start, End int64 }

// Resume says where each input goes on, whatever the group has committed: at
// the offset that follows the ledger's position. A position beyond the end of
// its log is ErrInputLost, or, if mayReset, set back to the end: reset is then
// an event that says so. It must be appended before anything is decided, and is
// folded already.
func (p *Partition) Resume(bounds map[string]Bounds, mayReset bool) (next map[string]int64, reset []byte, err error) {
	next = map[string]int64{}
	var cut []*weftpb.Position
	for _, in := range p.def.inputs {
		log := bounds[in.topic]
		goOn := log.Start
		at, known := p.positions[in.topic]
		if known {
			goOn = at.Offset + 1
		}
		switch {
		case goOn < log.Start, goOn > log.End && !mayReset:
			return nil, nil, fmt.Errorf("%w: %s/%d holds %d to %d, %s goes on at %d",
				ErrInputLost, in.topic, p.number, log.Start, log.End, p.def.ledger, goOn)
		case goOn > log.End:
			goOn = log.End
			cut = append(cut, &weftpb.Position{Topic: in.topic, Offset: log.End - 1, Epoch: at.Epoch})
		}
		next[in.topic] = goOn
	}
	if len(cut) == 0 {
		return next, nil, nil
	}
	for _, at := range cut {
		p.positions[at.Topic] = Position{Offset: at.Offset, Epoch: at.Epoch}
	}
	p.folded++
	return next, encode(&weftpb.Event{Epoch: p.reader.Epoch, Offset: p.folded, Positions: cut, Reset_: true}), nil
}

// Live lets the partition make events: it is claimed, everything up to the
// claim is folded, and a reset is acknowledged.
func (p *Partition) Live() { p.live = true }
