package processors

import (
	"context"
	"sync"
	"time"

	"github.com/weftcrawl/weft/replay"
)

// backlog knows how many bytes of fetched records the stage parse has not
// committed yet, and holds fetch back above a limit: topics do not push back
// by themselves. It counts what this process wrote, which in a partition that
// it owns is everything new.
type backlog struct {
	logs  *replay.Reader
	group string
	topic string
	limit int64

	mu         sync.Mutex
	partitions map[int32]*written
	behind     int64
	room       chan struct{} // closed while behind is below the limit
}

// written is the records of one partition that are not committed, in order.
type written struct {
	offsets []int64
	sizes   []int64
}

func newBacklog(logs *replay.Reader, group, topic string, limit int64) *backlog {
	b := &backlog{logs: logs, group: group, topic: topic, limit: limit, partitions: map[int32]*written{}, room: make(chan struct{})}
	close(b.room)
	return b
}

// send books a record on its way: a broker that takes its time must not fill the
// memory with bodies. A record that is lost ends the fetcher, and its backlog.
func (b *backlog) send(bytes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.change(int64(bytes))
}

// acknowledged books where a record that was sent stands.
func (b *backlog) acknowledged(partition int32, offset int64, bytes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := b.partitions[partition]
	if w == nil {
		w = new(written)
		b.partitions[partition] = w
	}
	w.offsets, w.sizes = append(w.offsets, offset), append(w.sizes, int64(bytes))
}

// settle books that the group goes on at offset next of a partition.
func (b *backlog) settle(partition int32, next int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := b.partitions[partition]
	if w == nil {
		return
	}
	n, bytes := 0, int64(0)
	for n < len(w.offsets) && w.offsets[n] < next {
		bytes += w.sizes[n]
		n++
	}
	w.offsets, w.sizes = w.offsets[n:], w.sizes[n:]
	b.change(-bytes)
}

// forget drops a partition that went to another owner.
func (b *backlog) forget(partition int32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if w := b.partitions[partition]; w != nil {
		for _, size := range w.sizes {
			b.change(-size)
		}
		delete(b.partitions, partition)
	}
}

// change moves behind; mu is held.
func (b *backlog) change(bytes int64) {
	was := b.behind < b.limit
	b.behind += bytes
	switch is := b.behind < b.limit; {
	case was && !is:
		b.room = make(chan struct{})
	case !was && is:
		close(b.room)
	}
}

// wait returns when there is room for more, or ctx ends.
func (b *backlog) wait(ctx context.Context) error {
	b.mu.Lock()
	room := b.room
	b.mu.Unlock()
	select {
	case <-room:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// follow asks for the group's commits until ctx ends.
func (b *backlog) follow(ctx context.Context) error {
	ticker := time.NewTicker(commitEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		commits, err := b.logs.Commits(ctx, b.group, b.topic)
		if err != nil {
			continue // the room stays as it is until the broker answers again
		}
		for partition, next := range commits {
			b.settle(partition, next)
		}
	}
}
