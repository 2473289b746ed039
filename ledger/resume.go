package ledger

import (
	"errors"
	"fmt"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kafka"
)

// ErrInputLost means that an input topic no longer holds what the ledger says
// comes next: it was trimmed too far, or it is not the topic it was.
var ErrInputLost = errors.New("input does not hold the ledger's position")

// ClaimOf returns the record with which owner claims a partition.
func ClaimOf(owner string) []byte {
	return encode(&weftpb.Event{Claim: &weftpb.Claim{Owner: owner}})
}

// Bounds of a partition's log.
type Bounds = kafka.Bounds

// Logs are what Partition.Resume must know, by topic.
type Logs struct {
	// Bounds of the inputs and of the ledger; the caller must ask for the ledger's
	// last.
	Bounds map[string]Bounds
	// Commits of the group, for inputs that begin beyond their position.
	Commits map[string]int64
	// Intact are inputs whose log was cut by an unclean end of its broker: the record
	// at the partition's position is gone, or another one stands there. Below this
	// offset the log is what was folded.
	Intact map[string]int64
}

// Resume says where each input goes on: at the offset after the ledger's position,
// whatever the group has committed.
//
// A log that was cut is ErrInputLost. If mayReset, the input goes on where the log is
// intact, and reset is an event that says so. The caller must append that event
// before anything is decided; it is folded already. If Intact does not
// name it, a position beyond the end means that the log was cut, and that all of the rest is intact.
//
// A position before the beginning of its log is also ErrInputLost, unless the group had committed
// the trimmed records. In that case the ledger lost its end when the machine of its embedded broker
// failed, and if mayReset the input goes on at its beginning.
//
// If an input is gone and the ledger has grown beyond the claim, the error is
// ErrFenced: this owner was stopped between its claim and Resume, and the next owner
// has consumed and trimmed the input.
func (p *Partition) Resume(logs Logs, mayReset bool) (next map[string]int64, reset []byte, err error) {
	next = map[string]int64{}
	var cut []*weftpb.Position
	for _, in := range p.proc.Inputs {
		log := logs.Bounds[in.Topic]
		goOn := log.Start
		at, known := p.positions[in.Topic]
		if known {
			goOn = at.Offset + 1
		}
		intact, rewritten := logs.Intact[in.Topic]
		if !rewritten {
			intact = log.End
		}
		switch rewritten = rewritten || goOn > log.End; {
		case goOn < log.Start && mayReset && logs.Commits[in.Topic] >= log.Start:
			goOn = log.Start
			cut = append(cut, Position{Offset: goOn - 1, Epoch: at.Epoch, Hole: at.Hole}.record(in.Topic))
		case goOn < log.Start, rewritten && !mayReset:
			lost := ErrInputLost
			if logs.Bounds[p.proc.Ledger].End > p.folded+1 {
				lost = ErrFenced
			}
			return nil, nil, fmt.Errorf("%w: %s/%d holds %d to %d, %s goes on at %d",
				lost, in.Topic, p.number, log.Start, log.End, p.proc.Ledger, goOn)
		case rewritten:
			goOn = max(min(intact, goOn, log.End), log.Start)
			cut = append(cut, at.before(goOn).record(in.Topic))
		}
		next[in.Topic] = goOn
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

// before is the position of an input that goes on at offset again. Its epoch is 0 if
// the claim was made beyond offset: then the log will tell it again.
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

// Live lets the partition make events. The caller has claimed it, folded everything
// up to the claim, and waited for the acknowledgement of a reset. The ledger's log
// begins at start.
func (p *Partition) Live(start int64) {
	p.state.Begins(start)
	p.live = true
}
