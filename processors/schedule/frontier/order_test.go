package frontier

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
	"github.com/weftcrawl/weft/test/memstore"
)

// scarce is a frontier with room for one visit, and domains that all want one.
type scarce struct {
	tb      testing.TB
	f       *Frontier
	now     time.Time
	offset  int64
	visited [priorities]int // requests made, by the priority of what the domain has
}

func newScarce(tb testing.TB, store kv.Store) *scarce {
	opts := testOptions()
	opts.Window, opts.Delay, opts.ResponseFactor = 1, 20*time.Second, 0
	return &scarce{tb: tb, f: New(opts, store), now: epoch}
}

func (s *scarce) at() Moment { return Moment{Now: s.now, Offset: s.offset} }

func (s *scarce) apply(domain string, ev *weftpb.Scheduled, err error) *weftpb.Scheduled {
	if err == nil && ev != nil {
		err = s.f.Apply(domain, ev, s.offset)
		s.offset++
	}
	if err != nil {
		s.tb.Fatal(err)
	}
	return ev
}

// admit queues URLs of a priority, which the name of the domain tells.
func (s *scarce) admit(priority, number, urls int) {
	like := map[int]*weftpb.Target{
		0: {Via: weftpb.Via_VIA_SEED}, 1: {Via: weftpb.Via_VIA_SITEMAP, Depth: 1},
		2: {Via: weftpb.Via_VIA_LINK, Depth: 1}, 3: {Via: weftpb.Via_VIA_LINK, Depth: 9},
	}[priority]
	domain := fmt.Sprintf("%d-%d.example", priority, number)
	var targets []*weftpb.Target
	for i := range urls {
		targets = append(targets, &weftpb.Target{Url: fmt.Sprintf("https://%s/%d", domain, i), Via: like.Via, Depth: like.Depth})
	}
	at := s.at()
	at.Paused = true
	ev, err := s.f.Admit(domain, targets, at)
	s.apply(domain, ev, err)
}

// visit lets the domain whose turn it is have its visit, which is answered at once.
func (s *scarce) visit() {
	for _, domain := range s.f.Due(s.at(), 1) {
		ev, err := s.f.Tick(domain, s.at())
		s.apply(domain, ev, err)
		for _, v := range ev.GetReleased() {
			s.visited[domain[0]-'0'] += len(v.Requests)
			report := &weftpb.Visited{Visit: v.Id, Done: true, Outcomes: []*weftpb.Outcome{{Status: 200}}}
			if v.Robots {
				report.Rules = &weftpb.OriginRules{
					Origin: strings.TrimSuffix(v.Requests[0].Target.Url, "/robots.txt"),
					Robots: &weftpb.Robots{Access: weftpb.Robots_ACCESS_ALLOW_ALL},
				}
			}
			ev, err := s.f.Settle(domain, report, s.at())
			s.apply(domain, ev, err)
		}
	}
	s.now = s.now.Add(time.Second)
}

// TestPrioritiesHoldBetweenDomains checks that visits of different domains, when there is
// room for one, go out by the weights of their URLs' priorities.
func TestPrioritiesHoldBetweenDomains(t *testing.T) {
	s := newScarce(t, &memstore.Store{})
	for priority := range priorities {
		for i := range 30 {
			s.admit(priority, i, 100)
		}
	}
	for range 300 {
		s.visit()
	}
	if want := [priorities]int{160, 80, 40, 20}; s.visited != want {
		t.Errorf("visits by priority: %v, want %v", s.visited, want)
	}
}

// TestUrgentDomainComesSoon checks that a seed does not wait for the domains that waited
// before it with less urgent URLs.
func TestUrgentDomainComesSoon(t *testing.T) {
	s := newScarce(t, &memstore.Store{})
	for i := range 200 {
		s.admit(3, i, 100)
	}
	s.now = s.now.Add(time.Hour)
	s.admit(0, 0, 1)
	for range 4 {
		s.visit()
	}
	if s.visited[0] == 0 {
		t.Errorf("visits by priority: %v", s.visited)
	}
}

