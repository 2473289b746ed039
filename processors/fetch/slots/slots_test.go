package slots_test

import (
	"context"
	"sync"
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
				s.Use(t.Context(), func() {
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

// Who waits for a slot gives up when the context ends.
func TestUseEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := slots.New(1, 0, time.Second)
		var other sync.WaitGroup
		defer other.Wait()
		other.Go(func() { s.Use(t.Context(), func() { time.Sleep(time.Minute) }) })
		synctest.Wait()
		ctx, end := context.WithTimeout(t.Context(), 5*time.Second)
		defer end()
		if s.Use(ctx, func() { t.Error("it has a slot") }) {
			t.Error("it says that it had a slot")
		}
	})
}
