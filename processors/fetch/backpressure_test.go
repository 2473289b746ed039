package fetch

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/processors/fetch/hostqueue"
	"github.com/weftcrawl/weft/processors/fetch/lease"
)

// crowd are hosts that are asked through the real gate and host queues for ever. parse
// reads what they send at its own pace.
type crowd struct {
	*requester
	opts  Options
	size  func(domain string) int
	takes func() time.Duration // a request
	delay time.Duration        // of each domain
	began time.Time

	mu       sync.Mutex
	sent     []Sent
	asked    map[string]int
	bySecond map[int]int
	behind   int64
	most     int64 // when a request began
}

func newCrowd(opts Options, size func(domain string) int) *crowd {
	q := &requester{http: known{},
		lease: lease.New(time.Hour, func() time.Duration { return 0 }), partitions: new(partitions),
		backlog: newBackpressure(nil, stage.Env{}, opts), low: new(atomic.Bool), look: opts.Heartbeat / 2,
	}
	q.lease.Extend(0)
	return &crowd{requester: q, opts: opts, size: size, takes: func() time.Duration { return 10 * time.Millisecond }, asked: map[string]int{}, delay: time.Second, bySecond: map[int]int{}}
}

func (c *crowd) Request(_ context.Context, v *hostqueue.Visit, _ int) hostqueue.Answer {
	c.backlog.begin(v)
	c.mu.Lock()
	c.asked[v.Domain]++
	c.bySecond[int(time.Since(c.began).Seconds())]++
	c.most = max(c.most, c.behind)
	c.mu.Unlock()
	time.Sleep(c.takes())
	size := c.size(v.Domain)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent = append(c.sent, c.backlog.send(v, size))
	c.behind += int64(size)
	return hostqueue.Answer{}
}

func (c *crowd) LookAhead(context.Context, *hostqueue.Visit) {}

func (c *crowd) LookUp(context.Context, *hostqueue.Visit, int) (hostqueue.Answer, bool) {
	return hostqueue.Answer{}, true
}

func (c *crowd) Hang(context.Context, *hostqueue.Visit, int, time.Time) {}

func (c *crowd) Finish(context.Context, *hostqueue.Visit, int) {}

// parse reads so many bytes a second, in order, until ctx ends.
func (c *crowd) parse(ctx context.Context, pace int64) {
	var read, offset int64
	for ; ctx.Err() == nil; time.Sleep(stage.CommitEvery) {
		c.mu.Lock()
		read += pace * int64(stage.CommitEvery) / int64(time.Second)
		for len(c.sent) > 0 && c.sent[0].bytes <= read {
			read -= c.sent[0].bytes
			c.behind -= c.sent[0].bytes
			sent := c.sent[0]
			c.backlog.update(func(b *Backlog) { b.Acknowledged(0, offset, sent) })
			offset++
			c.sent = c.sent[1:]
		}
		if len(c.sent) == 0 {
			read = 0
		}
		c.mu.Unlock()
		c.backlog.update(func(b *Backlog) { b.Settle(0, offset) })
	}
}

// run asks each domain for a while, with a second between its requests.
func (c *crowd) run(t *testing.T, domains []string, pace int64, d time.Duration) {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	c.began = time.Now()
	all := hostqueue.New(c.opts.Queues, c)
	for _, domain := range domains {
		all.Start(ctx, &hostqueue.Visit{Domain: domain, Visit: &weftpb.Visit{DelayMs: uint32(c.delay.Milliseconds()), Requests: make([]*weftpb.Request, 1000)}})
	}
	var parse sync.WaitGroup
	parse.Go(func() { c.parse(ctx, pace) })
	all.Close()
	parse.Wait()
}

func names(prefix string, n int) (domains []string) {
	for i := range n {
		domains = append(domains, fmt.Sprintf("%s%d.example", prefix, i))
	}
	return domains
}

// Fifty hosts send as much as they may, and parse is slow. Hosts with small pages go on
// at their own pace, and the others have their turns.
func TestLargePagesDelayNoSmallOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := DefaultOptions()
		large, small := names("large", 50), names("small", 5)
		c := newCrowd(opts, func(domain string) int {
			if domain[0] == 'l' {
				return 10 << 20
			}
			return 30 << 10
		})
		c.run(t, append(large, small...), 50<<20, 20*time.Second) // none is known yet
		c.mu.Lock()
		clear(c.asked)
		c.most = 0
		c.mu.Unlock()
		c.run(t, append(large, small...), 50<<20, 200*time.Second)
		for _, domain := range small {
			if n := c.asked[domain]; n < 180 {
				t.Errorf("%s was asked %d times in 200 s with a delay of 1 s", domain, n)
			}
		}
		total := 0
		for _, domain := range large {
			if n := c.asked[domain]; n < 3 {
				t.Errorf("%s was asked %d times in 200 s", domain, n)
			}
			total += c.asked[domain]
		}
		if total < 900 { // of 1,000 that parse can read
			t.Errorf("%d large pages were asked for: parse had nothing to do", total)
		}
		if most := opts.BacklogBytes + 20<<20; c.most > most {
			t.Errorf("a request began with %d bytes behind, of at most %d", c.most, most)
		}
	})
}

