package ledger

import "maps"

// Claiming is what a new owner does to make a partition its own, step by step.
// It follows the recovery:
//
//	append a claim ─▶ fold up to it ─▶ ask where the logs begin and end, the
//	ledger's last ─▶ ask what tells whether an input was cut ─▶ set each input
//	to what follows its position ─▶ append a reset, if positions went back ─▶ live
//
// Next says which step is due. It says the same step again until it is told the result. A shell
// carries the steps out: the shell of package ledger on a broker, the shell of package sim on a
// simulated broker. A Claiming is not safe for concurrent use, and a call of Next is a call of
// its Partition.
type Claiming struct {
	p        *Partition
	owner    string
	mayReset bool

	claim  int64            // offset of the claim, -1 before
	logs   Logs             // as far as was asked
	stamps map[string]int64 // of the records at the positions
	losses []Loss

	resumed bool
	next    map[string]int64
	set     bool // inputs go on at next
	reset   []byte
}

// ClaimStep is one step of a Claiming.
type ClaimStep struct {
	Kind ClaimKind
	// Topic is what AskBounds, AskStamp and AskCommit are about.
	Topic string
	// Offset is the end that FoldTo folds up to, or the record of AskStamp.
	Offset int64
	// Value is what AppendClaim and AppendReset append.
	Value []byte
	// Next is where SetInputs lets each input go on, and Losses what is gone before
	// that.
	Next   map[string]int64
	Losses []Loss
}

// ClaimKind says what a ClaimStep does.
type ClaimKind int

// The steps.
const (
	AppendClaim ClaimKind = iota // append Value; then Claimed
	FoldTo                       // fold the ledger up to before Offset
	AskBounds                    // of Topic; then Bounded
	AskStamp                     // of the record at Offset of Topic; then Stamped
	AskCommit                    // of the group in Topic; then Committed
	SetInputs                    // to Next; then InputsSet
	AppendReset                  // append Value; then ResetAppended
	Owned                        // the partition is live
)

// Loss is an input whose log is no longer what the partition folded.
type Loss struct {
	Topic    string
	Position int64
	Log      Bounds
	// Intact is the offset below which the log is what was folded. -1: the input was
	// trimmed beyond its position, because the ledger lost its end.
	Intact int64
}

// NewClaiming returns the claiming of p by owner. mayReset has the same meaning as for
// Partition.Resume.
func NewClaiming(p *Partition, owner string, mayReset bool) *Claiming {
	return &Claiming{
		p: p, owner: owner, mayReset: mayReset, claim: -1,
		logs:   Logs{map[string]Bounds{}, map[string]int64{}, map[string]int64{}},
		stamps: map[string]int64{},
	}
}

// Next is the step that is due. It returns the errors of Partition.Resume.
func (c *Claiming) Next() (ClaimStep, error) {
	switch {
	case c.claim < 0:
		return ClaimStep{Kind: AppendClaim, Value: ClaimOf(c.owner)}, nil
	case c.p.folded < c.claim && !c.resumed:
		return ClaimStep{Kind: FoldTo, Offset: c.claim + 1}, nil
	}
	for _, topic := range append(c.p.proc.InputTopics(), c.p.proc.Ledger) {
		if _, known := c.logs.Bounds[topic]; !known {
			return ClaimStep{Kind: AskBounds, Topic: topic}, nil
		}
	}
	if !c.resumed {
		if question, open := c.findCuts(); open {
			return question, nil
		}
		var err error
		if c.next, c.reset, err = c.p.Resume(c.logs, c.mayReset); err != nil {
			return ClaimStep{}, err
		}
		c.resumed = true
	}
	switch {
	case !c.set:
		return ClaimStep{Kind: SetInputs, Next: maps.Clone(c.next), Losses: c.losses}, nil
	case c.reset != nil:
		return ClaimStep{Kind: AppendReset, Value: c.reset}, nil
	}
	c.p.Live(c.logs.Bounds[c.p.proc.Ledger].Start)
	return ClaimStep{Kind: Owned}, nil
}

// Claimed says that the claim stands at offset.
func (c *Claiming) Claimed(offset int64) { c.claim = offset }

// Bounded answers AskBounds.
func (c *Claiming) Bounded(topic string, log Bounds) { c.logs.Bounds[topic] = log }

// Stamped answers AskStamp with the record's timestamp, in milliseconds since
// 1970.
func (c *Claiming) Stamped(topic string, timestampMS int64) { c.stamps[topic] = timestampMS }

// Committed answers AskCommit with where the group would go on, 0 before its
// first commit.
func (c *Claiming) Committed(topic string, next int64) { c.logs.Commits[topic] = next }

// InputsSet says that the inputs are set to where SetInputs said.
func (c *Claiming) InputsSet() { c.set = true }

// ResetAppended says that the reset is acknowledged.
func (c *Claiming) ResetAppended() { c.reset = nil }

// findCuts looks for inputs that were cut by an unclean end of the broker, or
// returns the next question about them. A log that ends below the position was
// cut. A log that was cut and has grown again is recognized by the timestamp of
// the record at the position; without that check, the records at the old offsets
// would be skipped.
//
// The commit tells up to where the log is intact, because it follows the folded
// events, and an embedded broker takes commits back to the ends of its logs. The
// commit also tells an input that was trimmed too far from a ledger that lost its
// end.
func (c *Claiming) findCuts() (question ClaimStep, open bool) {
	var losses []Loss
	for _, topic := range c.p.proc.InputTopics() {
		at, known := c.p.positions[topic]
		log := c.logs.Bounds[topic]
		if !known || at.Offset+1 == log.Start {
			continue // nothing to compare
		}
		if at.Offset >= log.Start && at.Offset < log.End {
			if at.TimestampMS == 0 {
				continue
			}
			stamp, asked := c.stamps[topic]
			if !asked {
				return ClaimStep{Kind: AskStamp, Topic: topic, Offset: at.Offset}, true
			}
			if stamp == at.TimestampMS {
				continue
			}
		}
		commit, asked := c.logs.Commits[topic]
		if !asked {
			return ClaimStep{Kind: AskCommit, Topic: topic}, true
		}
		found := Loss{Topic: topic, Position: at.Offset, Log: log, Intact: -1}
		if at.Offset < log.Start {
			if commit >= log.Start {
				losses = append(losses, found)
			}
			continue
		}
		found.Intact = log.Start
		if commit <= log.End {
			found.Intact = max(found.Intact, commit)
		}
		c.logs.Intact[topic] = found.Intact
		losses = append(losses, found)
	}
	c.losses = losses
	return ClaimStep{}, false
}
