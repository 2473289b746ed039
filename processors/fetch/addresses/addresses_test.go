package addresses_test

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weftcrawl/weft/processors/fetch/addresses"
)

var server = netip.MustParseAddr("192.0.2.1")

func whole() (mine, all int) { return 4, 4 }

func options(delay time.Duration, atOnce int) addresses.Options {
	o := addresses.DefaultOptions()
	o.Delay, o.AtOnce, o.Patience = delay, atOnce, time.Hour
	return o
}

// starts has n requests made that take some time each, and returns when they began.
func starts(t *testing.T, b *addresses.Budgets, n int, a netip.Addr, took time.Duration) (at []time.Duration, most int) {
	t.Helper()
	began := time.Now()
	var (
		all  sync.WaitGroup
		mu   sync.Mutex
		open int
	)
	for range n {
		all.Go(func() {
			leave, _ := b.Enter(t.Context(), a)
			mu.Lock()
			at, open = append(at, time.Since(began)), open+1
			most = max(most, open)
			mu.Unlock()
			time.Sleep(took)
			mu.Lock()
			open--
			mu.Unlock()
			leave()
		})
		synctest.Wait()
	}
	all.Wait()
	return at, most
}

// Requests to an address begin no sooner than the delay allows, in the order in which they
// came, and other addresses do not wait for them.
func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := addresses.New(options(50*time.Millisecond, 0), whole)
		at, most := starts(t, b, 5, server, time.Second)
		for i, began := range at {
			if began != time.Duration(i)*50*time.Millisecond {
				t.Errorf("request %d began after %v", i, began)
			}
		}
		if most != 5 {
			t.Errorf("%d were open", most)
		}
		if at, _ := starts(t, b, 1, netip.MustParseAddr("192.0.2.2"), 0); at[0] != 0 {
			t.Errorf("another address waited %v", at[0])
		}
	})
}

// No more requests than allowed are open.
func TestAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at, most := starts(t, addresses.New(options(0, 3), whole), 9, server, time.Second)
		if most != 3 || at[3] != time.Second || at[8] != 2*time.Second {
			t.Errorf("%d were open, begun at %v", most, at)
		}
	})
}

// A process has the part of the budget that it has of the partitions, as it is at each start.
func TestPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mine := 1
		b := addresses.New(options(50*time.Millisecond, 8), func() (int, int) { return mine, 4 })
		at, most := starts(t, b, 4, server, time.Second)
		// 200 ms apart, and two at once.
		if most != 2 || at[1] != 200*time.Millisecond || at[2] != time.Second {
			t.Errorf("%d were open, begun at %v", most, at)
		}
		mine = 2
		time.Sleep(time.Second)
		if at, _ := starts(t, b, 3, server, 0); at[2] != 200*time.Millisecond {
			t.Errorf("with two partitions begun at %v", at)
		}
	})
}

// However many partitions are divided evenly among however many processes, their parts are not
// more than the requests at once, or than the processes if those are more. Uneven parts exceed
// that by less than one for each process whose part is below one.
func TestPartsFit(t *testing.T) {
	for atOnce := 1; atOnce <= 12; atOnce++ {
		for all := 1; all <= 40; all++ {
			for processes := 1; processes <= all; processes++ {
				sum := 0
				for i := range processes {
					sum += addresses.Part(atOnce, (all+i)/processes, all)
				}
				if sum > max(atOnce, processes) {
					t.Errorf("%d at once, %d partitions in %d processes: %d", atOnce, all, processes, sum)
				}
			}
			for few := range all {
				sum := addresses.Part(atOnce, all-few, all)
				small := 0
				for range few {
					sum += addresses.Part(atOnce, 1, all)
					if atOnce < all {
						small++
					}
				}
				if sum > atOnce+small {
					t.Errorf("%d at once, %d partitions of which one process has all but %d: %d", atOnce, all, few, sum)
				}
			}
		}
	}
}

