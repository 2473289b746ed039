package fetch

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/internal/bodies"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/processors/fetch/hostqueue"
	"github.com/weftcrawl/weft/processors/fetch/lease"
	"github.com/weftcrawl/weft/test/stagetest"
	"github.com/weftcrawl/weft/topics"
)

// newGate returns a requester for its gate only. Its lease holds.
func newGate(clock lease.Clock) *requester {
	opts := DefaultOptions()
	q := &requester{
		env: stage.Env{}, lease: lease.New(time.Hour, clock), partitions: new(partitions),
		backlog: newBackpressure(nil, stage.Env{}, opts), low: new(atomic.Bool), look: opts.Heartbeat / 2,
	}
	q.lease.Extend(0)
	return q
}

func visitTo(domain string) *hostqueue.Visit {
	return &hostqueue.Visit{Domain: domain, Visit: &weftpb.Visit{}}
}

// atGate runs a visit at the gate of q, until it passes it, or ends with ctx.
func atGate(ctx context.Context, q *requester, domain string) (passed *atomic.Bool) {
	passed = new(atomic.Bool)
	go func() { passed.Store(q.Gate(ctx, visitTo(domain)) == nil) }()
	synctest.Wait()
	return passed
}

// Whatever keeps a visit waiting at the gate, its end wakes the visit; and so does what has the
// visit given back.
func TestGateWakesVisits(t *testing.T) {
	type gate struct {
		*requester
		bucket *stagetest.Flaky
	}
	low := func(g gate) { g.low.Store(true) }
	for name, c := range map[string]struct{ shut, open func(g gate) }{
		"the lease holds again":    {func(g gate) { g.lease.Revoke() }, func(g gate) { g.lease.Extend(0) }},
		"the stage drains no more": {func(g gate) { g.draining.Store(true) }, func(g gate) { g.draining.Store(false) }},
		"the disk has room":        {low, func(g gate) { g.low.Store(false) }},
		"the store works": {
			func(g gate) {
				g.bucket.Down.Store(true)
				go func() { _, _ = g.env.Bodies.Put(context.Background(), 0, "page", []byte("body"), nil) }()
				synctest.Wait()
			},
			func(g gate) {
				g.bucket.Down.Store(false)
				for g.env.Bodies.Waiting() {
					time.Sleep(time.Millisecond)
				}
			},
		},
		"the stage is paused":   {low, func(g gate) { g.env.Pauses.Set(stagetest.Paused(topics.Fetch)) }},
		"the domain is blocked": {low, func(g gate) { g.env.Settings.Set(topics.Setting{Domain: "a.example", Blocked: true}) }},
		"parse has read": {
			func(g gate) {
				sent := g.backlog.send(visitTo("b.example"), int(2*DefaultOptions().BacklogBytes))
				g.backlog.acknowledged(0, 0, sent)
			},
			func(g gate) { g.backlog.update(func(b *Backlog) { b.Settle(0, 1) }) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				inner, err := blob.Open(t.Context(), dir)
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				g := gate{newGate(func() time.Duration { return time.Since(began) }), &stagetest.Flaky{Bucket: inner}}
				g.env.Pauses, g.env.Settings = stage.NewPauses(topics.Control{}), stage.NewSettings(nil)
				g.env.Bodies = bodies.New(g.bucket, kadm.TopicID{1}, slog.New(slog.DiscardHandler))
				ctx, end := context.WithCancel(t.Context())
				defer synctest.Wait()
				defer end()
				go func() { _ = g.wakeWaiters(ctx) }()
				c.shut(g)
				passed := atGate(ctx, g.requester, "a.example")
				time.Sleep(time.Minute)
				if synctest.Wait(); passed.Load() {
					t.Fatal("it does not wait")
				}
				c.open(g)
				time.Sleep(g.look)
				if synctest.Wait(); !passed.Load() {
					t.Error("it still waits")
				}
			})
		})
	}
}

// A visit that saw the gate shut is woken even if the gate was open when waiters were woken last,
// and is open when they are woken next.
func TestGateThatIsShutForAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newGate(func() time.Duration { return 0 })
		q.waiters.wake(q.outlook())
		q.low.Store(true)
		passed := atGate(t.Context(), q, "a.example")
		q.low.Store(false)
		q.waiters.wake(q.outlook())
		if synctest.Wait(); !passed.Load() {
			t.Error("it waits at an open gate")
		}
		if len(q.waiters.seen) > 0 {
			t.Errorf("%d outlooks are remembered", len(q.waiters.seen))
		}
	})
}

// A visit that has passed the gate and its address, and makes no request, reserves nothing.
func TestRequestThatIsNotMadeReservesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, v := newGate(func() time.Duration { return 0 }), visitTo("a.example")
		if err := q.Gate(t.Context(), v); err != nil {
			t.Fatal(err)
		}
		leave, _ := q.Enter(t.Context(), v, 0)
		if q.backlog.backlog.light == 0 {
			t.Error("a request that waits for a slot reserves nothing")
		}
		leave()
		if q.backlog.backlog.light != 0 || len(q.backlog.turns) > 0 {
			t.Errorf("%d bytes of %d visits are expected of nothing", q.backlog.backlog.light, len(q.backlog.turns))
		}
	})
}

// BenchmarkGate measures the CPU that visits cost while they wait at the gate: an operation is
// a second in which so many of them wait.
func BenchmarkGate(b *testing.B) {
	for _, waiting := range []int{0, 1_000, 10_000} {
		b.Run(fmt.Sprint("waiting=", waiting), func(b *testing.B) {
			q := newGate(lease.BootTime)
			q.low.Store(true)
			ctx, end := context.WithCancel(b.Context())
			var all sync.WaitGroup
			all.Go(func() { _ = q.wakeWaiters(ctx) })
			for i := range waiting {
				all.Go(func() { _ = q.Gate(ctx, visitTo(fmt.Sprint(i))) })
			}
			time.Sleep(time.Second) // until all wait
			b.ResetTimer()
			before := cpu()
			for range b.N {
				time.Sleep(time.Second)
			}
			spent := cpu() - before
			b.StopTimer()
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(spent.Microseconds())/float64(b.N*max(waiting, 1)), "cpu-µs/visit/s")
			end()
			all.Wait()
		})
	}
}

// cpu is the time that this process has used.
func cpu() time.Duration {
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
