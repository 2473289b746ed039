package ledger

import (
	"maps"
	"sync"
	"testing"
	"time"
)

// tally counts what happens to an owner.
type tally struct {
	t       testing.TB
	mu      sync.Mutex
	counts  map[string]int
	changed chan struct{}
}

func newTally(t testing.TB) *tally {
	return &tally{t: t, counts: map[string]int{}, changed: make(chan struct{}, 1)}
}

// observe is an Options.Observe.
func (y *tally) observe(kind string, _ int32) { y.add(kind) }

func (y *tally) add(kind string) {
	y.mu.Lock()
	y.counts[kind]++
	y.mu.Unlock()
	select {
	case y.changed <- struct{}{}:
	default:
	}
}

// happened returns the counts by kind.
func (y *tally) happened() map[string]int {
	y.mu.Lock()
	defer y.mu.Unlock()
	return maps.Clone(y.counts)
}

// until waits until cond holds of what happened.
func (y *tally) until(what string, cond func(happened map[string]int) bool) {
	y.t.Helper()
	deadline := time.After(patience)
	for {
		seen := y.happened()
		if cond(seen) {
			return
		}
		select {
		case <-y.changed:
		case <-deadline:
			y.t.Fatalf("waited for %s; happened: %v", what, seen)
		}
	}
}

// reaches waits until kind has happened n times.
func (y *tally) reaches(kind string, n int) {
	y.t.Helper()
	y.until(kind, func(happened map[string]int) bool { return happened[kind] >= n })
}

// has tells whether kind has happened n times by now.
func (y *tally) has(kind string, n int) func() bool {
	return func() bool { return y.happened()[kind] >= n }
}

// patience is how long tests wait for what must happen.
const patience = 60 * time.Second
