package slots_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weftcrawl/weft/processors/fetch/slots"
)

// Work that hangs leaves its slot after a while, as long as there are places for it.
func TestHangingWorkLeavesItsSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := slots.New(1, 1, time.Second)
		began := time.Now()
		var (
			all   sync.WaitGroup
			mu    sync.Mutex
			begun []time.Duration
		)
		for range 3 {
			all.Go(func() {
				s.Use(t.Context(), 0, func() {
					mu.Lock()
					begun = append(begun, time.Since(began))
					mu.Unlock()
					time.Sleep(10 * time.Second)
				})
			})
			synctest.Wait()
		}
		time.Sleep(2 * time.Second)
		if n := s.Open(); n != 2 {
			t.Errorf("%d are open", n)
		}
		all.Wait()
		// The second one hangs too, but finds no place before the first one ends.
		if len(begun) != 3 || begun[0] != 0 || begun[1] != time.Second || begun[2] < 10*time.Second || s.Open() != 0 {
			t.Errorf("begun at %v, %d are open at the end", begun, s.Open())
		}
	})
}

// Work that waits is served by the weights of its priorities. Work of one priority is served in the
// order in which it came.
func TestUrgentWorkGoesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := slots.New(1, 0, time.Hour)
		var (
			all   sync.WaitGroup
			mu    sync.Mutex
			begun []string
		)
		use := func(priority, nth int) {
			all.Go(func() {
				s.Use(t.Context(), priority, func() {
					mu.Lock()
					begun = append(begun, fmt.Sprint(priority, ".", nth))
					mu.Unlock()
					time.Sleep(time.Second)
				})
			})
			synctest.Wait()
		}
		use(3, 0) // it has the slot
		begun = nil
		for nth := range 12 { // the least urgent came first
			for priority := 3; priority >= 0; priority-- {
				use(priority, nth)
			}
		}
		all.Wait()
		shares, last := [4]int{}, map[byte]int{}
		for i, name := range begun {
			if i < 15 {
				shares[name[0]-'0']++
			}
			var nth int
			if _, err := fmt.Sscanf(name[1:], ".%d", &nth); err != nil || nth < last[name[0]] {
				t.Errorf("%s begins after %d", name, last[name[0]])
			}
			last[name[0]] = nth
		}
		if shares != [4]int{8, 4, 2, 1} || len(begun) != 48 {
			t.Errorf("of the first 15 of %d begun %v of each priority", len(begun), shares)
		}
	})
}

// Work that gives up while it waits, or at the moment when its turn comes, costs no slot.
func TestGivingUpCostsNoSlot(t *testing.T) {
	s := slots.New(3, 0, time.Hour)
	var all sync.WaitGroup
	for i := range 2000 {
		all.Go(func() {
			ctx, end := context.WithTimeout(t.Context(), time.Duration(i%50)*time.Microsecond)
			defer end()
			s.Use(ctx, i%4, runtime.Gosched)
		})
	}
	all.Wait()
	if n := s.Open(); n != 0 {
		t.Fatalf("%d are open", n)
	}
	for range 3 {
		all.Go(func() { s.Use(t.Context(), 3, func() { time.Sleep(10 * time.Millisecond) }) })
	}
	all.Wait()
	if n := s.Open(); n != 0 {
		t.Errorf("%d are open", n)
	}
}

// BenchmarkUse measures what a slot costs, when there is one and when work waits. With so many
// that wait it reports how many of 100 slots each priority has.
func BenchmarkUse(b *testing.B) {
	b.Run("free", func(b *testing.B) {
		s := slots.New(512, 0, time.Hour)
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				s.Use(b.Context(), 3, func() {})
			}
		})
	})
	for _, waiting := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint("waiting=", waiting), func(b *testing.B) {
			s := slots.New(512, 0, time.Hour)
			ctx, end := context.WithCancel(b.Context())
			var all sync.WaitGroup
			var served [4]atomic.Int64
			for i := range waiting {
				all.Go(func() {
					for s.Use(ctx, i%4, func() { served[i%4].Add(1) }) {
					}
				})
			}
			total := func() (n int64) {
				for i := range served {
					n += served[i].Load()
				}
				return n
			}
			b.ResetTimer()
			for before := total(); total() < before+int64(b.N); {
				time.Sleep(time.Millisecond)
			}
			b.StopTimer()
			all100 := float64(total()) / 100
			end()
			for i := range served {
				b.ReportMetric(float64(served[i].Load())/all100, fmt.Sprintf("of-priority-%d/100", i))
			}
			all.Wait()
		})
	}
}

// Who waits for a slot gives up when the context ends.
func TestUseEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := slots.New(1, 0, time.Second)
		var other sync.WaitGroup
		defer other.Wait()
		other.Go(func() { s.Use(t.Context(), 0, func() { time.Sleep(time.Minute) }) })
		synctest.Wait()
		ctx, end := context.WithTimeout(t.Context(), 5*time.Second)
		defer end()
		if s.Use(ctx, 0, func() { t.Error("it has a slot") }) {
			t.Error("it says that it had a slot")
		}
	})
}
