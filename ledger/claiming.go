package ledger

import "maps"

// Claiming is what a new owner does to make a partition its own, step by step.
// It follows the recovery:
//
//	append a claim ─▶ fold up to it ─▶ ask where the logs begin and end, the
//	ledger's last ─▶ ask what tells whether an input was cut ─▶ set each input
//	to what follows its position ─▶ append a reset, if positions went back ─▶ live
//
// Next says which step is due, and says it again until it is told what came of
// it. A shell carries the steps out: package ledger's on a broker, package sim's
// in a simulated one. A Claiming is not safe for concurrent use, and calls of
// Next are calls of its Partition.
type Claiming struct {
	p        *Partition
	owner    string
	mayReset bool

	claim   int64             // offset of the claim, -1 before
	bounds  map[string]Bounds // by topic, as far as they were asked for
	stamps  map[string]int64  // of the records at the positions
	commits map[string]int64  // of the group
	losses  []Loss

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
	// Next is where SetInputs lets each input go on, and Losses what was found
	// to be gone before that.
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

// Loss is an input whose log is not what the partition folded any more.
type Loss struct {
	Topic    string
	Position int64
	Log      Bounds
	// Intact is the offset below which the log is what was folded, or -1: the
	// input was trimmed behind its position, and it is the ledger that lost its
	// end.
	Intact int64
}

// NewClaiming returns what owner does to make p its own. mayReset is that of
// Partition.Resume.
func NewClaiming(p *Partition, owner string, mayReset bool) *Claiming {
	return &Claiming{
		p: p, owner: owner, mayReset: mayReset, claim: -1,
		bounds: map[string]Bounds{}, stamps: map[string]int64{}, commits: map[string]int64{},
	}
}

// Next is the step that is due. Its errors are those of Partition.Resume.
func (c *Claiming) Next() (ClaimStep, error) {
	switch {
	case c.claim < 0:
		return ClaimStep{Kind: AppendClaim, Value: ClaimOf(c.owner)}, nil
	case c.p.folded < c.claim && !c.resumed:
		return ClaimStep{Kind: FoldTo, Offset: c.claim + 1}, nil
	}
	for _, topic := range append(c.p.def.Inputs(), c.p.def.ledger) {
		if _, known := c.bounds[topic]; !known {
			return ClaimStep{Kind: AskBounds, Topic: topic}, nil
		}
	}
	if !c.resumed {
		if question, open := c.findCuts(); open {
			return question, nil
		}
		var err error
		if c.next, c.reset, err = c.p.Resume(c.bounds, c.mayReset); err != nil {
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
	c.p.Live(c.bounds[c.p.def.ledger].Start)
	return ClaimStep{Kind: Owned}, nil
}

// Claimed says that the claim stands at offset.
func (c *Claiming) Claimed(offset int64) { c.claim = offset }

// Bounded answers AskBounds.
func (c *Claiming) Bounded(topic string, log Bounds) { c.bounds[topic] = log }

// Stamped answers AskStamp with the record's timestamp, in milliseconds since
// 1970.
func (c *Claiming) Stamped(topic string, timestampMS int64) { c.stamps[topic] = timestampMS }

// Committed answers AskCommit with where the group would go on, 0 before its
// first commit.
func (c *Claiming) Committed(topic string, next int64) { c.commits[topic] = next }

// InputsSet says that the inputs go on where SetInputs said.
func (c *Claiming) InputsSet() { c.set = true }

// ResetAppended says that the reset is acknowledged.
func (c *Claiming) ResetAppended() { c.reset = nil }
