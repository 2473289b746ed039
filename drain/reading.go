package drain

import (
	"fmt"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/topics"
)

// Offsets are one for each partition of topics.
type Offsets map[string]map[int32]int64

// Reading is what was read of a crawl, in the order of its fields: the test is
// exact in this order only.
type Reading struct {
	// Before are the ends of scheduled.
	Before map[int32]int64
	// Commits of each stage's group in its inputs; what is missing was never
	// committed.
	Commits map[topics.Stage]Offsets
	// Starts and Ends of every log that stages read.
	Starts, Ends Offsets
	// Stable are the ends of what can be read of seeds, in front of transactions
	// that are open. What is missing ends with its log.
	Stable Offsets
	// Gauges of the last valid event before the end of each partition of
	// scheduled; nil in one that holds none.
	Gauges []*weftpb.Gauges
	// Strangers is how many records of the ledgers were no events.
	Strangers int64
	// Damaged are the partitions of scheduled whose end cannot be read. Their
	// errors wrap ledger.ErrCorrupt.
	Damaged []error
}

// Status puts a reading together, in the order of the loop.
func (r Reading) Status(names topics.Names) (Status, error) {
	s := Status{Gauges: sum(r.Gauges), Strangers: r.Strangers, Damaged: r.Damaged}
	for p, end := range r.Ends[names.Scheduled] {
		if was, ok := r.Before[p]; !ok || was != end {
			s.Moving++
		}
	}
	for _, stage := range topics.Stages() {
		for _, topic := range names.Inputs(stage) {
			for p := range int32(len(r.Ends[topic])) {
				start, ok1 := r.Starts[topic][p]
				end, ok2 := r.Ends[topic][p]
				if !ok1 || !ok2 {
					return Status{}, fmt.Errorf("read bounds of %s/%d: %w", topic, p, topics.ErrMissing)
				}
				l := Lag{Stage: stage, Topic: topic, Partition: p, Start: start, End: end, Committed: -1}
				if c, ok := r.Commits[stage][topic][p]; ok {
					l.Committed = c
				}
				if stable, ok := r.Stable[topic][p]; ok {
					l.Open = max(end-max(stable, l.Committed, start), 0)
				}
				s.Lags = append(s.Lags, l)
			}
		}
	}
	return s, nil
}

// sum adds up the gauges of partitions.
func sum(partitions []*weftpb.Gauges) *weftpb.Gauges {
	total := new(weftpb.Gauges)
	for _, g := range partitions {
		total.Pending += g.GetPending()
		total.Queued += g.GetQueued()
		total.Out += g.GetOut()
		total.Visits += g.GetVisits()
		total.Domains += g.GetDomains()
		total.DomainsOut += g.GetDomainsOut()
		total.Fetched += g.GetFetched()
		total.Failed += g.GetFailed()
		total.Refused += g.GetRefused()
		total.Withdrawn += g.GetWithdrawn()
	}
	return total
}
