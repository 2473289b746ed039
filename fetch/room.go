package fetch

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// room is the memory that large bodies of all exchanges may take together. A
// body takes its whole share at once, when its first largeBody bytes are there:
// two that took theirs in pieces could wait for each other for ever.
type room struct {
	bytes *semaphore.Weighted
	whole int64
}

// largeBody is the size, decoded, up to which bodies need no room.
const largeBody = 1 << 20

func newRoom(bytes int64) *room { return &room{semaphore.NewWeighted(bytes), bytes} }

var errNoRoom = failf(ClassLocalError, "no memory was free for a large body before the exchange's time was over")

// take waits for room for a body of at most so many bytes; free gives it back,
// once, however often it is called.
func (r *room) take(ctx context.Context, bytes int64) (free func(), err error) {
	bytes = min(bytes, r.whole)
	if err := r.bytes.Acquire(ctx, bytes); err != nil {
		return nil, errNoRoom
	}
	return sync.OnceFunc(func() { r.bytes.Release(bytes) }), nil
}