// TestHostThatIsDownIsNotUrgent checks that URLs of a host that is down do not make their domain
// urgent, until the host answers.
func TestHostThatIsDownIsNotUrgent(t *testing.T) {
	const domain = "a.example"
	s := newScarce(t, &memstore.Store{})
	at := s.at()
	at.Paused = true
	ev, err := s.f.Admit(domain, []*weftpb.Target{
		{Url: "https://down.a.example/", Via: weftpb.Via_VIA_SEED},
		{Url: "https://well.a.example/deep", Via: weftpb.Via_VIA_LINK, Depth: 9},
	}, at)
	s.apply(domain, ev, err)
	backQueue := func() int {
		d, err := decodeDomain(s.f.store.Get(keysOf(domain).record()))
		if err != nil || d.dueMS == 0 {
			t.Fatalf("the domain is %+v: %v", d, err)
		}
		return d.dueIn
	}
	if in := backQueue(); in != 0 {
		t.Errorf("while both are up it is in back queue %d", in)
	}
	for _, down := range []bool{true, false} {
		x, err := openFold(&s.f.overlay, 0, domain, s.offset, s.now.UnixMilli())
		if err != nil {
			t.Fatal(err)
		}
		health := &weftpb.HostHealth{Host: "down.a.example"}
		if down {
			health.Failures, health.BreakerOpen, health.BreakerCycles = 5, true, 1
		}
		gauges := x.g.record()
		if gauges.Down = 0; down {
			gauges.Down = 1
		}
		s.apply(domain, &weftpb.Scheduled{
			Hosts: []*weftpb.HostHealth{health}, Timing: x.d.timing(x.d.dueMS), Gauges: gauges, DecidedMs: s.now.UnixMilli(),
		}, nil)
		if in, want := backQueue(), map[bool]int{true: 3, false: 0}[down]; in != want {
			t.Errorf("with a host down %t it is in back queue %d, want %d", down, in, want)
		}
	}
}

// TestFormerRecordIsCountedAnew checks that the record of the former version, which counted URLs
// of hosts that are down, is counted anew when it is read.
func TestFormerRecordIsCountedAnew(t *testing.T) {
	const domain = "a.example"
	s := newScarce(t, &memstore.Store{})
	at := s.at()
	at.Paused = true
	ev, err := s.f.Admit(domain, []*weftpb.Target{{Url: "https://a.example/deep", Via: weftpb.Via_VIA_LINK, Depth: 9}}, at)
	s.apply(domain, ev, err)
	k := keysOf(domain)
	d, err := decodeDomain(s.f.store.Get(k.record()))
	if err != nil || d.upURLs != [priorities]uint64{3: 1} || d.uncounted {
		t.Fatalf("the record is %+v: %v", d, err)
	}
	d.upURLs[0] = 7 // seeds of a host that was down
	former, other := d.encode(), *d
	other.waited = !d.waited
	flags := 0
	for former[flags] == other.encode()[flags] {
		flags++
	}
	former[flags+1] &^= 2 // the ninth flag, which the former version did not know
	s.f.store.Set(k.record(), former)
	if d, err = decodeDomain(former); err != nil || !d.uncounted {
		t.Fatalf("a record of the former version is read as %+v: %v", d, err)
	}
	ev, err = s.f.Admit(domain, []*weftpb.Target{{Url: "https://a.example/deeper", Via: weftpb.Via_VIA_LINK, Depth: 9}}, at)
	s.apply(domain, ev, err)
	if d, err = decodeDomain(s.f.store.Get(k.record())); err != nil || d.upURLs != [priorities]uint64{3: 2} || d.dueIn != 3 || d.uncounted {
		t.Errorf("after the next event the record is %+v: %v", d, err)
	}
}

// TestRobotsHaveThePriorityOfTheirURL checks that the request for a robots.txt is as urgent as
// the URL that needs it.
func TestRobotsHaveThePriorityOfTheirURL(t *testing.T) {
	for priority := range priorities {
		s := newScarce(t, &memstore.Store{})
		s.admit(priority, 0, 1)
		domain := fmt.Sprintf("%d-0.example", priority)
		ev, err := s.f.Tick(domain, s.at())
		s.apply(domain, ev, err)
		if v := ev.GetReleased(); len(v) != 1 || !v[0].Robots || v[0].Requests[0].Priority != uint32(priority) {
			t.Errorf("for a URL of priority %d goes out %v", priority, v)
		}
	}
}

// BenchmarkOrder measures what a visit costs when there is room for one and all of 4,000
// domains want it, and reports how many of 100 visits each priority has.
func BenchmarkOrder(b *testing.B) {
	s := newScarce(b, openPebble(b))
	for priority := range priorities {
		for i := range 1000 {
			s.admit(priority, i, 100)
		}
	}
	for b.Loop() {
		s.visit()
	}
	for priority, n := range s.visited {
		b.ReportMetric(100*float64(n)/float64(b.N), fmt.Sprintf("of-priority-%d/100", priority))
	}
}
