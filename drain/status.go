package drain

import (
	"fmt"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/topics"
)

// Lag is how far a group is in one input partition.
type Lag struct {
	Stage     topics.Stage
	Topic     string
	Partition int32
	// Start and End of the log; Committed is where the group goes on, -1
	// before its first commit.
	Start, End, Committed int64
	// Open are the records before End that are not to be read before the
	// transactions end that they are in or behind.
	Open int64
}

// Behind is the number of records that the group has not consumed.
func (l Lag) Behind() int64 { return l.End - max(l.Committed, l.Start) }

// Status is one reading of a crawl.
type Status struct {
	Lags []Lag
	// Gauges are summed over the partitions of scheduled.
	Gauges *weftpb.Gauges
	// Strangers is how many records of the ledgers are no events of theirs: other
	// programs wrote them, and they are passed over.
	Strangers int64
	// Damaged says which partitions of scheduled cannot be read; Gauges are
	// without them, and such a crawl is not drained.
	Damaged []error
	// Moving counts the partitions of scheduled that grew during the reading.
	Moving int
}

// Drained applies the test to a reading, which was made in the test's order.
func (s Status) Drained() bool { return s.Left() == "" }

// Left says, in words, one thing that keeps the crawl from being drained; it is
// empty when nothing does.
func (s Status) Left() string {
	if len(s.Damaged) > 0 {
		return s.Damaged[0].Error()
	}
	if p := s.Gauges.GetPending(); p != 0 {
		return fmt.Sprintf("%d URLs are pending in the frontier", p)
	}
	return s.unread()
}

// unread says, in words, one thing that a stage has yet to read.
func (s Status) unread() string {
	if s.Moving > 0 {
		return fmt.Sprintf("%d partitions of the frontier are moving", s.Moving)
	}
	for _, l := range s.Lags {
		if l.Open > 0 && l.Behind() == l.Open {
			return l.transaction()
		}
		if l.Stage != topics.Fetch && l.Behind() != 0 {
			return fmt.Sprintf("%s is %d records behind in %s/%d", l.Stage, l.Behind(), l.Topic, l.Partition)
		}
	}
	return ""
}

// Transaction says, in words, which records wait for the end of a transaction
// that somebody else has begun; empty: none do.
func (s Status) Transaction() string {
	for _, l := range s.Lags {
		if l.Open > 0 {
			return l.transaction()
		}
	}
	return ""
}

func (l Lag) transaction() string {
	return fmt.Sprintf("%d records of %s/%d wait for the end of a transaction that a producer has open", l.Open, l.Topic, l.Partition)
}

// Behind sums the lags of a stage.
func (s Status) Behind(stage topics.Stage) (records int64) {
	for _, l := range s.Lags {
		if l.Stage == stage {
			records += l.Behind()
		}
	}
	return records
}
