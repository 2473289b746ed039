package fetch

import (
	"container/list"
	"context"
	"sync"
	"time"

	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/internal/supervise"
	"github.com/weftcrawl/weft/internal/topiclog"
	"github.com/weftcrawl/weft/processors/fetch/hostqueue"
	"github.com/weftcrawl/weft/topics"
)

// backpressure makes visits wait while a Backlog is full for them. Visits of heavy
// domains wait in one queue, all others in another. Each queue is served in order.
// It is safe for concurrent use.
type backpressure struct {
	logs     *topiclog.Reader
	group    string
	topic    string
	parse    func() map[int32]stage.Position // how far parse is in the topic, if it is in this process
	patience time.Duration

	mu           sync.Mutex
	backlog      *Backlog
	turns        map[*hostqueue.Visit]*turn
	light, heavy list.List // of *turn
}

// turn is a visit that waits at the gate, or one that is admitted and has a reservation for an
// expected body. The reservation lasts until the body is there. It lasts no longer than the
// patience (see hostqueue.Options) after the admission while the request waits in the line of its
// address, and no longer than the patience after the start of the request: a long line and a slow
// body delay no others. While the request waits for a slot the reservation stays, however long that
// is. Otherwise the gate would admit more requests while those in front of it wait, and all
// of them would bring their bodies at once.
type turn struct {
	visit    *hostqueue.Visit
	queue    *list.List // nil: it does not wait any more
	place    *list.Element
	ready    chan struct{} // closed when it does not wait any more
	expected Expected
	late     *time.Timer // ends the reservation; nil: it stays
}

func newBackpressure(logs *topiclog.Reader, env stage.Env, opts Options) *backpressure {
	return &backpressure{
		logs: logs, group: env.Names.Group(topics.Parse), topic: env.Names.Fetched,
		parse:    func() map[int32]stage.Position { return env.Positions.Of(topics.Parse, env.Names.Fetched) },
		patience: opts.Queues.Patience,
		backlog:  NewBacklog(opts.BacklogBytes), turns: map[*hostqueue.Visit]*turn{},
	}
}

// admit tells whether the next request of v may begin, and reserves what is expected
// of it. If the request must wait, ready is closed when the caller may ask again.
func (b *backpressure) admit(v *hostqueue.Visit) (admitted bool, ready <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	queue := &b.light
	if b.backlog.Heavy(v.Domain) {
		queue = &b.heavy
	}
	t := b.turns[v]
	if t == nil {
		t = &turn{visit: v, ready: make(chan struct{})}
		t.queue, t.place = queue, queue.PushBack(t)
		b.turns[v] = t
	} else if t.queue != nil && t.queue != queue {
		t.queue.Remove(t.place)
		t.queue, t.place = queue, queue.PushBack(t)
	}
	b.serve()
	return t.queue == nil, t.ready
}

// serve admits waiting visits while the backlog is not full; mu is held.
func (b *backpressure) serve() {
	for _, queue := range []*list.List{&b.light, &b.heavy} {
		for place := queue.Front(); place != nil; {
			t := place.Value.(*turn)
			place = place.Next()
			if b.backlog.Held(t.visit.Domain) {
				continue
			}
			if b.backlog.Full(t.visit.Domain) {
				break
			}
			queue.Remove(t.place)
			t.queue = nil
			close(t.ready)
			t.expected = b.backlog.Expect(t.visit.Domain)
			b.bound(t)
		}
	}
}

// bound ends a reservation when the patience has passed; mu is held.
func (b *backpressure) bound(t *turn) {
	t.late = time.AfterFunc(b.patience, func() {
		b.update(func(*Backlog) {
			if b.turns[t.visit] == t {
				b.endTurn(t.visit)
			}
		})
	})
}

// keep keeps the reservation of v, whose request waits for nothing but a slot. A visit that
// waited longer than the patience for its address gets another reservation. The caller calls
// release.
func (b *backpressure) keep(v *hostqueue.Visit) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.endTurn(v)
	b.turns[v] = &turn{visit: v, expected: b.backlog.Expect(v.Domain)}
}

// begin notes that the request of v begins.
func (b *backpressure) begin(v *hostqueue.Visit) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t := b.turns[v]; t != nil && t.late == nil {
		b.bound(t)
	}
}

// endTurn forgets the turn of v, if there is one; mu is held.
func (b *backpressure) endTurn(v *hostqueue.Visit) {
	t := b.turns[v]
	if t == nil {
		return
	}
	delete(b.turns, v)
	if t.queue != nil {
		t.queue.Remove(t.place)
		return
	}
	if t.late != nil {
		t.late.Stop()
	}
	b.backlog.Cancel(t.expected)
}

// update changes the backlog, and then serves the visits that wait.
func (b *backpressure) update(change func(*Backlog)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(b.backlog)
	b.serve()
}

// release ends v's turn: it does not wait any more, or its request is over.
func (b *backpressure) release(v *hostqueue.Visit) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.endTurn(v)
	b.serve()
}

// send notes a body that v's request brought, in place of the expected one.
func (b *backpressure) send(v *hostqueue.Visit, bytes int) Sent {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.endTurn(v)
	sent := b.backlog.Send(v.Domain, bytes)
	b.serve()
	return sent
}

// acknowledged notes where the record of a body is.
func (b *backpressure) acknowledged(partition int32, offset int64, sent Sent) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.backlog.Acknowledged(partition, offset, sent)
}

// follow asks for the commits of parse until ctx ends.
func (b *backpressure) follow(ctx context.Context) error {
	return supervise.Every(ctx, stage.CommitEvery, func() error {
		commits, err := b.logs.Commits(ctx, b.group, b.topic)
		if err != nil {
			return nil // the backlog stays as it is until the broker answers again
		}
		positions := b.parse()
		b.update(func(backlog *Backlog) {
			for partition, next := range commits {
				backlog.Settle(partition, next)
			}
			for partition := range backlog.partitions {
				backlog.Begun(partition, positions[partition])
			}
		})
		return nil
	})
}
