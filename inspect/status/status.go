package status

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/topics"
)

// Lag is the position of a stage's group in one input partition.
type Lag struct {
	Stage     topics.Stage
	Topic     string
	Partition int32
	// Start and End of the log; Committed is the group's next offset, -1 before its
	// first commit.
	Start, End, Committed int64
	// Open is the number of records that cannot be read before an open transaction
	// ends.
	Open int64
}

// Behind is the number of records that the group has not consumed. A commit beyond the end leaves none.
func (l Lag) Behind() int64 { return max(l.End-max(l.Committed, l.Start), 0) }

// lost describes a commit beyond the end of the log. Ends are read after commits, so the log has become shorter.
func (l Lag) lost() string {
	return fmt.Sprintf("%s has consumed %s/%d up to offset %d, and the log ends at %d: its brokers have lost records, or it was made anew",
		l.Stage, l.Topic, l.Partition, l.Committed, l.End)
}

// Status is the status of a crawl at one moment.
type Status struct {
	Lags []Lag
	// Gauges are summed over the partitions of scheduled.
	Gauges *weftpb.Gauges
	// Strangers is the number of records in the ledgers that are not events: other
	// programs wrote them, and they are skipped.
	Strangers int64
	// Damaged says which partitions of scheduled cannot be read. Gauges do not include
	// them, and the crawl is not drained.
	Damaged []error
	// Moving counts the partitions of scheduled that grew while they were read.
	Moving int
}

// Drained reports whether the crawl has nothing left to do.
func (s Status) Drained() bool { return s.Left() == "" }

// Blocked reports whether only URLs of blocked domains are left.
func (s Status) Blocked() bool {
	blocked := s.Gauges.GetBlocked()
	return len(s.Damaged) == 0 && blocked > 0 && s.Gauges.GetPending() == blocked && s.unread() == ""
}

// Left describes one thing that keeps the crawl from being drained; empty if there is
// none.
func (s Status) Left() string {
	if len(s.Damaged) > 0 {
		return s.Damaged[0].Error()
	}
	if p := s.Gauges.GetPending(); p != 0 {
		return fmt.Sprintf("%d URLs are pending in the frontier", p)
	}
	return s.unread()
}

// InFlight describes one thing that is on its way through the loop; empty if there is
// none. URLs in the frontier's queues are not on their way.
func (s Status) InFlight() string {
	g := s.Gauges
	if g.GetVisits() != 0 || g.GetOut() != 0 {
		return fmt.Sprintf("%d URLs of %d visits are out", g.GetOut(), g.GetVisits())
	}
	return s.unread()
}

// Quiet finds the end of a drain: nothing was on its way for a second. Schedulers learn
// of a drain at about the same moment, and one of them may release something before it
// does. The zero value is ready for use.
type Quiet struct{ since time.Time }

// Ended tells whether the drain has ended, by the status that was read at now.
func (q *Quiet) Ended(s Status, now time.Time) bool {
	switch {
	case s.InFlight() != "":
		q.since = time.Time{}
	case q.since.IsZero():
		q.since = now
	}
	return !q.since.IsZero() && now.Sub(q.since) >= time.Second
}

// unread describes one thing that a stage of the loop still has to read. A follower takes its
// work from a ledger. An archiver commits a file at a time, and is behind the loop.
func (s Status) unread() string {
	if s.Moving > 0 {
		return fmt.Sprintf("%d partitions of the frontier are moving", s.Moving)
	}
	for _, l := range s.Lags {
		if l.Open > 0 && l.Behind() == l.Open {
			return l.transaction()
		}
		kind := topics.KindOf(l.Stage)
		if kind == topics.Follower || kind == topics.Archiver {
			continue
		}
		if l.Committed > l.End {
			return l.lost()
		}
		if l.Behind() > 0 {
			return fmt.Sprintf("%s is %d records behind in %s/%d", l.Stage, l.Behind(), l.Topic, l.Partition)
		}
	}
	return ""
}

// Lost describes a stage whose log has become shorter than what it has consumed; empty if there is none.
func (s Status) Lost() string {
	for _, l := range s.Lags {
		if l.Committed > l.End {
			return l.lost()
		}
	}
	return ""
}

// Transaction describes records that wait for the end of a producer's transaction; empty
// if there are none.
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

// Members counts the processes that run each stage: the members of its group.
func Members(ctx context.Context, names topics.Names, admin *kadm.Client, stages ...topics.Stage) (map[topics.Stage]int, error) {
	var groups []string
	for _, stage := range stages {
		groups = append(groups, names.Group(stage))
	}
	described, err := admin.DescribeGroups(ctx, groups...)
	if err != nil {
		return nil, fmt.Errorf("describe the groups of %s: %w", names.Crawl, err)
	}
	members := map[topics.Stage]int{}
	for _, stage := range stages {
		group := described[names.Group(stage)]
		if group.Err != nil && !errors.Is(group.Err, kerr.GroupIDNotFound) {
			return nil, fmt.Errorf("describe group %s: %w", names.Group(stage), group.Err)
		}
		members[stage] = len(group.Members)
	}
	return members, nil
}
