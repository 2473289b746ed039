package processors

import (
	"context"
	"fmt"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/lanes"
	"github.com/weftcrawl/weft/ledger"
)

// Board is what fetch knows of one partition of scheduled: the visits that are
// released and not settled. It is folded from the ledger alone, from the
// offset that the last record calls oldest, so that nothing released is
// forgotten and nothing settled is repeated.
type Board struct {
	ctx   context.Context
	end   context.CancelCauseFunc
	topic string
	// takenAt is when the partition became ours, reported the end of visited
	// at that moment: what a former owner reported is settled before anything
	// is started.
	takenAt  time.Time
	reported int64
	begun    bool // its work has begun; of beginBoards' goroutine
	flights  *flights

	mu     sync.Mutex
	reader ledger.Reader
	next   int64 // offset of the record to be folded next
	live   bool  // what is released is started at once
	visits map[string]*Posted
	// order keeps releases in the order of the log until the board is live.
	order []string
}

// Posted is a visit on the board.
type Posted struct {
	ctx    context.Context
	cancel context.CancelFunc
	visit  *lanes.Visit
	open   int // requests without an outcome
	// releasedMs is when it was released, on the scheduler's clock.
	releasedMs int64
}

// newBoard returns the board of a partition that is read from the offset from;
// its work ends with ctx or by end.
func newBoard(ctx context.Context, topic string, from, reported int64, takenAt time.Time) *Board {
	ctx, end := context.WithCancelCause(ctx)
	return &Board{ctx: ctx, end: end, topic: topic, takenAt: takenAt, reported: reported, next: from, visits: map[string]*Posted{}, flights: newFlights()}
}

// Context is the visit's: it ends when the visit is settled or somebody else's.
func (p *Posted) Context() context.Context { return p.ctx }

// Visit is what lanes make requests of.
func (p *Posted) Visit() *lanes.Visit { return p.visit }

// Fold folds one record and returns the visits to start now, in order.
func (b *Board) Fold(key string, value []byte, partition int32, offset int64) ([]*Posted, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next = offset + 1
	ev, err := b.reader.Read(value, b.topic, partition, offset)
	if err != nil {
		return nil, err
	}
	var released []*Posted
	if ev != nil && len(ev.Body) > 0 {
		var body weftpb.Scheduled
		if err := proto.Unmarshal(ev.Body, &body); err != nil {
			return nil, fmt.Errorf("%w: %s/%d at %d: %w", ledger.ErrCorrupt, b.topic, partition, offset, err)
		}
		b.settle(&body)
		for _, v := range body.Released {
			released = append(released, b.post(key, partition, v, body.DecidedMs))
		}
	}
	if b.live {
		return released, nil
	}
	return nil, nil
}

func (b *Board) post(domain string, partition int32, v *weftpb.Visit, releasedMs int64) *Posted {
	ctx, cancel := context.WithCancel(b.ctx)
	p := &Posted{
		ctx: ctx, cancel: cancel, open: len(v.Requests), releasedMs: releasedMs,
		visit: &lanes.Visit{Visit: v, Domain: domain, Partition: partition},
	}
	b.visits[v.Id] = p
	if !b.live {
		p.visit.Settled = map[uint32]bool{}
		b.order = append(b.order, v.Id)
	}
	return p
}

// settle takes what the event settles off the board.
func (b *Board) settle(body *weftpb.Scheduled) {
	for _, s := range body.Settled {
		p := b.visits[s.Visit]
		if p == nil {
			continue
		}
		switch {
		case !b.live:
			p.visit.Settled[s.Index] = true
		case p.visit.Settled != nil:
			// Taken over, and what was found in fetched is settled now.
			p.visit.Settle(s.Index)
		}
		if p.open--; p.open <= 0 {
			b.remove(s.Visit)
		}
	}
	for _, id := range body.Expired {
		b.remove(id)
	}
}

// remove ends a visit: it is settled, or released again under another id.
func (b *Board) remove(id string) {
	if p := b.visits[id]; p != nil {
		p.cancel()
		delete(b.visits, id)
	}
}

// Unsettled returns what the partition's former owner left undone, in the order
// of its release.
func (b *Board) Unsettled() []*Posted {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.left()
}

func (b *Board) left() (left []*Posted) {
	for _, id := range b.order {
		if p := b.visits[id]; p != nil {
			left = append(left, p)
		}
	}
	return left
}

// Begin makes the board live: it returns what is to be started now, and Fold
// returns what is released from now on.
func (b *Board) Begin() []*Posted {
	b.mu.Lock()
	defer b.mu.Unlock()
	left := b.left()
	b.live, b.order = true, nil
	return left
}
