package processors

import (
	"context"
	"math"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// Takeover is what a fetcher finds when it gets a partition.
type Takeover struct {
	// Topic is that of the ledger, scheduled; it holds Start to End.
	Topic      string
	Start, End int64
	// Last is what the ledger said last (replay.LastDecision); nil: nothing.
	Last *weftpb.Scheduled
	// Reported is the end of visited.
	Reported int64
	// At is the moment of the takeover, on the clock of lanes.
	At time.Time
	// Alone says that there is no other fetcher anywhere.
	Alone bool
}

// TakeOver returns the board of a partition: it is read from what the last
// decision calls oldest. Its work ends with ctx or by End.
func TakeOver(ctx context.Context, t Takeover) *Board {
	if t.Alone && untouched(t.Last.GetGauges()) {
		t.At = time.Time{} // nobody was asked yet
	}
	from := max(t.Start, min(t.Last.GetOldest(), t.End))
	return newBoard(ctx, t.Topic, from, t.Reported, t.At)
}

// untouched tells that a partition never held a URL.
func untouched(g *weftpb.Gauges) bool {
	return g.GetPending() == 0 && g.GetFetched() == 0 && g.GetFailed() == 0 && g.GetRefused() == 0
}

// Next is the offset of the record that is to be folded next.
func (b *Board) Next() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.next
}

// End ends the work on the partition.
func (b *Board) End(cause error) { b.end(cause) }

// MayBegin tells whether what the former owner reported is settled and folded.
// The stage schedule has committed visited up to commit, which begins at start,
// and scheduled, asked afterwards, ends at end.
func (b *Board) MayBegin(commit, start, end int64) bool {
	return max(commit, start) >= b.reported && b.Next() >= end
}

// Hold keeps a visit from being asked at once. Soon after a takeover nobody
// here knows when the domain was asked last: as if it had been at that moment,
// and pause more.
func (b *Board) Hold(p *Posted, pause time.Duration) {
	delay := time.Duration(p.visit.DelayMs) * time.Millisecond
	p.visit.NotBefore = b.takenAt.Add(delay + pause)
}

// Search looks in fetched for what the former owner of a partition did not come
// to report.
type Search struct {
	// SinceMs is when the first of the visits was released, less maxSkew: what
	// they fetched is not older, by the time of its record.
	SinceMs int64
	// Done are the outcomes found, by visit, in the order of the log.
	Done map[string][]*weftpb.Outcome

	open map[string]bool
}

// maxSkew is how much later than a fetcher's the clock of a scheduler may be
// for what was fetched to be found again.
const maxSkew = time.Minute

// Search returns a search for the outcomes of the visits that are left.
func (b *Board) Search() *Search {
	s := &Search{SinceMs: math.MaxInt64, Done: map[string][]*weftpb.Outcome{}, open: map[string]bool{}}
	for _, p := range b.Unsettled() {
		s.open[p.visit.Id] = true
		s.SinceMs = max(min(s.SinceMs, p.releasedMs-maxSkew.Milliseconds()), 0)
	}
	return s
}

// Empty tells that there is nothing to look for.
func (s *Search) Empty() bool { return len(s.open) == 0 }

// Look takes in a record of fetched.
func (s *Search) Look(value []byte) {
	var record weftpb.Fetched
	// What cannot be decoded is parse's to reject.
	if proto.Unmarshal(value, &record) == nil && s.open[record.Visit] {
		s.Done[record.Visit] = append(s.Done[record.Visit], record.Outcome)
	}
}
