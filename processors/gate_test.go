package processors

import "testing"

// What keeps a request from being written, and what keeps its visit waiting.
func TestGate(t *testing.T) {
	for _, c := range []struct {
		name           string
		gate           Gate
		permits, opens bool
	}{
		{"nothing is in the way", Gate{Leased: true}, true, true},
		{"no lease", Gate{}, false, false},
		{"the stage ends", Gate{Leased: true, Resting: true}, false, false},
		{"parse is behind", Gate{Leased: true, Full: true}, true, false},
		{"the disk is full", Gate{Leased: true, Low: true}, true, false},
		{"paused: the visit is given back", Gate{Leased: true, Paused: true}, false, true},
		{"and whatever else there is", Gate{Paused: true, Full: true, Low: true}, false, true},
	} {
		if c.gate.Permits() != c.permits || c.gate.Opens() != c.opens {
			t.Errorf("%s: permits %v, opens %v", c.name, c.gate.Permits(), c.gate.Opens())
		}
	}
}

// The limit of pages counts those of earlier runs.
func TestQuota(t *testing.T) {
	q := NewQuota(6, map[int32]int64{0: 3, 1: 2})
	if q.Full() || q.Written() != 5 {
		t.Errorf("full %v after %d pages", q.Full(), q.Written())
	}
	q.Write()
	if !q.Full() || q.Written() != 6 {
		t.Errorf("full %v after %d pages", q.Full(), q.Written())
	}
	if none := NewQuota(0, map[int32]int64{0: 99}); none.Full() {
		t.Error("full without a limit")
	}
}
