package sim

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/urls"
)

// A host that answers ten requests a minute, and 429 to all others, is asked at 0.75 of that
// rate at least, from its first answer on, with Retry-After and without. It refuses few
// requests meanwhile.
func TestThrottledHost(t *testing.T) {
	const perMinute, span = 10, 10 * time.Minute
	for _, tells := range []bool{true, false} {
		for seed := uint64(1); seed <= 6; seed++ {
			t.Run(fmt.Sprintf("Retry-After %v, seed %d", tells, seed), func(t *testing.T) {
				w := newWorld(Case{Seed: seed, Sites: 1, Pages: 300, Processes: 1, GiveUpAfter: 6 * time.Hour}, nil)
				var all []*throttle
				for _, site := range w.web.sites {
					site.down = false
				}
				for _, o := range w.web.hosts {
					limit := w.web.throttleOf(urls.HostOf(o.name))
					limit.perMinute, limit.tells = perMinute, tells
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
					n, _ := slices.BinarySearch(limit.served, limit.served[0]+span)
					t.Logf("%s: %d of %d served in %v, %d refused", limit.host, n, len(limit.served), span, limit.refused)
					if most := int(span/time.Minute) * perMinute; len(limit.served) < most || 4*n < 3*most || 6*limit.refused > len(limit.served) {
						t.Errorf("%s answered %d requests in %v, and refused %d of %d", limit.host, n, span, limit.refused, limit.refused+len(limit.served))
					}
				}
			})
		}
	}
}
