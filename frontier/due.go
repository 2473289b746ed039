package frontier

import (
	"time"

	"github.com/weftcrawl/weft/politeness"
)

// Due returns up to limit domains that Tick may have something to do for: first
// those with a visit that nobody can make, with a lease that ran out, then those that are due, longest first, and
// no more of these than the window has room for.
//
// After a clock was set back, and at the first call, it looks for times that
// are further ahead than any wait (see absurd), and names their domains too.
func (f *Frontier) Due(at Moment, limit int) []string {
	nowMS := at.Now.UnixMilli()
	var domains []string
	add := func(name []byte) bool {
		domains = append(domains, string(name))
		return len(domains) < limit
	}
	if f.cut(at) {
		f.releases.upTo(f.store, uint64(at.Begins-1), func(visit []byte) bool { return add(visit[1:]) })
	}
	if len(domains) < limit {
		f.leases.upTo(f.store, uint64(nowMS), add)
	}
	if f.latest == 0 || nowMS < f.latest {
		if len(domains) < limit {
			f.leases.beyond(f.store, uint64(nowMS+politeness.MaxLease.Milliseconds()), add)
		}
		if len(domains) < limit {
			f.due.beyond(f.store, uint64(nowMS+politeness.MaxWait.Milliseconds()), add)
		}
	}
	// Absurd times beyond the limit are found by the next call.
	if f.latest = nowMS; len(domains) >= limit {
		f.latest = 0
	}
	if room := min(f.room(at), limit-len(domains)); room > 0 {
		limit = len(domains) + room
		f.due.upTo(f.store, uint64(nowMS), add)
	}
	return domains
}

// cut tells whether visits are out that stand before the ledger's begin.
func (f *Frontier) cut(at Moment) bool { return f.oldest(at.Begins) < at.Begins }

// room is how many visits the window lets out at the moment. Gauges that cannot
// be read leave room: the decision that follows reports them.
func (f *Frontier) room(at Moment) int {
	if at.Hold {
		return 0
	}
	g, err := f.gauges()
	if err != nil {
		return f.opts.Window
	}
	return max(f.opts.Window-int(g.visits), 0)
}

// NextDue returns the time at which Due will have something to name, if nothing
// happens before; the zero time if nothing ever will.
func (f *Frontier) NextDue(at Moment) time.Time {
	if f.cut(at) {
		return at.Now
	}
	first := f.leases.first(f.store)
	if f.room(at) > 0 {
		first = min(first, f.due.first(f.store))
	}
	if first == noEntry {
		return time.Time{}
	}
	return time.UnixMilli(int64(first))
}
