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

// A host that answers ten requests a minute, and 429 to all others, is asked at 0.75 of that
// rate at least, from its first answer on, with Retry-After and without. It refuses few
// requests meanwhile. So it is with 503 and Retry-After. 503 alone teaches no delay: the host is
// left alone for longer each time, until it answers again.
func TestThrottledHost(t *testing.T) {
	const perMinute, span = 10, 10 * time.Minute
	for _, c := range []struct {
		status        int
		tells         bool
		seeds         uint64
		rate, refused float64 // at least so much of what is permitted; at most so many refusals for each answer
	}{
		{http.StatusTooManyRequests, true, 6, 0.75, 1. / 6},
		{http.StatusTooManyRequests, false, 6, 0.75, 1. / 6},
		{http.StatusServiceUnavailable, true, 2, 0.75, 1. / 6},
		{http.StatusServiceUnavailable, false, 2, 0.55, 0.75},
	} {
		for seed := uint64(1); seed <= c.seeds; seed++ {
			t.Run(fmt.Sprintf("%d, Retry-After %v, seed %d", c.status, c.tells, seed), func(t *testing.T) {
				w := throttledWorld(seed)
				var all []*throttle
				for _, o := range w.web.hosts {
					limit := w.web.throttleOf(urls.HostOf(o.name))
					limit.status, limit.perMinute, limit.tells = c.status, perMinute, c.tells
					all = append(all, limit)
				}
				if w.run(); w.violated != nil {
					t.Fatal(w.violated)
				}
				for _, limit := range all {
					n, _ := slices.BinarySearch(limit.served, limit.served[0]+span)
					t.Logf("%s: %d of %d served in %v, %d refused", limit.host, n, len(limit.served), span, limit.refused)
					most, served := float64(span/time.Minute*perMinute), float64(len(limit.served))
					if served < most || float64(n) < c.rate*most || float64(limit.refused) > c.refused*served {
						t.Errorf("%s answered %d requests in %v, and refused %d of %d", limit.host, n, span, limit.refused, limit.refused+len(limit.served))
					}
				}
			})
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
