package frontier

import (
	"github.com/weftcrawl/weft/internal/politeness"
)

// Due returns up to limit domains that Tick may have something to do for. First
// come the domains with a visit that the ledger does not hold any more, then those
// with a lease that ran out. Then come those that are due, the longest first, as
// many as the window has room for.
//
// At the first call, and after a clock was set back, Due also looks for times that
// are further ahead than any wait (see absurd), and names their domains.
func (f *Frontier) Due(at Moment, limit int) []string {
	nowMS := at.Now.UnixMilli()
	var domains []string
	add := func(name []byte) bool {
		if len(domains) < limit {
			domains = append(domains, string(name))
		}
		return len(domains) < limit
	}
	if f.cut(at) {
		f.releases.upTo(f.store, uint64(at.Begins-1), func(visit []byte) bool { return add(visit[1:]) })
	}
	f.leases.upTo(f.store, uint64(nowMS), add)
	if f.latest == 0 || nowMS < f.latest {
		f.leases.beyond(f.store, uint64(nowMS+politeness.MaxLease.Milliseconds()), add)
		f.due.beyond(f.store, uint64(nowMS+politeness.MaxWait.Milliseconds()), add)
	}
	// Absurd times beyond the limit are found by the next call.
	if f.latest = nowMS; len(domains) >= limit {
		f.latest = 0
	}
	if more := min(f.windowLeft(at), limit-len(domains)); more > 0 {
		limit = len(domains) + more
		f.due.upTo(f.store, uint64(nowMS), add)
	}
	return domains
}

// cut tells whether visits are out that were released before the ledger begins.
func (f *Frontier) cut(at Moment) bool { return f.oldest(at.Begins) < at.Begins }

// windowLeft is how many more visits the window lets out. If the gauges cannot be
// read, it is the whole window: the decision that follows reports the error.
func (f *Frontier) windowLeft(at Moment) int {
	if at.Paused {
		return 0
	}
	g, err := readGauges(f.store)
	if err != nil {
		return f.opts.Window
	}
	return max(f.opts.Window-int(g.visits), 0)
}
