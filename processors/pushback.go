package processors

import (
	"context"
	"sync"

	"github.com/weftcrawl/weft/replay"
	"github.com/weftcrawl/weft/supervise"
)

// pushback holds fetch back while its Backlog is full. It is safe for
// concurrent use.
type pushback struct {
	logs  *replay.Reader
	group string
	topic string

	mu   sync.Mutex
	core *Backlog
	room chan struct{} // closed while the backlog is not full
}

func newPushback(logs *replay.Reader, group, topic string, limit int64) *pushback {
	b := &pushback{logs: logs, group: group, topic: topic, core: NewBacklog(limit), room: make(chan struct{})}
	close(b.room)
	return b
}

func (b *pushback) send(bytes int) { b.change(func() { b.core.Send(bytes) }) }

func (b *pushback) acknowledged(partition int32, offset int64, bytes int) {
	b.change(func() { b.core.Acknowledged(partition, offset, bytes) })
}

func (b *pushback) settle(partition int32, next int64) {
	b.change(func() { b.core.Settle(partition, next) })
}

func (b *pushback) forget(partition int32) { b.change(func() { b.core.Forget(partition) }) }

// change changes the backlog, and wakes those who wait for room if there is any.
func (b *pushback) change(do func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	was := b.core.Full()
	do()
	switch is := b.core.Full(); {
	case !was && is:
		b.room = make(chan struct{})
	case was && !is:
		close(b.room)
	}
}

// full tells whether the backlog is full, and returns a channel that is closed
// when it is not any more.
func (b *pushback) full() (bool, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.core.Full(), b.room
}

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
