package sim

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/schedule/frontier"
)

// throttledWorld is a world of one site, all of whose pages answer.
func throttledWorld(seed uint64) *world {
	w := newWorld(Case{Seed: seed, Sites: 1, Pages: 300, Processes: 1, GiveUpAfter: 6 * time.Hour}, nil)
	for _, site := range w.web.sites {
		site.down = false
	}
	for _, p := range w.web.pages {
		if p.failures = 0; p.status >= 500 {
			p.status = 200
		}
	}
	return w
}

// A host that answers ten requests a minute, and refuses all others, is asked at about that rate
// from the second minute on, whatever way it counts, whether it answers 429 or 503, and whether it
// says when to come back or not. It refuses few requests meanwhile, and all its pages are fetched.
func TestThrottledHost(t *testing.T) {
	const perMinute, from, span = 10, 2 * time.Minute, 10 * time.Minute
	seeds := uint64(6)
	if testing.Short() {
		seeds = 1
	}
	for _, c := range []struct {
		status  int
		tells   bool
		refused float64 // for each answer, at most
	}{
		{http.StatusTooManyRequests, true, 0.15},
		{http.StatusTooManyRequests, false, 0.2},
		{http.StatusServiceUnavailable, true, 0.25},
		{http.StatusServiceUnavailable, false, 0.3},
	} {
		for _, counts := range []countedBy{lastMinute, fixedMinute, bucket} {
			t.Run(fmt.Sprintf("%d, Retry-After %v, %s", c.status, c.tells, counts), func(t *testing.T) {
				sum, hosts := 0.0, 0
				for seed := uint64(1); seed <= seeds; seed++ {
					w := throttledWorld(seed)
					var all []*throttle
					for _, o := range w.web.hosts {
						limit := w.web.throttleOf(urls.HostOf(o.name))
						limit.status, limit.perMinute, limit.tells, limit.counts = c.status, perMinute, c.tells, counts
						all = append(all, limit)
					}
					if w.run(); w.violated != nil {
						t.Fatal(w.violated)
					}
					w.allFetched(t)
					for _, limit := range all {
						rate := float64(limit.servedWithin(from, span)) / ((span - from).Minutes() * perMinute)
						refused := float64(limit.refused) / float64(len(limit.served))
						t.Logf("seed %d, %s: %.2f of the rate from minute 2 to 10, %.2f refused for each of %d answers", seed, limit.host, rate, refused, len(limit.served))
						if sum, hosts = sum+rate, hosts+1; rate < 0.85 || refused > c.refused {
							t.Errorf("%s, seed %d: %.2f of the rate, %.2f refused for each answer", limit.host, seed, rate, refused)
						}
					}
				}
				if mean := sum / float64(hosts); mean < 0.9 {
					t.Errorf("on average the hosts were asked at %.2f of the rate that they permit", mean)
				}
			})
		}
	}
}

// servedWithin counts the answers in a span of time since the first one.
func (t *throttle) servedWithin(from, to time.Duration) int {
	first, _ := slices.BinarySearch(t.served, t.served[0]+from)
	end, _ := slices.BinarySearch(t.served, t.served[0]+to)
	return end - first
}

// allFetched checks that each URL was fetched, or that its robots.txt forbids it.
func (w *world) allFetched(t *testing.T) {
	t.Helper()
	h, err := w.readHistory()
	if err != nil {
		t.Fatal(err)
	}
	for _, url := range keys(h.urls) {
		for _, reason := range h.of(url).outcomes {
			if reason != "fetched" && reason != frontier.ReasonDisallowed {
				t.Errorf("%s ended as %s", url, reason)
			}
		}
	}
}

// A page that always answers 5xx makes its host wait for nothing, as long as there are others,
// which answer. It ends by its own attempts.
func TestBrokenPage(t *testing.T) {
	for status, requests := range map[int]int{http.StatusInternalServerError: 4, http.StatusServiceUnavailable: 9} {
		w := throttledWorld(3)
		broken := w.web.pages[w.web.seeds[0]]
		if broken.status = status; status == http.StatusServiceUnavailable {
			broken.failures = math.MaxInt
		}
		if w.run(); w.violated != nil {
			t.Fatal(w.violated)
		}
		made, others := 0, time.Duration(0)
		for _, a := range w.web.log {
			if a.url == broken.url {
				made++
			} else {
				others = max(others, a.end)
			}
		}
		if made != requests {
			t.Errorf("the page that answers %d was asked for %d times, want %d", status, made, requests)
		}
		for p := range w.partitions {
			for _, r := range w.cluster.log(w.names.Scheduled, p).records {
				r.value = edited(r.value, &weftpb.Scheduled{}, func(s *weftpb.Scheduled) bool {
					for _, h := range s.Hosts {
						if (h.Failures > 0 || h.WaitMs > 0) && s.DecidedMs < epoch.Add(others).UnixMilli() {
							t.Errorf("one page answers %d, and its host waits: %v", status, h)
						}
					}
					return false
				})
			}
		}
	}
}
