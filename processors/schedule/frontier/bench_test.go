package frontier

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// load is a crawl in full swing: domains with so many queued URLs each, and
// their visits.
type load struct {
	tb     testing.TB
	f      *Frontier
	store  *pebbleStore
	now    time.Time
	offset int64
	hold   bool
	out    []outVisit // in the order in which they are answered
	hosts  int        // of each domain
	urls   int
	robots int // robots visits answered
}

type outVisit struct {
	domain string
	visit  *weftpb.Visit
}

func newLoad(tb testing.TB, domains, hosts, queued, window int) *load {
	opts := DefaultOptions()
	opts.Window = window
	opts.Allowed = func(*weftpb.Robots, string) bool { return true }
	l := &load{tb: tb, store: openPebble(tb), now: time.UnixMilli(1_700_000_000_000), hosts: hosts}
	l.f = New(opts, l.store)
	l.hold = true
	for round := 0; round < queued; round += 200 {
		for d := range domains {
			l.admit(fmt.Sprintf("domain-%d.example", d), min(queued-round, 200))
		}
	}
	l.hold = false
	for l.robots < domains*hosts {
		l.serve(1000)
	}
	// What loading left to compact would be counted against the larger load.
	l.store.must(l.store.db.Flush())
	for {
		m := l.store.db.Metrics()
		if m.Compact.NumInProgress == 0 && m.Flush.NumInProgress == 0 {
			return l
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (l *load) apply(domain string, ev *weftpb.Scheduled, err error) {
	if err == nil && ev != nil {
		err = l.f.Apply(domain, ev, l.offset)
		l.offset++
	}
	if err != nil {
		l.tb.Fatal(err)
	}
	if ev != nil {
		for _, v := range ev.Released {
			l.out = append(l.out, outVisit{domain, v})
		}
	}
}

func (l *load) at() Moment { return Moment{Now: l.now, Offset: l.offset, Paused: l.hold} }

func (l *load) admit(domain string, n int) {
	targets := make([]*weftpb.Target, n)
	for i := range targets {
		l.urls++
		targets[i] = &weftpb.Target{
			Url:   fmt.Sprintf("https://h%d.%s/documentation/reference/section-%d/page-%d.html", l.urls%l.hosts, domain, l.urls%97, l.urls),
			Depth: uint32(l.urls % 7), Via: weftpb.Via_VIA_LINK,
		}
	}
	ev, err := l.f.Admit(domain, targets, l.at())
	l.apply(domain, ev, err)
}

// settle answers the visit that has been out for longest; as many new URLs are
// found as were fetched. It returns how many.
func (l *load) settle() int {
	o := l.out[0]
	l.out = l.out[1:]
	v := &weftpb.Visited{Visit: o.visit.Id, Done: true}
	for i := range o.visit.Requests {
		v.Outcomes = append(v.Outcomes, &weftpb.Outcome{Index: uint32(i), Status: 200, TotalUs: 20_000})
	}
	if o.visit.Robots {
		v.Rules = &weftpb.OriginRules{Robots: &weftpb.Robots{Access: weftpb.Robots_ACCESS_RULES, Rules: "Disallow: /x", Hash: []byte("12345678")}}
	}
	ev, err := l.f.Settle(o.domain, v, l.at())
	l.apply(o.domain, ev, err)
	if o.visit.Robots {
		l.robots++
		return 0
	}
	l.admit(o.domain, len(o.visit.Requests))
	return len(o.visit.Requests)
}

// serve settles and releases until n URLs were fetched. The clock runs as if
// every visit took its delays.
func (l *load) serve(n int) {
	for n > 0 {
		if len(l.out) > 0 {
			n -= l.settle()
		}
		l.now = l.now.Add(10 * time.Millisecond)
		if next := l.f.NextDue(l.at()); next.IsZero() || next.After(l.now) {
			if len(l.out) > 0 {
				continue
			}
			l.now = next
		}
		for _, domain := range l.f.Due(l.at(), 512) {
			ev, err := l.f.Tick(domain, l.at())
			l.apply(domain, ev, err)
		}
	}
}

// BenchmarkDecide measures a URL's whole way through the frontier, admission,
// release and settlement with the folds, on Pebble. Sizes that must not matter
// are run in turn, so that a noisy machine disturbs both alike, and the ratio
// of their medians is reported: growth, at most 1.3. So is the ratio of how often
// they read the store, which no noise disturbs. Half of ten domains are out at a
// time, as of many domains the window lets out only some. Each of few hosts has as
// many URLs as each of many: a visit that goes to more hosts reads more records,
// however many there are.
func BenchmarkDecide(b *testing.B) {
	queued, domains, hosts := 10_000_000, 100_000, 100_000
	if testing.Short() {
		queued, domains, hosts = queued/10, domains/10, hosts/10
	}
	b.Run(fmt.Sprintf("queued=10,%d", queued), func(b *testing.B) {
		growth(b, newLoad(b, 1, 1, 10, 512), newLoad(b, 1, 1, queued, 512))
	})
	b.Run(fmt.Sprintf("domains=10,%d", domains), func(b *testing.B) {
		growth(b, newLoad(b, 10, 1, 40, 5), newLoad(b, domains, 1, 40, 512))
	})
	b.Run(fmt.Sprintf("hosts=100,%d", hosts), func(b *testing.B) {
		growth(b, newLoad(b, 1, 100, 10*100, 512), newLoad(b, 1, hosts, 10*hosts, 512))
	})
}

// BenchmarkRoom measures how many bytes of disk and of memory a queued URL, a host and a domain
// are, for few and for many of them: the sizes of tables, compacted, and of the heap with the
// store open. Memory holds caches of bounded size, so its bytes for each become fewer.
func BenchmarkRoom(b *testing.B) {
	most := 10_000_000
	if testing.Short() {
		most /= 10
	}
	for n := 10_000; n <= most; n *= 10 {
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) {
			for b.Loop() {
				urls := takes(b, 1, 1, n)
				urls.report(b, n, "URL")
				if n > 100_000 {
					continue
				}
				takes(b, 1, n, n).beside(urls).report(b, n, "host")
				takes(b, n, 1, 1).beside(urls).report(b, n, "domain")
			}
		})
	}
}

// room is what a store takes, in bytes.
type room struct{ disk, memory int64 }

func (r room) beside(other room) room {
	return room{r.disk - other.disk, max(r.memory-other.memory, 0)}
}

func (r room) report(b *testing.B, n int, of string) {
	b.ReportMetric(float64(r.disk)/float64(n), "disk-bytes/"+of)
	b.ReportMetric(float64(r.memory)/float64(n), "memory-bytes/"+of)
}

// takes is the room of a store with so many domains, hosts of each, and URLs of each domain.
func takes(b *testing.B, domains, hosts, queued int) (r room) {
	before := heap()
	l := &load{tb: b, store: openPebble(b), now: time.UnixMilli(1_700_000_000_000), hosts: hosts, hold: true}
	l.f = New(testOptions(), l.store)
	for d := range domains {
		for left := queued; left > 0; left -= 200 {
			l.admit(fmt.Sprintf("domain-%d.example", d), min(left, 200))
		}
	}
	l.store.must(l.store.db.Flush())
	l.store.must(l.store.db.Compact(b.Context(), []byte{0}, []byte{0xff}, true))
	tables := l.store.db.Metrics().Total()
	r = room{tables.TablesSize, heap() - before}
	runtime.KeepAlive(l)
	l.store.close()
	return r
}

// heap is how many bytes of the heap are in use.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what finalizers held
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// slice is how many URLs are served in one measurement.
const slice = 3000

func growth(b *testing.B, small, large *load) {
	b.ReportAllocs()
	var smalls, larges []time.Duration
	before := large.offset
	small.store.reads, large.store.reads = 0, 0
	for b.Loop() {
		smalls = append(smalls, timed(small))
		larges = append(larges, timed(large))
	}
	decisions := float64(large.offset-before) / float64(len(larges))
	s, l := median(smalls), median(larges)
	b.ReportMetric(float64(slice)/s.Seconds(), "small-urls/s")
	b.ReportMetric(float64(slice)/l.Seconds(), "large-urls/s")
	b.ReportMetric(decisions/l.Seconds(), "large-decisions/s")
	b.ReportMetric(l.Seconds()/s.Seconds(), "growth")
	b.ReportMetric(float64(large.store.reads)/float64(small.store.reads), "reads-growth")
}

func timed(l *load) time.Duration {
	start := time.Now()
	l.serve(slice)
	return time.Since(start)
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
