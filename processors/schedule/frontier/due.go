package frontier

import (
	"bytes"

	"github.com/weftcrawl/weft/internal/politeness"
)

// Due returns up to limit domains for which Tick may have something to do. They come in this
// order: domains with a visit whose release the ledger does not hold any more; with a lease that
// ran out; with a changed setting (see Ask); with hosts to wake (see asleep); with URLs that
// come back; and domains that are due, as many as the window has room for. Domains that are due
// come by the weights of the priorities of their URLs. Among domains of one priority, the domain
// that has been due for longest comes first.
//
// At the first call, and after a clock was set back, Due also looks for times that are further
// ahead than any wait (see absurd), and names their domains.
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
	for _, names := range [][]string{f.changedSettings, f.asleep(at)} {
		domains = append(domains, names[:min(len(names), limit-len(domains))]...)
	}
	if len(domains) < limit && f.opts.SitemapRefresh > 0 {
		f.refreshes.upTo(f.store, uint64(nowMS), func(suffix []byte) bool {
			name := suffix[:max(bytes.IndexByte(suffix, 0), 0)]
			if n := len(domains); n > 0 && domains[n-1] == string(name) {
				return true
			}
			return add(name)
		})
	}
	if f.latest == 0 || nowMS < f.latest {
		f.leases.beyond(f.store, uint64(nowMS+politeness.MaxLease.Milliseconds()), add)
		for p := range f.due {
			f.due[p].beyond(f.store, uint64(nowMS+politeness.MaxWait.Milliseconds()), add)
		}
	}
	// Absurd times beyond the limit are found by the next call.
	if f.latest = nowMS; len(domains) >= limit {
		f.latest = 0
	}
	if more := min(f.windowLeft(at), limit-len(domains)); more > 0 {
		domains = append(domains, f.overdue(nowMS, more)...)
	}
	return domains
}

// overdue returns domains that are due. Priorities take turns by their weights. Among domains of
// one priority, the domain that has been due for longest comes first.
func (f *Frontier) overdue(nowMS int64, limit int) (domains []string) {
	var queues [priorities][]string
	total := 0
	for p := range f.due {
		f.due[p].upTo(f.store, uint64(nowMS), func(name []byte) bool {
			queues[p] = append(queues[p], string(name))
			return len(queues[p]) < limit
		})
		total += len(queues[p])
	}
	for range min(limit, total) {
		var p int
		p, f.turn, _ = politeness.Serve(f.turn, func(p int) bool { return len(queues[p]) > 0 })
		domains, queues[p] = append(domains, queues[p][0]), queues[p][1:]
	}
	return domains
}

// isNext tells whether d goes before all other domains that are due.
func (f *Frontier) isNext(d *domain, nowMS int64) bool {
	for p := range f.due {
		first := f.due[p].first(f.store)
		if first <= uint64(nowMS) && (d.dueMS == 0 || p != d.dueIn || first != uint64(d.dueMS)) {
			return false
		}
		if d.dueMS != 0 && p == d.dueIn && first == uint64(d.dueMS) {
			return true
		}
	}
	return true
}

// cut tells whether visits are out that were released before the ledger begins.
func (f *Frontier) cut(at Moment) bool { return f.oldest(at.Begins) < at.Begins }

// windowLeft returns how many more visits the window allows. If the gauges cannot be read, it
// returns the whole window: the decision that follows reports the error.
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
