package lease_test

import (
	"testing"
	"time"

	"github.com/weftcrawl/weft/lease"
)

// A heartbeat counts once the next one is answered, and from when it was sent.
func TestHeartbeats(t *testing.T) {
	now := time.Hour
	l := lease.New(8*time.Second, func() time.Duration { return now })
	h := lease.NewHeartbeats(l)
	at := func(ms int, want time.Duration) {
		t.Helper()
		now = time.Hour + time.Duration(ms)*time.Millisecond
		if got := l.Left() + now - time.Hour; l.Holds() && got != want || !l.Holds() && want != 0 {
			t.Errorf("at %d ms the lease holds until %v, want %v", ms, got, want)
		}
	}
	h.Joined(time.Second) // sent at -1 s
	at(0, 0)
	now = time.Hour + 500*time.Millisecond
	h.Answered(100 * time.Millisecond) // sent at 400 ms: joining was good
	at(500, 7*time.Second)
	now = time.Hour + time.Second
	h.Answered(50 * time.Millisecond)
	at(1000, 8400*time.Millisecond)
	// The one that was sent at 950 ms was refused: none follows, and the member
	// joins again.
	now = time.Hour + 5*time.Second
	h.Joined(2 * time.Second)
	at(5000, 8400*time.Millisecond)
	now = time.Hour + 6*time.Second
	h.Answered(0)
	at(6000, 11*time.Second)
}
