package lease_test

import (
	"testing"
	"time"

	"github.com/weftcrawl/weft/processors/fetch/lease"
)

func TestLease(t *testing.T) {
	var now time.Duration
	l := lease.New(8*time.Second, func() time.Duration { return now })
	now = time.Hour
	if l.Holds() {
		t.Error("holds before the first heartbeat")
	}
	l.Extend(time.Second) // sent a second ago: ends in seven
	now += 6999 * time.Millisecond
	if !l.Holds() {
		t.Error("ended early")
	}
	now += time.Millisecond
	if l.Holds() {
		t.Error("holds past its end")
	}
	l.Extend(0)
	l.Extend(5 * time.Second) // an older heartbeat, answered late, shortens nothing
	if left := l.Left(); left != 8*time.Second {
		t.Errorf("left %v, want 8s", left)
	}
	l.Revoke()
	if l.Holds() {
		t.Error("holds after it was revoked")
	}
}

func TestBootTimeGoesForward(t *testing.T) {
	a := lease.BootTime()
	b := lease.BootTime()
	if a <= 0 || b < a {
		t.Errorf("%v then %v", a, b)
	}
}

// A heartbeat counts once the next one is answered. It counts from when it was sent.
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

// An assignment shows that the request to join was good, and nothing about later heartbeats.
func TestHeartbeatsWithAnAssignment(t *testing.T) {
	now := time.Hour
	l := lease.New(8*time.Second, func() time.Duration { return now })
	h := lease.NewHeartbeats(l)
	h.Joined(time.Second)
	h.Assigned()
	if left := l.Left(); left != 7*time.Second {
		t.Errorf("a lease of %v after the assignment, want 7s", left)
	}
	now += 2 * time.Second
	h.Answered(500 * time.Millisecond) // it may have been refused
	h.Assigned()
	if left := l.Left(); left != 5*time.Second {
		t.Errorf("a lease of %v, want 5s: a heartbeat counted that may have been refused", left)
	}
}

// While a member waits for others to join, it has a lease as long as the group
// cannot go on without it.
func TestHeartbeatsOfAWaitingMember(t *testing.T) {
	var now time.Duration
	l := lease.New(8*time.Second, func() time.Duration { return now })
	h := lease.NewHeartbeats(l)
	until := func(want time.Duration) {
		t.Helper()
		if got := l.Left() + now; l.Holds() && got != want || !l.Holds() && want > now {
			t.Errorf("at %v the lease holds until %v, want %v", now, got, want)
		}
	}
	const patience = 60 * time.Second
	now = 90 * time.Second
	h.Waited(0, patience) // of a member that was never in a group
	until(0)
	now = 100 * time.Second
	h.Joined(0)
	now = 101 * time.Second
	h.Answered(0) // joining counts, from 100 s on
	until(108 * time.Second)
	for now = 102 * time.Second; now <= 152*time.Second; now += time.Second {
		h.Waited(500*time.Millisecond, patience)
		until(now + 7500*time.Millisecond)
	}
	h.Waited(500*time.Millisecond, patience) // sent at 152.5 s: by 160.5 s the group may have gone on
	until(159500 * time.Millisecond)
	if got := h.Silent(); got != 1500*time.Millisecond {
		t.Errorf("silent for %v", got)
	}
}
