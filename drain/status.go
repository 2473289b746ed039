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
}

// Behind is the number of records that the group has not consumed.
func (l Lag) Behind() int64 { return l.End - max(l.Committed, l.Start) }

// Status is one reading of a crawl.
type Status struct {
	Lags []Lag
	// Gauges are summed over the partitions of scheduled.
	Gauges *weftpb.Gauges
	// Moving counts the partitions of scheduled that grew during the reading.
	Moving int
}

// Drained applies the test to a reading, which was made in the test's order.
func (s Status) Drained() bool { return s.Left() == "" }

// Left says, in words, one thing that keeps the crawl from being drained; it is
// empty when nothing does.
func (s Status) Left() string {
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
		if l.Stage != topics.Fetch && l.Behind() != 0 {
			return fmt.Sprintf("%s is %d records behind in %s/%d", l.Stage, l.Behind(), l.Topic, l.Partition)
		}
	}
	return ""
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
