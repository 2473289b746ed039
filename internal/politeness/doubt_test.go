package politeness

import "testing"

// hold tells how many 5xx are held against a host that answers 5xx to one request in each
// `every`, of a new page each time.
func hold(every, requests int) (held int) {
	doubts := uint32(0)
	for i := range requests {
		if i%every > 0 {
			doubts = Trust(doubts)
			continue
		}
		if doubts = Doubt(doubts); Doubtful(doubts) {
			held++
		}
	}
	return held
}

// A host is doubtful if more than a fifth of its pages answer 5xx; the memory of that is
// bounded.
func TestDoubt(t *testing.T) {
	for _, c := range []struct{ every, least, most int }{{1, 99, 100}, {2, 49, 50}, {4, 24, 25}, {5, 0, 0}, {20, 0, 0}} {
		if held := hold(c.every, 100); held < c.least || held > c.most {
			t.Errorf("one in %d answers 5xx: %d of 100 requests are held against the host, want %d to %d", c.every, held, c.least, c.most)
		}
	}
	doubts := uint32(0)
	for range 1000 {
		doubts = Doubt(doubts)
	}
	for range mostDoubts {
		doubts = Trust(doubts)
	}
	if doubts != 0 || Trust(0) != 0 {
		t.Errorf("after a long failure and %d answers the doubts are %d", mostDoubts, doubts)
	}
}
