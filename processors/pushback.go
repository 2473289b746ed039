package processors

import (
	"container/list"
	"context"
	"sync"
	"time"

	"github.com/weftcrawl/weft/lanes"
	"github.com/weftcrawl/weft/replay"
	"github.com/weftcrawl/weft/supervise"
)

// pushback holds visits back while a Backlog is full for them. Those of heavy
// domains wait in one queue, all others in another; a queue is served in order.
// It is safe for concurrent use.
type pushback struct {
	logs     *replay.Reader
	group    string
	topic    string
	patience time.Duration

	mu           sync.Mutex
	core         *Backlog
	turns        map[*lanes.Visit]*turn
	light, heavy list.List // of *turn
}

// turn is a visit that waits for room, or has room for a body that is expected.
// That counts until the body is there, and no longer than the request keeps its
// slot (see lanes.Options): bodies that are slow to come hold nobody up.
type turn struct {
	visit    *lanes.Visit
	queue    *list.List // nil: it does not wait any more
	place    *list.Element
	ready    chan struct{} // closed when it does not wait any more
	expected int64
	late     *time.Timer
}

func newPushback(logs *replay.Reader, group, topic string, opts FetchOptions) *pushback {
	return &pushback{
		logs: logs, group: group, topic: topic, patience: opts.Lanes.Patience,
		core: NewBacklog(opts.BacklogBytes), turns: map[*lanes.Visit]*turn{},
	}
}

// full tells whether the next request of v has to wait, and returns a channel
// that is closed when it need not any more. Then it is to be asked again, and
// what is expected of the request is booked.
func (b *pushback) full(v *lanes.Visit) (bool, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.turns[v]
	if t == nil {
		t = &turn{visit: v, ready: make(chan struct{})}
		b.turns[v] = t
		b.join(t)
	} else if t.queue != nil && t.queue != b.queueOf(v) {
		t.queue.Remove(t.place)
		b.join(t)
	}
	b.serve()
	if t.queue == nil && t.expected == 0 {
		delete(b.turns, v)
	}
	return t.queue != nil, t.ready
}

// queueOf returns where visits of v's domain wait.
func (b *pushback) queueOf(v *lanes.Visit) *list.List {
	if b.core.Heavy(v.Domain) {
		return &b.heavy
	}
	return &b.light
}

func (b *pushback) join(t *turn) {
	t.queue = b.queueOf(t.visit)
	t.place = t.queue.PushBack(t)
}

// serve ends the waiting of those for whom there is room; mu is held.
func (b *pushback) serve() {
	for _, queue := range []*list.List{&b.light, &b.heavy} {
		for queue.Len() > 0 {
			t := queue.Front().Value.(*turn)
			if b.core.Full(t.visit.Domain) {
				break
			}
			queue.Remove(t.place)
			t.queue = nil
			close(t.ready)
			if t.expected = b.core.Expect(t.visit.Domain); t.expected > 0 {
				t.late = time.AfterFunc(b.patience, func() {
					b.change(func() {
						if b.turns[t.visit] == t {
							b.drop(t.visit)
						}
					})
				})
			}
		}
	}
}

// drop forgets the turn of v, if there is one; mu is held.
func (b *pushback) drop(v *lanes.Visit) {
	t := b.turns[v]
	if t == nil {
		return
	}
	delete(b.turns, v)
	if t.queue != nil {
		t.queue.Remove(t.place)
	}
	if t.expected > 0 {
		t.late.Stop()
		b.core.Unexpect(t.expected)
	}
}

// change changes the backlog, and serves who waits.
func (b *pushback) change(do func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	do()
	b.serve()
}

// release ends v's turn: it does not wait any more, or its request is over.
func (b *pushback) release(v *lanes.Visit) { b.change(func() { b.drop(v) }) }

// send books a body that v's request brought, in place of what was expected.
func (b *pushback) send(v *lanes.Visit, bytes int) (sent Sent) {
	b.change(func() {
		b.drop(v)
		sent = b.core.Send(v.Domain, bytes)
	})
	return sent
}

func (b *pushback) acknowledged(partition int32, offset int64, sent Sent) {
	b.change(func() { b.core.Acknowledged(partition, offset, sent) })
}

func (b *pushback) settle(partition int32, next int64) {
	b.change(func() { b.core.Settle(partition, next) })
}

func (b *pushback) forget(partition int32) { b.change(func() { b.core.Forget(partition) }) }

// follow asks for the group's commits until ctx ends.
func (b *pushback) follow(ctx context.Context) error {
	return supervise.Every(ctx, commitEvery, func() error {
		commits, err := b.logs.Commits(ctx, b.group, b.topic)
		if err != nil {
			return nil // the room stays as it is until the broker answers again
		}
		for partition, next := range commits {
			b.settle(partition, next)
		}
		return nil
	})
}
