package fetch

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// room is the memory that large bodies of all exchanges may take together. A
// body takes its whole share at once, when its first largeBody bytes are there:
// two that took theirs in pieces could wait for each other for ever.
//
// A share is as large as the body may become, and a server that sends little
// of it, slowly, must not keep it from others. So while one waits, those that
// are being read have to come at the rate at which their share would be full
// within the time of an exchange, or they end. That asks nothing of a body of
// known length that would come in time anyway. What is decoded once it is there
// ([bodies.unpack]) has to come at the rate that its encoded bytes need, although
// its share is for both. And to keep the whole room from others, servers have to
// send as much as honest ones that use it.
type room struct {
	bytes  *semaphore.Weighted
	whole  int64
	total  time.Duration // that an exchange may take
	window time.Duration // over which the rate counts, at least

	mu      sync.Mutex
	reading map[*share]struct{}
}

// largeBody is the size, decoded, up to which bodies need no room.
const largeBody = 1 << 20

func newRoom(o Options) *room {
	return &room{
		bytes: semaphore.NewWeighted(o.LargeBodyBytes), whole: o.LargeBodyBytes,
		total: o.TotalTimeout, window: o.BodyRateWindow, reading: map[*share]struct{}{},
	}
}

var (
	errNoRoom = failf(ClassLocalError, "no memory was free for a body before the exchange's time was over")
	errHoards = failf(ClassSlowBody, "the body comes too slowly for the memory that it takes, while others wait for that")
)

// share is the room of one body; nil is that of one that needs none.
type share struct {
	room   *room
	bytes  int64
	rate   float64 // bytes a second at which the body must come while others wait
	give   func(why error)
	filled atomic.Int64 // bytes of the body that are there
	back   sync.Once

	// Of the last look that found it fast enough, or its beginning; under
	// room.mu.
	since  time.Time
	before int64
}

// take waits for room of so many bytes for a body of which at most so many come.
// It is being read until whole is called. give is called with errHoards, from
// another goroutine, when it must end; it must make a read that waits return.
func (r *room) take(ctx context.Context, bytes, come int64, give func(why error)) (*share, error) {
	s, err := r.try(bytes)
	if err != nil {
		s = r.share(bytes)
		stop := r.press()
		err := r.bytes.Acquire(ctx, s.bytes)
		stop()
		if err != nil {
			return nil, errNoRoom
		}
	}
	s.rate = float64(min(come, r.whole)) / r.total.Seconds()
	s.give, s.before = give, largeBody
	r.mu.Lock()
	defer r.mu.Unlock()
	s.since = time.Now()
	r.reading[s] = struct{}{}
	return s, nil
}

// try takes room for a body that is not read from a server; it is errNoRoom at
// once when there is none.
func (r *room) try(bytes int64) (*share, error) {
	s := r.share(bytes)
	if !r.bytes.TryAcquire(s.bytes) {
		return nil, errNoRoom
	}
	return s, nil
}

func (r *room) share(bytes int64) *share {
	return &share{room: r, bytes: min(bytes, r.whole)}
}

// shrink gives back all but so many bytes of what is whole.
func (s *share) shrink(bytes int64) {
	if s == nil || s.bytes <= bytes {
		return
	}
	s.room.bytes.Release(s.bytes - bytes)
	s.bytes = bytes
}

// release gives it back, once, however often it is called.
func (s *share) release() {
	if s == nil {
		return
	}
	s.back.Do(func() {
		s.whole()
		s.room.bytes.Release(s.bytes)
	})
}

// whole tells that the body has ended, and is no longer read.
func (s *share) whole() {
	if s == nil {
		return
	}
	s.room.mu.Lock()
	defer s.room.mu.Unlock()
	delete(s.room.reading, s)
}

// press ends what is too slow, once in a window, until stop is called.
func (r *room) press() (stop func()) {
	done := make(chan struct{})
	var looks sync.WaitGroup
	looks.Go(func() {
		tick := time.NewTicker(r.window)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				r.endSlow(time.Now())
			case <-done:
				return
			}
		}
	})
	return func() {
		close(done)
		looks.Wait()
	}
}

// endSlow ends the bodies that came too slowly since the last look at them.
func (r *room) endSlow(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for s := range r.reading {
		passed, filled := now.Sub(s.since), s.filled.Load()
		if passed < r.window {
			continue // it took its room, or was looked at, a moment ago
		}
		if float64(filled-s.before)/passed.Seconds() < s.rate {
			s.give(errHoards)
			delete(r.reading, s)
			continue
		}
		s.since, s.before = now, filled
	}
}
