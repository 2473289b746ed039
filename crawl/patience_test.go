package crawl

import (
	"testing"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// TestPatience plays the gauges of a crawl, a reading each second: it ends when only URLs of
// hosts that are down were left for ten seconds, and no page was fetched meanwhile.
func TestPatience(t *testing.T) {
	reading := func(queued, down, out, fetched int64) *weftpb.Gauges {
		return &weftpb.Gauges{Queued: queued, Down: down, Out: out, Pending: queued + out, Fetched: fetched}
	}
	for name, test := range map[string]struct {
		limit time.Duration
		at    func(second int) *weftpb.Gauges
		ends  int // 0: not within a minute
	}{
		"all wait for hosts that are down": {10 * time.Second, func(int) *weftpb.Gauges { return reading(5, 5, 0, 7) }, 11},
		"no patience is set":               {0, func(int) *weftpb.Gauges { return reading(5, 5, 0, 7) }, 0},
		"some wait for others":             {10 * time.Second, func(int) *weftpb.Gauges { return reading(6, 5, 0, 7) }, 0},
		"nothing is pending":               {10 * time.Second, func(int) *weftpb.Gauges { return reading(0, 0, 0, 7) }, 0},
		"pages come":                       {10 * time.Second, func(s int) *weftpb.Gauges { return reading(5, 5, 0, int64(s/9)) }, 0},
		"others wait for a while":          {10 * time.Second, func(s int) *weftpb.Gauges { return reading(5+int64(s/5%2), 5, 0, 7) }, 0},
		"a probe is out now and then":      {10 * time.Second, func(s int) *weftpb.Gauges { return reading(1-int64(s%2), 1-int64(s%2), int64(s%2), 7) }, 11},
		"a URL is out":                     {10 * time.Second, func(int) *weftpb.Gauges { return reading(0, 0, 1, 7) }, 0},
	} {
		p, ended := patience{limit: test.limit, fetched: 7}, 0
		for second := range 60 {
			if p.over(test.at(second), time.Unix(int64(second), 0)) {
				ended = second + 1
				break
			}
		}
		if ended != test.ends {
			t.Errorf("%s: it ends after %d readings, want %d", name, ended, test.ends)
		}
	}
}
