package politeness

import (
	"strconv"
	"testing"
	"time"
)

// at is a moment, in seconds.
func at(seconds float64) time.Time {
	return time.Unix(0, 0).Add(time.Duration(seconds * float64(time.Second)))
}

func TestWitness(t *testing.T) {
	type step struct {
		begin, end float64 // one of them; a delay of 1 s follows an end
		want       Violation
	}
	for name, test := range map[string]struct {
		perDomain int
		steps     []step
	}{
		"one after another":         {1, []step{{begin: 1}, {end: 2}, {begin: 3}, {end: 4}, {begin: 5}}},
		"a moment early":            {1, []step{{begin: 1}, {end: 2}, {begin: 2.999, want: Early}}},
		"two at once":               {1, []step{{begin: 1}, {begin: 1.5, want: Overlap}}},
		"two at once are allowed":   {2, []step{{begin: 1}, {begin: 1}, {end: 2}, {end: 2}, {begin: 3}, {begin: 3}}},
		"three are not":             {2, []step{{begin: 1}, {begin: 1}, {begin: 1, want: Overlap}}},
		"one of two keeps no delay": {2, []step{{begin: 1}, {begin: 1}, {end: 2}, {begin: 2.5, want: Early}}},
		"after an overlap it goes on": {1, []step{
			{begin: 1}, {begin: 1, want: Overlap}, {end: 2}, {end: 2}, {begin: 3},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var w Witness
			for i, s := range test.steps {
				if s.end > 0 {
					w.End("example.com", at(s.end), time.Second)
				} else if got := w.Begin("example.com", at(s.begin), test.perDomain); got != s.want {
					t.Errorf("step %d: %q, want %q", i, got, s.want)
				}
				if v := w.Begin("other"+strconv.Itoa(i)+".example", at(s.begin), 1); v != None {
					t.Errorf("step %d: another domain: %q", i, v)
				}
			}
		})
	}
}

// TestWitnessIsBounded checks that a witness remembers so many and no more, and never forgets
// a request that is open.
func TestWitnessIsBounded(t *testing.T) {
	var w Witness
	w.Begin("open.example", at(0), 1)
	for i := range 3 * mostWitnessed {
		domain := strconv.Itoa(i) + ".example"
		w.Begin(domain, at(1), 1)
		w.End(domain, at(1), time.Hour)
	}
	if n := len(w.domains); n > mostWitnessed+1 {
		t.Errorf("%d domains are remembered", n)
	}
	if got := w.Begin("open.example", at(2), 1); got != Overlap {
		t.Errorf("a request beside one that is open: %q", got)
	}
}

func TestWitnessForgetsWhatIsOver(t *testing.T) {
	var w Witness
	for i := range 100_000 {
		domain := strconv.Itoa(i) + ".example"
		w.Begin(domain, at(float64(i)), 1)
		w.End(domain, at(float64(i)+0.5), 10*time.Second)
	}
	if n := len(w.domains); n > 5000 {
		t.Errorf("%d domains are remembered of which 10 are of interest", n)
	}
}