// A line that is too long is told, and not joined.
func TestCrowded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(100*time.Millisecond, 0)
		o.Patience = time.Second
		b := addresses.New(o, whole)
		ctx, end := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for range 12 {
			all.Go(func() {
				if leave, _ := b.Enter(ctx, server); leave != nil {
					leave()
				}
			})
			synctest.Wait()
		}
		if leave, wait := b.Enter(ctx, server); leave != nil || wait < time.Second || wait > 1300*time.Millisecond {
			t.Errorf("the line is %v long", wait)
		}
		end()
		all.Wait()
		// A request that left the line delays no other request.
		if at, _ := starts(t, b, 2, server, 0); at[0] > 100*time.Millisecond || at[1] > 200*time.Millisecond {
			t.Errorf("after the line is gone begun at %v", at)
		}
	})
}

// A server that is slow makes the line long, whatever the delay.
func TestSlowServerIsCrowded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(time.Millisecond, 1)
		o.Patience = 5 * time.Second
		b := addresses.New(o, whole)
		ctx, end := context.WithCancel(t.Context())
		var all sync.WaitGroup
		var refused atomic.Int64
		for range 100 {
			all.Go(func() {
				leave, wait := b.Enter(ctx, server)
				if leave == nil {
					if wait > 0 {
						refused.Add(1)
					}
					return
				}
				time.Sleep(2 * time.Second)
				leave()
			})
			time.Sleep(200 * time.Millisecond)
		}
		end()
		all.Wait()
		if refused.Load() < 40 {
			t.Errorf("%d of 100 were refused", refused.Load())
		}
	})
}

// Lines are pure: the same line can be stepped through at any pace.
func TestLines(t *testing.T) {
	o := options(time.Second, 1)
	o.Patience = 3 * time.Second
	lines := addresses.NewLines(o, func() (int, int) { return 1, 2 })
	now := time.Unix(0, 0)
	var turns []int
	join := func(i int) *addresses.Ticket {
		ticket, wait := lines.Join(server, now, func() { turns = append(turns, i) })
		if (ticket == nil) != (wait > o.Patience) {
			t.Fatalf("request %d: ticket %v, wait %v", i, ticket, wait)
		}
		return ticket
	}
	advance := func(later, again time.Duration, want ...int) {
		t.Helper()
		now = now.Add(later)
		if got := lines.Advance(server, now); got != again || !slices.Equal(turns, want) {
			t.Errorf("after %v: again after %v, turns %v; want %v and %v", later, got, turns, again, want)
		}
	}
	first, second := join(1), join(2)
	advance(0, 0, 1) // half of the budget: two seconds apart, one at once
	if join(3) != nil {
		t.Error("the line is too long, and was joined")
	}
	advance(3*time.Second, 0, 1)
	lines.Leave(first)
	advance(0, 0, 1, 2)
	lines.Leave(second)
	gone := join(4)
	lines.Leave(gone)
	last := join(5)
	advance(time.Second, time.Second, 1, 2)
	advance(time.Second, 0, 1, 2, 5)
	lines.Leave(last)
}

// Private networks are exempt by default, and networks that are named.
func TestExempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := addresses.DefaultOptions()
		o.Exempt = append(o.Exempt, netip.MustParsePrefix("198.51.100.0/24"))
		b := addresses.New(o, whole)
		for a, want := range map[string]bool{
			"127.1.2.3": true, "10.9.8.7": true, "::1": true, "::ffff:10.0.0.1": true, "198.51.100.9": true,
			"192.0.2.1": false, "2001:db8::1": false, "::ffff:192.0.2.7": false,
		} {
			at, _ := starts(t, b, 2, netip.MustParseAddr(a), 0)
			if exempt := at[1] == 0; exempt != want {
				t.Errorf("%s: exempt %t", a, exempt)
			}
		}
		if at, _ := starts(t, b, 2, netip.Addr{}, 0); at[1] != 0 {
			t.Error("no address has a budget")
		}
	})
}
