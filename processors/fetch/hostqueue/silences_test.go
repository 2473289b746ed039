package hostqueue

import (
	"strconv"
	"testing"
	"time"
)

// Hosts that asked for no request are remembered until their time is over, by all queues that
// share a memory, and as many as there is room for: those whose time ends last.
func TestSilences(t *testing.T) {
	var s Silences
	now := time.Unix(0, 0)
	add := func(host string, seconds int) { s.add(host, now.Add(time.Duration(seconds)*time.Second), now) }
	add("a", 10)
	add("a", 5) // an earlier end changes nothing
	add("b", 20)
	add("c", 1)
	now = now.Add(9 * time.Second)
	if !s.silent("a", now) || !s.silent("b", now) || s.silent("c", now) || s.silent("d", now) {
		t.Errorf("after 9 s: %v", s.byHost)
	}
	now = now.Add(time.Second)
	add("e", 60)
	if s.silent("a", now) || len(s.byHost) != 2 || len(s.byEnd) != 2 {
		t.Errorf("after 10 s %d are remembered, and %d", len(s.byHost), len(s.byEnd))
	}
	for i := range 2 * maxSilences {
		add(strconv.Itoa(i), 100+(i*7919)%(2*maxSilences))
	}
	if len(s.byHost) != maxSilences || len(s.byEnd) != maxSilences {
		t.Fatalf("%d are remembered, and %d, want %d", len(s.byHost), len(s.byEnd), maxSilences)
	}
	for i := range 2 * maxSilences {
		if lasts := (i*7919)%(2*maxSilences) >= maxSilences; s.silent(strconv.Itoa(i), now) != lasts {
			t.Fatalf("host %d, silent for %d s, is remembered: %t", i, 100+(i*7919)%(2*maxSilences), !lasts)
		}
	}
	for i, e := range s.byEnd {
		if e.at != i || s.byHost[e.host] != e {
			t.Fatalf("%+v is at %d", e, i)
		}
	}
	var other Silences
	if other.silent("a", now) {
		t.Error("no memory remembers something")
	}
}
