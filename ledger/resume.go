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
type Bounds struct {
	Start, End int64
	// Committed is where the group would go on, 0 when that does not matter.
	Committed int64
}

// Cut tells the partition, before Resume, that the log of an input was cut by an
// unclean end of its broker: the record at the partition's position is gone, or
// is another one. Below intact the log is what was folded.
func (p *Partition) Cut(topic string, intact int64) { p.intact[topic] = intact }

// Resume says where each input goes on, whatever the group has committed: at
// the offset that follows the ledger's position. A log that was cut is
// ErrInputLost, or, if mayReset, gone on with where it is intact: reset is then
// an event that says so. It must be appended before anything is decided, and is
// folded already. Without Cut, a position beyond the end says that a log was
// cut, and intact is all of it.
//
// A position below the beginning of its log is ErrInputLost too, unless the
// group had committed what was trimmed: then it is the ledger that lost its end,
// with its embedded broker's machine, and if mayReset the input goes on at its
// beginning.
//
// bounds hold those of the ledger too, asked for last: inputs that are gone are
// another owner's doing when the ledger has grown beyond the claim (ErrFenced).
// An owner that was stopped between its claim and this question finds them
// consumed and trimmed by the next one.
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
		intact, rewritten := p.intact[in.topic]
		if !rewritten {
			intact = log.End
		}
		switch rewritten = rewritten || goOn > log.End; {
		case goOn < log.Start && mayReset && log.Committed >= log.Start:
			goOn = log.Start
			cut = append(cut, Position{Offset: goOn - 1, Epoch: at.Epoch, Hole: at.Hole}.record(in.topic))
		case goOn < log.Start, rewritten && !mayReset:
			lost := ErrInputLost
			if bounds[p.def.ledger].End > p.folded+1 {
				lost = ErrFenced
			}
			return nil, nil, fmt.Errorf("%w: %s/%d holds %d to %d, %s goes on at %d",
				lost, in.topic, p.number, log.Start, log.End, p.def.ledger, goOn)
		case rewritten:
			goOn = max(min(intact, goOn, log.End), log.Start)
			cut = append(cut, at.before(goOn).record(in.topic))
		}
		next[in.topic] = goOn
	}
	if len(cut) == 0 {
		return next, nil, nil
	}
	for _, at := range cut {
		p.positions[at.Topic] = positionOf(at)
	}
	p.folded++
	reset = encode(&weftpb.Event{Epoch: p.reader.Epoch, Offset: p.folded, Positions: cut, Reset_: true, Strangers: p.strangers})
	p.record = checksum(reset)
	return next, reset, nil
}

// before is the position of an input that goes on at offset again. The claim in
// force there is 0 when only the log can tell: it is made there again if it was
// made beyond.
func (at Position) before(offset int64) Position {
	back := Position{Offset: offset - 1, Epoch: at.Epoch}
	if at.Epoch > offset {
		back.Epoch = 0
	}
	if at.Hole < offset {
		back.Hole = at.Hole
	}
	return back
}

// Live lets the partition make events: it is claimed, everything up to the
// claim is folded, and a reset is acknowledged. Its ledger's log begins at start.
func (p *Partition) Live(start int64) {
	p.def.begins(p.state, start)
	p.live = true
}
