package sim

import (
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/urls"
)

// A host that answers ten requests a minute, and 429 to all others, is asked at 0.4 of that
// rate at least, and all of its pages are fetched, with Retry-After and without.
func TestThrottledHost(t *testing.T) {
	for name, tells := range map[string]bool{"Retry-After": true, "nothing told": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(Case{Seed: 2, Sites: 1, Pages: 150, Processes: 1, GiveUpAfter: 6 * time.Hour}, nil)
			var all []*throttle
			for _, o := range w.web.hosts {
				limit := w.web.throttleOf(urls.HostOf(o.name))
				limit.perMinute, limit.tells = 10, tells
				all = append(all, limit)
			}
			for _, p := range w.web.pages {
				if p.failures = 0; p.status >= 500 {
					p.status = 200
				}
			}
			if w.run(); w.violated != nil {
				t.Fatal(w.violated)
			}
			for _, limit := range all {
				n := len(limit.served)
				took, needed := limit.served[n-1]-limit.served[0], time.Duration(n-1)*6*time.Second
				t.Logf("%s: %d served in %v, %d refused", limit.host, n, took, limit.refused)
				if n < 50 || took > needed*5/2 || limit.refused > n/2 {
					t.Errorf("%s answered %d requests in %v, and refused %d", limit.host, n, took, limit.refused)
				}
			}
		})
	}
}
