package lease_test

import (
	"testing"
	"time"

	"github.com/weftcrawl/weft/lease"
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