// A thousand hosts with small pages wait for the same bound. Hosts with large pages have
// their turns beside them.
func TestManySmallPagesWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := DefaultOptions()
		large, small := names("large", 10), names("small", 1000)
		c := newCrowd(opts, func(domain string) int {
			if domain[0] == 'l' {
				return 10 << 20
			}
			return 30 << 10
		})
		c.run(t, append(large, small...), 10<<20, 200*time.Second)
		open := int64(len(small)*30<<10 + len(large)*10<<20) // at most
		if c.most >= 2*opts.BacklogBytes+open {
			t.Errorf("a request began with %d bytes behind", c.most)
		}
		for _, domain := range append(large, small...) {
			if n := c.asked[domain]; n < 3 {
				t.Errorf("%s was asked %d times in 200 s", domain, n)
			}
		}
	})
}

// Thousands of hosts send as fast as they are asked. When the backlog is full they are asked at
// the pace of parse, second by second: not all at once, and then none.
func TestPaceIsEven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size, pace, seconds = 30 << 10, 20 << 20, 30
		opts := DefaultOptions()
		c := newCrowd(opts, func(string) int { return size })
		c.delay = 0
		c.run(t, names("d", 2000), pace, seconds*time.Second)
		for second := 5; second < seconds; second++ {
			if n := c.bySecond[second]; n < pace/size*9/10 || n > pace/size*11/10 {
				t.Errorf("second %d: %d requests, and parse reads %d pages", second, n, pace/size)
			}
		}
		if most := opts.BacklogBytes + int64(opts.Queues.Slots)*size; c.most > most { // those that were open when it was full
			t.Errorf("a request began with %d bytes behind, of at most %d", c.most, most)
		}
	})
}

// For half a minute requests take so long that most wait for a slot, longer than patience; then
// they are quick. The gate has not admitted more meanwhile than parse can read.
func TestPaceIsEvenAfterAWaitForSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size, pace, slow, seconds = 30 << 10, 20 << 20, 30, 60
		opts := DefaultOptions()
		opts.Queues.Slots = 64
		c := newCrowd(opts, func(string) int { return size })
		c.delay = 0
		c.takes = func() time.Duration {
			if time.Since(c.began) < slow*time.Second {
				return time.Second
			}
			return 10 * time.Millisecond
		}
		c.run(t, names("d", 10_000), pace, seconds*time.Second)
		for second := slow + 5; second < seconds; second++ {
			if n := c.bySecond[second]; n < pace/size*9/10 || n > pace/size*11/10 {
				t.Errorf("second %d: %d requests, and parse reads %d pages", second, n, pace/size)
			}
		}
		// The first requests were admitted when no body was known.
		if most := opts.BacklogBytes * size / firstOrdinary; c.most > most {
			t.Errorf("a request began with %d bytes behind, of at most %d", c.most, most)
		}
	})
}

// What is expected of a request counts until it is over, and no longer than patience in the line
// of its address, and no longer than patience after its start. It counts while the request waits
// for a slot.
func TestExpectedBodies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := DefaultOptions()
		b := newBackpressure(nil, stage.Env{}, opts)
		admit := func(v *hostqueue.Visit) bool { admitted, _ := b.admit(v); return admitted }
		visit := func(domain string) *hostqueue.Visit { return &hostqueue.Visit{Domain: domain} }
		var offset int64
		for _, domain := range []string{"a", "b"} { // known, and read
			sent := b.send(visit(domain), int(opts.BacklogBytes))
			b.update(func(b *Backlog) { b.Acknowledged(0, offset, sent) })
			offset++
		}
		b.update(func(b *Backlog) { b.Settle(0, offset) })
		first, second := visit("a"), visit("b")
		for range 2 { // before the second time the request was not made
			if !admit(first) {
				t.Fatal("a visit waits because of its own expected body")
			}
		}
		if admit(second) {
			t.Error("room for a body besides one that fills the backlog")
		}
		b.release(first)
		if !admit(second) {
			t.Error("a request that is over counts")
		}
		time.Sleep(opts.Queues.Patience + 1)
		if !admit(first) {
			t.Error("a request that is slow counts")
		}
		b.release(first)
		if !admit(first) {
			t.Fatal("a visit waits because of nothing")
		}
		time.Sleep(opts.Queues.Patience + 1) // for its address
		b.keep(first)
		time.Sleep(opts.Queues.Patience + 1) // for a slot
		if admit(second) {
			t.Error("a request that waits for a slot does not count")
		}
		b.begin(first)
		time.Sleep(opts.Queues.Patience + 1)
		if !admit(second) {
			t.Error("a request that is slow counts after its wait for a slot")
		}
		b.release(second)
		b.send(first, 0)
		if len(b.turns) > 0 || b.backlog.heavy != 0 {
			t.Errorf("%d bytes of %d visits are expected of nothing", b.backlog.heavy, len(b.turns))
		}
	})
}

// A visit of a domain that is held waits, and those behind it do not.
func TestHeldDomainsStandInNoWay(t *testing.T) {
	b := newBackpressure(nil, stage.Env{}, DefaultOptions())
	visit := func(domain string) *hostqueue.Visit { return &hostqueue.Visit{Domain: domain} }
	at := stage.Position{Next: mostSlow}
	for offset := range int64(mostSlow) {
		sent := b.send(visit("files"), 1)
		b.update(func(b *Backlog) { b.Acknowledged(0, offset, sent) })
		at.Slow = append(at.Slow, offset)
	}
	b.update(func(b *Backlog) { b.Begun(0, at) })
	admitted, ready := b.admit(visit("files"))
	if admitted {
		t.Fatal("a domain with many files in the lane is not held")
	}
	if other, _ := b.admit(visit("pages")); !other {
		t.Error("another domain waits behind it")
	}
	at.Slow = at.Slow[1:]
	b.update(func(b *Backlog) { b.Begun(0, at) })
	select {
	case <-ready:
	default:
		t.Error("it waits although a file was read")
	}
}
