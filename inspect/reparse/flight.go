package reparse

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// flight bounds the bytes of the responses that are on their way from the archive to the generation.
type flight struct {
	free *semaphore.Weighted
	size int64
}

func newFlight(size int64) *flight { return &flight{free: semaphore.NewWeighted(size), size: size} }

// enter waits for room for a coded payload. A larger one than the whole flight waits for all room.
func (f *flight) enter(ctx context.Context, bytes int) (*seat, error) {
	s := &seat{flight: f, bytes: min(int64(bytes), f.size), first: make(chan struct{})}
	if err := f.free.Acquire(ctx, s.bytes); err != nil {
		return nil, err
	}
	return s, nil
}

// seat is the room of one response. Pages leave in the order of their file. So a response may wait for
// room that later ones of its file have, and these wait for it. To end this, the first response of a
// file goes on without the room that it lacks: the flight is exceeded by at most one body for each
// open file.
type seat struct {
	flight *flight
	bytes  int64
	// first is closed when all earlier responses of the file have left.
	first chan struct{}
	// beyond: the response went on without room.
	beyond bool
	back   sync.Once
}

// tryGrow makes room for more bytes if there is room now.
func (s *seat) tryGrow(bytes int) bool {
	more := s.more(bytes)
	if !s.flight.free.TryAcquire(more) {
		return false
	}
	s.bytes += more
	return true
}

// grow waits for room for more bytes, or until the response is the first one of its file.
func (s *seat) grow(ctx context.Context, bytes int) error {
	waiting, stop := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-s.first:
			stop()
		case <-waiting.Done():
		}
	})
	more := s.more(bytes)
	err := s.flight.free.Acquire(waiting, more)
	stop()
	watch.Wait()
	switch {
	case err == nil:
		s.bytes += more
	case ctx.Err() != nil:
		return ctx.Err()
	default:
		s.beyond = !s.tryGrow(bytes)
	}
	return nil
}

// more is the room that so many bytes need besides what the response has.
func (s *seat) more(bytes int) int64 { return min(int64(bytes), s.flight.size-s.bytes) }

// shrink gives back the room beyond so many bytes.
func (s *seat) shrink(bytes int) {
	if rest := s.bytes - int64(bytes); rest > 0 {
		s.flight.free.Release(rest)
		s.bytes -= rest
	}
}

// leave gives all room back. Further calls do nothing.
func (s *seat) leave() { s.back.Do(func() { s.flight.free.Release(s.bytes) }) }
