package main

import (
	"cmp"
	"slices"
	"time"

	"github.com/weftcrawl/weft/test/webserver"
)

// stall is what a web server saw of a change: for how long it got no request although it had URLs.
// Each is the longest such time.
type stall struct {
	// whole: no request began at all.
	whole time.Duration
	// partition: none of the domains of one partition was asked, which was
	// partition number.
	partition time.Duration
	number    int32
	// domain: one was not asked beyond its delay, which was name.
	domain time.Duration
	name   string
	// domains is the median of that over the domains.
	domains time.Duration
}

// stalls measures a window of a log whose domains have a delay between the end
// of a response and the next request, and always have something to ask for.
// partitionOf is the partition of a domain.
func stalls(log []webserver.Entry, from, to time.Time, delay time.Duration, partitionOf func(string) int32) stall {
	log = slices.SortedFunc(slices.Values(log), func(a, b webserver.Entry) int { return cmp.Compare(a.Start, b.Start) })
	w := window{from.UnixNano(), to.UnixNano()}
	var whole gap
	partitions := map[int32]*gap{}
	for _, e := range log {
		p := partitionOf(e.Domain)
		if partitions[p] == nil {
			partitions[p] = new(gap)
		}
		whole.next(w, e.Start, e.Start)
		partitions[p].next(w, e.Start, e.Start)
	}
	s := stall{whole: whole.end(w)}
	for p, g := range partitions {
		if longest := g.end(w); longest > s.partition {
			s.partition, s.number = longest, p
		}
	}
	var all []time.Duration
	for name, longest := range silences(log, from, to, delay) {
		all = append(all, longest)
		if longest > s.domain {
			s.domain, s.name = longest, name
		}
	}
	if slices.Sort(all); len(all) > 0 {
		s.domains = all[len(all)/2]
	}
	return s
}

// silences are how long each domain was not asked beyond its delay, at the
// longest, in a window of a log.
func silences(log []webserver.Entry, from, to time.Time, delay time.Duration) map[string]time.Duration {
	log = slices.SortedFunc(slices.Values(log), func(a, b webserver.Entry) int { return cmp.Compare(a.Start, b.Start) })
	w := window{from.UnixNano(), to.UnixNano()}
	domains := map[string]*gap{}
	for _, e := range log {
		if domains[e.Domain] == nil {
			domains[e.Domain] = new(gap)
		}
		domains[e.Domain].next(w, e.Start, e.End+int64(delay))
	}
	longest := map[string]time.Duration{}
	for name, g := range domains {
		longest[name] = g.end(w)
	}
	return longest
}

// window of a log, in nanoseconds since 1970.
type window struct{ from, to int64 }

// gap is the longest time within a window in which something could have been
// asked and was not.
type gap struct {
	longest time.Duration
	since   int64 // when it could be asked next; 0: nothing was asked yet
}

// next books a request that began at start; the next one may begin at free.
func (g *gap) next(w window, start, free int64) {
	g.close(w, start)
	g.since = max(g.since, free)
}

// end closes the window.
func (g *gap) end(w window) time.Duration {
	g.close(w, w.to)
	return g.longest
}

// close measures which part of the time up to a moment is in the window. A gap that begins
// before the window counts from the window's start on: it has another cause.
func (g *gap) close(w window, at int64) {
	if g.since != 0 {
		g.longest = max(g.longest, time.Duration(min(at, w.to)-max(g.since, w.from)))
	}
}
