package httpclient

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/weftcrawl/weft/internal/supervise"
)

// bodyMemory is the memory that large bodies of all exchanges may take together. A body
// reserves all that it may need at once, when its first largeBody bytes are there. Two
// bodies that reserved memory in pieces could wait for each other for ever.
//
// A reservation is as large as the body may become. A server that sends little of the
// body, slowly, must not keep that memory from others. So while a body waits for memory,
// each body that is being read must come at a rate that fills its reservation within the
// time of an exchange, or its exchange ends. A body of known length that would arrive in
// time anyway meets this. A reservation may be for the encoded and the decoded bytes of a
// body. Then the rate is only that of the decoded bytes, or that of the encoded bytes if the
// body is decoded after it is read ([bodies.unpack]). So servers can keep the whole memory from
// others only if they send as much as honest servers that use it.
type bodyMemory struct {
	free   *semaphore.Weighted // bytes
	size   int64               // bytes
	total  time.Duration       // that an exchange may take
	window time.Duration       // over which the rate counts, at least

	mu      sync.Mutex
	reading map[*reservation]struct{}
}

// largeBody is the size, decoded, up to which bodies reserve no memory.
const largeBody = 1 << 20

func newBodyMemory(o Options) *bodyMemory {
	return &bodyMemory{
		free: semaphore.NewWeighted(o.LargeBodyBytes), size: o.LargeBodyBytes,
		total: o.TotalTimeout, window: o.BodyRateWindow, reading: map[*reservation]struct{}{},
	}
}

var (
	errNoMemory   = failf(ClassLocalError, "no memory was free for a body before the exchange's time was over")
	errSlowMemory = failf(ClassSlowBody, "the body comes too slowly for the memory that it takes, while others wait for that")
)

// reservation is the memory of one body. It is nil for a body that needs none.
type reservation struct {
	memory *bodyMemory
	bytes  int64
	rate   float64 // bytes a second at which the body must come while others wait
	end    func(why error)
	filled atomic.Int64 // bytes of the body that are there
	back   sync.Once

	// When the body was last found to be fast enough, or began, and how many bytes were
	// there; guarded by bodyMemory.mu.
	since  time.Time
	before int64
}

// reserve waits for memory of so many bytes, for a body that has at most come bytes on the
// wire. The body is being read until whole is called. When the body comes too slowly, end is
// called with errSlowMemory, from another goroutine. end must make a read that waits return.
func (m *bodyMemory) reserve(ctx context.Context, bytes, come int64, end func(why error)) (*reservation, error) {
	r, err := m.tryReserve(bytes)
	if err != nil {
		r = m.reservation(bytes)
		stop := m.endSlowReaders()
		err := m.free.Acquire(ctx, r.bytes)
		stop()
		if err != nil {
			return nil, errNoMemory
		}
	}
	r.rate = float64(min(come, m.size)) / m.total.Seconds()
	r.end, r.before = end, largeBody
	m.mu.Lock()
	defer m.mu.Unlock()
	r.since = time.Now()
	m.reading[r] = struct{}{}
	return r, nil
}

// tryReserve reserves memory for a body that is not read from a server. It returns
// errNoMemory at once when there is not enough.
func (m *bodyMemory) tryReserve(bytes int64) (*reservation, error) {
	r := m.reservation(bytes)
	if !m.free.TryAcquire(r.bytes) {
		return nil, errNoMemory
	}
	return r, nil
}

func (m *bodyMemory) reservation(bytes int64) *reservation {
	return &reservation{memory: m, bytes: min(bytes, m.size)}
}

// shrink gives back all but so many bytes.
func (r *reservation) shrink(bytes int64) {
	if r == nil || r.bytes <= bytes {
		return
	}
	r.memory.free.Release(r.bytes - bytes)
	r.bytes = bytes
}

// release gives the memory back. Further calls do nothing.
func (r *reservation) release() {
	if r == nil {
		return
	}
	r.back.Do(func() {
		r.whole()
		r.memory.free.Release(r.bytes)
	})
}

// whole tells that the body has ended, and is no longer read.
func (r *reservation) whole() {
	if r == nil {
		return
	}
	r.memory.mu.Lock()
	defer r.memory.mu.Unlock()
	delete(r.memory.reading, r)
}

// endSlowReaders ends bodies that come too slowly, once in a window, until stop is
// called.
func (m *bodyMemory) endSlowReaders() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var checks sync.WaitGroup
	checks.Go(func() {
		_ = supervise.Every(ctx, m.window, func() error {
			m.endSlow(time.Now())
			return nil
		})
	})
	return func() {
		cancel()
		checks.Wait()
	}
}

// endSlow ends the bodies that came too slowly since they were last checked.
func (m *bodyMemory) endSlow(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for r := range m.reading {
		passed, filled := now.Sub(r.since), r.filled.Load()
		if passed < m.window {
			continue // it reserved its memory, or was checked, a moment ago
		}
		if float64(filled-r.before)/passed.Seconds() < r.rate {
			r.end(errSlowMemory)
			delete(m.reading, r)
			continue
		}
		r.since, r.before = now, filled
	}
}
