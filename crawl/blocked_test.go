package crawl

import (
	"testing"
	"time"
)

// TestBlockedIsNotTheLastRun plays readings of a crawl, one each second. The first ones show the
// gauges of the last run, in which a domain was blocked that is no longer.
func TestBlockedIsNotTheLastRun(t *testing.T) {
	for name, test := range map[string]struct {
		blocked []bool
		ends    int // readings until the end; 0: it does not end
	}{
		"only blocked domains are left":       {[]bool{true, true, true, true}, 4},
		"the block has ended":                 {[]bool{true, true, false, false, false}, 0},
		"a domain is blocked anew":            {[]bool{true, true, false, true, true, true, true}, 7},
		"only blocked domains at the start":   {[]bool{true}, 0},
		"other URLs are left for the present": {[]bool{false, false, true, true, true, true}, 6},
	} {
		b, ended := blockedSince{limit: 3 * time.Second}, 0
		for second, blocked := range test.blocked {
			if b.over(blocked, time.Unix(int64(second), 0)) {
				ended = second + 1
				break
			}
		}
		if ended != test.ends {
			t.Errorf("%s: it ends after %d readings, want %d", name, ended, test.ends)
		}
	}
}
