package frontier

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/politeness"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/test/memstore"
)

// world drives a frontier through random inputs and keeps the books that the
// invariants are held against.
type world struct {
	t     *rapid.T
	opts  Options
	store *memstore.Store
	f     *Frontier
	now   time.Time
	hold  bool
	since time.Time

	offset       int64
	log          []logged
	urls, floods int
	open         map[string]bool          // URLs admitted and not settled
	out          map[string]*openVisit    // by id
	ruled        map[string]time.Time     // origins with rules, and until when
	free         map[string]bool          // of them, those without restrictions
	settled      map[string]int           // by reason
	served       [priorities]int          // released by priority
	known        map[string]*weftpb.Visit // every visit ever released
}

type logged struct {
	domain string
	offset int64
	event  []byte
}

type openVisit struct {
	domain string
	visit  *weftpb.Visit
	open   map[uint32]bool
	hangs  bool
}

// host is the host of the request that hangs, or the first.
func (v *openVisit) host() string {
	for i := range v.visit.Requests {
		if v.open[uint32(i)] {
			return urls.HostOf(v.visit.Requests[i].Target.Url)
		}
	}
	return ""
}

// leased tells whether its lease has begun and not ended.
func (v *openVisit) leased(now time.Time) bool {
	return waits(v.visit.LeaseMs, now.UnixMilli())
}

var testDomains = []string{"a.example", "b.example", "c.example"}

func newWorld(t *rapid.T, opts Options) *world {
	opts.Allowed = func(_ *weftpb.Robots, url string) bool { return !strings.Contains(url, "/private") }
	if err := opts.Validate(); err != nil {
		t.Fatal(err)
	}
	w := &world{
		t: t, opts: opts, store: &memstore.Store{}, now: time.UnixMilli(1_700_000_000_000),
		open: map[string]bool{}, out: map[string]*openVisit{}, ruled: map[string]time.Time{}, free: map[string]bool{},
		settled: map[string]int{}, known: map[string]*weftpb.Visit{},
	}
	w.f = New(opts, w.store)
	return w
}

func (w *world) at() Moment {
	return Moment{Now: w.now, Offset: w.offset, Paused: w.hold, OwnedSince: w.since}
}

// decide runs a decision, checks that it is pure, and folds it.
func (w *world) decide(domain string, decision func() (*weftpb.Scheduled, error)) {
	before := w.store.Clone()
	ev, err := decision()
	if err != nil {
		w.t.Fatalf("decide: %v", err)
	}
	if key, equal := before.Equal(w.store); !equal {
		w.t.Fatalf("a decision changed %q", key)
	}
	if again, err := decision(); err != nil || !proto.Equal(ev, again) {
		w.t.Fatalf("decided again:\n%v\n%v (%v)", ev, again, err)
	}
	if ev == nil {
		return
	}
	w.book(domain, ev)
	b, err := proto.Marshal(ev)
	if err != nil {
		w.t.Fatal(err)
	}
	if len(b) > 512<<10 {
		w.t.Fatalf("event of %d bytes", len(b))
	}
	w.log = append(w.log, logged{domain, w.offset, b})
	if err := w.f.Apply(domain, decoded(w.t, b), w.offset); err != nil {
		w.t.Fatal(err)
	}
	w.offset += 1 + int64(len(w.log)%3) // claims and others' records lie between
	w.verify()
}

func decoded(t interface{ Fatal(...any) }, b []byte) *weftpb.Scheduled {
	ev := &weftpb.Scheduled{}
	if err := proto.Unmarshal(b, ev); err != nil {
		t.Fatal(err)
	}
	return ev
}

// book keeps account of an event, and checks what a fetcher relies on.
func (w *world) book(domain string, ev *weftpb.Scheduled) {
	for _, a := range ev.Admitted {
		w.open[a.Request.Target.Url] = true
	}
	for _, id := range ev.Expired {
		delete(w.out, id)
	}
	for _, s := range ev.Settled {
		w.bookSettlement(s)
	}
	for _, id := range ev.Hanging {
		if v := w.out[id]; v == nil || v.hangs || len(v.open) != 1 {
			w.t.Fatalf("visit %s hangs: %v", id, v)
		}
		w.out[id].hangs = true
	}
	for _, r := range ev.Rules {
		if r.Robots.Access != weftpb.Robots_ACCESS_DISALLOW_ALL {
			w.free[r.Origin] = r.Robots.Access == weftpb.Robots_ACCESS_ALLOW_ALL
			w.ruled[r.Origin] = w.now.Add(time.Duration(r.Robots.TtlMs) * time.Millisecond)
		}
		if r.Kept {
			w.keeps(r)
		}
	}
	for _, v := range ev.Released {
		w.bookRelease(domain, v)
	}
	if ev.Oldest > w.offset {
		w.t.Fatalf("oldest %d is ahead of the event %d", ev.Oldest, w.offset)
	}
	for id := range w.out {
		offset, _, _ := splitID(w.opts.Partition, id)
		if ev.Oldest > offset {
			w.t.Fatalf("oldest is %d, but visit %s is out", ev.Oldest, id)
		}
	}
}

func (w *world) bookSettlement(s *weftpb.Settlement) {
	url := s.Url
	if s.Visit != "" {
		v := w.out[s.Visit]
		if v == nil || !v.open[s.Index] {
			w.t.Fatalf("settled %v, which is not open", s)
		}
		if delete(v.open, s.Index); len(v.open) == 0 {
			delete(w.out, s.Visit)
		}
		if v.visit.Robots || v.visit.Check || s.RetryMs != 0 {
			return
		}
		url = v.visit.Requests[s.Index].Target.Url
	}
	if !w.open[url] {
		w.t.Fatalf("%q is settled twice: %v", url, s)
	}
	delete(w.open, url)
	if s.Reason != ReasonRobots {
		w.settled[s.Reason]++
	}
}

func (w *world) bookRelease(domain string, v *weftpb.Visit) {
	if w.known[v.Id] != nil {
		w.t.Fatalf("visit %s is released twice", v.Id)
	}
	if w.hold {
		w.t.Fatalf("visit %s is released while held", v.Id)
	}
	w.known[v.Id] = v
	o := &openVisit{domain: domain, visit: v, open: map[uint32]bool{}}
	for i, q := range v.Requests {
		o.open[uint32(i)] = true
		origin, _ := originOf(q.Target.Url)
		switch {
		case v.Check:
			if !v.Probe || len(v.Requests) != 1 {
				w.t.Fatalf("check %v", v)
			}
		case v.Robots:
			if q.Target.Url != origin+"/robots.txt" || len(v.Requests) != 1 {
				w.t.Fatalf("robots visit %v", v)
			}
		case isReferral(q):
		case !w.ruled[origin].After(w.now):
			w.t.Fatalf("%s goes out before its robots.txt (rules until %v, now %v)", q.Target.Url, w.ruled[origin], w.now)
		case strings.Contains(q.Target.Url, "/private") && !w.free[origin]:
			w.t.Fatalf("%s goes out against robots.txt", q.Target.Url)
		default:
			w.served[q.Priority]++
		}
	}
	if limit := politeness.VisitSize(time.Duration(v.DelayMs) * time.Millisecond); len(v.Requests) > limit || v.Probe && len(v.Requests) > 1 {
		w.t.Fatalf("visit %s of %d requests with a delay of %d ms", v.Id, len(v.Requests), v.DelayMs)
	}
	if v.LeaseMs <= w.now.UnixMilli() {
		w.t.Fatalf("visit %s has a lease that is over", v.Id)
	}
	w.out[v.Id] = o
	here, hanging := 0, 0
	for _, other := range w.out {
		switch {
		case other.domain != domain:
		case other.hangs:
			hanging++
			if host := other.host(); host == o.host() && other.leased(w.now) {
				w.t.Fatalf("visit %v goes out while %v hangs", v, other.visit)
			}
		default:
			here++
		}
	}
	if here > w.opts.PerDomain || hanging > politeness.MaxHanging || len(w.out) > w.opts.Window {
		w.t.Fatalf("%d visits of %s are out and %d hang, %d of all", here, domain, hanging, len(w.out))
	}
}

// verify holds the store against the books.
func (w *world) verify() {
	if err := checkStore(w.f, w.store); err != nil {
		w.t.Fatalf("after event %d: %v", w.log[len(w.log)-1].offset, err)
	}
	h := checkHeld(w.store)
	for url, n := range h {
		if n != 1 || !w.open[url] {
			w.t.Fatalf("%s is held %d times, open: %v", url, n, w.open[url])
		}
	}
	if len(h) != len(w.open) {
		w.t.Fatalf("%d URLs are held, %d are open", len(h), len(w.open))
	}
	g, _ := readGauges(w.store)
	if int(g.visits) != len(w.out) {
		w.t.Fatalf("%d visits by the gauges, %d by the books", g.visits, len(w.out))
	}
	if oldest := w.f.Oldest(); (oldest < 0) != (len(w.out) == 0) {
		w.t.Fatalf("oldest is %d with %d visits out", oldest, len(w.out))
	}
	for reason, n := range w.f.Outcomes() {
		if reason == ReasonWithdrawn {
			continue // counted by checkStore
		}
		if w.settled[reason] != int(n) {
			w.t.Fatalf("%d URLs are counted as %s, %d were settled so", n, reason, w.settled[reason])
		}
	}
}

// replay folds the log into an empty store: recovery must end where live
// processing is, key by key. Options do not matter to it.
func (w *world) replay() {
	store := &memstore.Store{}
	f := New(Options{Partition: w.opts.Partition}, store)
	for _, l := range w.log {
		if err := f.Apply(l.domain, decoded(w.t, l.event), l.offset); err != nil {
			w.t.Fatalf("recovery: %v", err)
		}
	}
	if key, equal := store.Equal(w.store); !equal {
		w.t.Fatalf("recovery differs at %q", key)
	}
}

func (w *world) admit(domain string, n int) {
	var targets []*weftpb.Target
	for range n {
		w.urls++
		host := rapid.SampledFrom([]string{"", "www.", "x."}).Draw(w.t, "host")
		path := rapid.SampledFrom([]string{"p", "private"}).Draw(w.t, "path")
		targets = append(targets, &weftpb.Target{
			Url:   fmt.Sprintf("https://%s%s/%s/%d", host, domain, path, w.urls),
			Depth: rapid.Uint32Range(0, 6).Draw(w.t, "depth"),
			Via:   weftpb.Via(rapid.IntRange(1, 4).Draw(w.t, "via")),
		})
	}
	w.decide(domain, func() (*weftpb.Scheduled, error) { return w.f.Admit(domain, targets, w.at()) })
}

// hear admits URLs of groups, and tells of groups and of URLs that leave them.
func (w *world) hear(domain string) {
	news := &weftpb.Deduped{}
	group := func() string {
		return rapid.SampledFrom([]string{domain + " https", domain + " www", "x." + domain + " https"}).Draw(w.t, "group")
	}
	for range rapid.SampledFrom([]int{0, 1, 3, 20, 60}).Draw(w.t, "urls") {
		w.urls++
		host := rapid.SampledFrom([]string{"", "www."}).Draw(w.t, "host")
		path := rapid.SampledFrom([]string{"p", "p", "private"}).Draw(w.t, "path")
		news.Targets = append(news.Targets, &weftpb.Target{
			Url:   fmt.Sprintf("http://%s%s/%s/%d", host, domain, path, w.urls),
			Depth: rapid.Uint32Range(1, 6).Draw(w.t, "depth"), Via: weftpb.Via_VIA_LINK,
			Group: group(), Twin: fmt.Sprintf("https://%s/%d", domain, w.urls),
		})
	}
	for range rapid.IntRange(0, 2).Draw(w.t, "told") {
		news.Groups = append(news.Groups, &weftpb.Group{Name: group(), State: weftpb.Group_State(rapid.Int32Range(0, 2).Draw(w.t, "state"))})
	}
	open := slices.Sorted(maps.Keys(w.open))
	for range rapid.IntRange(0, 2).Draw(w.t, "recalled") {
		if len(open) > 0 {
			news.Recalled = append(news.Recalled, rapid.SampledFrom(open).Draw(w.t, "url"))
		}
	}
	w.decide(domain, func() (*weftpb.Scheduled, error) { return w.f.AdmitDeduped(domain, news, w.at()) })
}

// comeBack frees all groups.
func (w *world) comeBack() {
	for _, domain := range testDomains {
		news := &weftpb.Deduped{}
		for _, group := range []string{domain + " https", domain + " www", "x." + domain + " https"} {
			news.Groups = append(news.Groups, &weftpb.Group{Name: group, State: weftpb.Group_STATE_FREE})
		}
		w.decide(domain, func() (*weftpb.Scheduled, error) { return w.f.AdmitDeduped(domain, news, w.at()) })
	}
}

func (w *world) settle(domain string, v *weftpb.Visited) {
	w.decide(domain, func() (*weftpb.Scheduled, error) { return w.f.Settle(domain, v, w.at()) })
}

// due ticks what is due.
func (w *world) due() {
	for _, domain := range w.f.Due(w.at(), 100) {
		w.decide(domain, func() (*weftpb.Scheduled, error) { return w.f.Tick(domain, w.at()) })
	}
}

// outIDs are the ids of visits that are out, in an order that does not change.
func (w *world) outIDs() []string {
	var ids []string
	for id := range w.out {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

var testClasses = []string{"", "", "", "connect_refused", "total_timeout", "unwanted_type", "address_refused", "lease_lost", "local_error", "new_class"}

func (w *world) randomOutcome(index uint32) *weftpb.Outcome {
	o := &weftpb.Outcome{Index: index, TotalUs: rapid.Int64Range(0, 3_000_000).Draw(w.t, "total")}
	if o.ErrorClass = rapid.SampledFrom(testClasses).Draw(w.t, "class"); o.ErrorClass == "" {
		o.Status = rapid.SampledFrom([]uint32{200, 200, 301, 304, 404, 429, 500, 503}).Draw(w.t, "status")
		if o.Status >= 429 {
			o.RetryAfterMs = rapid.SampledFrom([]int64{0, 0, 10_000}).Draw(w.t, "retry-after")
		}
	}
	o.Skipped = rapid.IntRange(0, 9).Draw(w.t, "skipped") == 0
	return o
}

// randomVisited reports some outcomes of a visit that is out, or of none.
func (w *world) randomVisited() {
	ids := append(w.outIDs(), "0-999999-0", "1-0-0", "x", "")
	id := rapid.SampledFrom(ids).Draw(w.t, "visit")
	v := &weftpb.Visited{Visit: id, Done: rapid.Bool().Draw(w.t, "done"), Hangs: rapid.IntRange(0, 3).Draw(w.t, "hangs") == 0}
	domain := testDomains[0]
	if o := w.out[id]; o != nil {
		domain = o.domain
		for i := range o.visit.Requests {
			if rapid.IntRange(0, 3).Draw(w.t, "report") > 0 {
				v.Outcomes = append(v.Outcomes, w.randomOutcome(uint32(i)))
			}
		}
		if o.visit.Robots && rapid.IntRange(0, 9).Draw(w.t, "rules") > 0 {
			v.Rules = w.randomRules()
			v.Rules.Referred = rapid.IntRange(0, 3).Draw(w.t, "referred") == 0
		}
	}
	v.Outcomes = append(v.Outcomes, &weftpb.Outcome{Index: 77, Status: 200})
	w.settle(domain, v)
	w.settle(domain, v) // at least once
}

// storm lets every request of a domain fail for a while.
func (w *world) storm() {
	domain := rapid.SampledFrom(testDomains).Draw(w.t, "domain")
	for range rapid.IntRange(1, 25).Draw(w.t, "failures") {
		for _, id := range w.outIDs() {
			if w.out[id].domain != domain {
				continue
			}
			v := &weftpb.Visited{Visit: id, Done: true}
			for i := range w.out[id].visit.Requests {
				v.Outcomes = append(v.Outcomes, &weftpb.Outcome{Index: uint32(i), ErrorClass: "connect_refused"})
			}
			w.settle(domain, v)
		}
		if next := w.f.NextDue(w.at()); next.After(w.now) {
			w.now = next
		}
		w.due()
	}
}

// flood admits more URLs of one origin than one event looks at.
func (w *world) flood(domain string) {
	if w.floods++; w.floods > 1 {
		return // the books are slow
	}
	var targets []*weftpb.Target
	path := rapid.SampledFrom([]string{"p", "private"}).Draw(w.t, "path")
	for range 220 {
		w.urls++
		targets = append(targets, &weftpb.Target{Url: fmt.Sprintf("http://%s/%s/%d", domain, path, w.urls), Depth: 2})
	}
	w.decide(domain, func() (*weftpb.Scheduled, error) { return w.f.Admit(domain, targets, w.at()) })
}

// answer reports all of a visit as fetched.
func (w *world) answer(id string) {
	o := w.out[id]
	v := &weftpb.Visited{Visit: id, Done: true}
	for i := range o.visit.Requests {
		v.Outcomes = append(v.Outcomes, &weftpb.Outcome{Index: uint32(i), Status: 200})
	}
	if o.visit.Robots {
		v.Rules = &weftpb.OriginRules{Robots: &weftpb.Robots{Access: weftpb.Robots_ACCESS_RULES, Rules: "Disallow: /private"}}
	}
	w.settle(o.domain, v)
}

// drain lets a fetcher that always answers work until nothing is pending.
func (w *world) drain() {
	w.hold = false
	limit := 1000 + 4*len(w.open)
	for step := 0; len(w.open) > w.withdrawn() || len(w.out) > 0; step++ {
		if step > limit {
			w.t.Fatalf("%d URLs are open and %d visits out after %d steps", len(w.open), len(w.out), step)
		}
		for _, id := range w.outIDs() {
			w.now = w.now.Add(time.Second)
			w.answer(id)
		}
		w.due()
		if len(w.out) > 0 || len(w.open) == w.withdrawn() {
			continue
		}
		next := w.f.NextDue(w.at())
		if next.IsZero() {
			w.t.Fatalf("%d URLs are open, and nothing is due", len(w.open))
		}
		if next.After(w.now) {
			w.now = next
		}
	}
	g, err := w.f.Gauges()
	if err != nil || g.Pending != 0 || g.Domains != 0 || w.f.Oldest() != -1 {
		w.t.Fatalf("drained: %v, oldest %d (%v)", g, w.f.Oldest(), err)
	}
}

// withdrawn is the number of URLs that are open and not pending.
func (w *world) withdrawn() int {
	g, err := w.f.Gauges()
	if err != nil {
		w.t.Fatal(err)
	}
	return int(g.Withdrawn)
}

func randomOptions(t *rapid.T) Options {
	opts := DefaultOptions()
	opts.Delay = rapid.SampledFrom([]time.Duration{0, time.Second, 20 * time.Second}).Draw(t, "delay")
	opts.PerDomain = rapid.SampledFrom([]int{1, 1, 3}).Draw(t, "per domain")
	opts.Window = rapid.SampledFrom([]int{1, 2, 512}).Draw(t, "window")
	opts.MaxOrigins = rapid.SampledFrom([]int{2, 1000}).Draw(t, "origins")
	opts.GiveUpAfter = rapid.SampledFrom([]time.Duration{0, time.Minute, 7 * 24 * time.Hour}).Draw(t, "give up after")
	return opts
}

func TestRandomHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, randomOptions(t))
		t.Repeat(map[string]func(*rapid.T){
			"admit": func(t *rapid.T) {
				domain := rapid.SampledFrom(testDomains).Draw(t, "domain")
				w.admit(domain, rapid.SampledFrom([]int{0, 1, 2, 40}).Draw(t, "urls"))
			},
			"hear":    func(t *rapid.T) { w.hear(rapid.SampledFrom(testDomains).Draw(t, "domain")) },
			"visited": func(*rapid.T) { w.randomVisited() },
			"fetch":   func(*rapid.T) { w.randomVisited() },
			"pass": func(t *rapid.T) {
				w.now = w.now.Add(rapid.SampledFrom([]time.Duration{
					time.Millisecond, time.Second, 40 * time.Second, 20 * time.Minute, 3 * time.Hour, 25 * time.Hour, -time.Second, -100 * time.Hour,
				}).Draw(t, "time"))
				w.due()
			},
			"due":   func(*rapid.T) { w.due() },
			"storm": func(*rapid.T) { w.storm() },
			"flood": func(t *rapid.T) { w.flood(rapid.SampledFrom(testDomains).Draw(t, "domain")) },
			"hold":  func(*rapid.T) { w.hold = !w.hold },
			"next": func(*rapid.T) {
				if next := w.f.NextDue(w.at()); next.After(w.now) {
					w.now = next
				}
				w.due()
			},
			"refer":   func(*rapid.T) { w.refer() },
			"reply":   func(*rapid.T) { w.reply() },
			"restart": func(*rapid.T) { w.f = New(w.opts, w.store) },
			"away": func(*rapid.T) {
				w.now = w.now.Add(3 * time.Hour)
				w.f, w.since = New(w.opts, w.store), w.now
			},
		})
		w.replay()
		w.inspect()
		if rapid.Bool().Draw(t, "come back") {
			w.comeBack()
		}
		w.drain()
		w.replay()
	})
}

// TestLowestPriorityMoves checks that the deepest pages are served while seeds
// keep coming.
func TestLowestPriorityMoves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		opts := DefaultOptions()
		opts.Delay = rapid.SampledFrom([]time.Duration{0, time.Second, 30 * time.Second}).Draw(t, "delay")
		w := newWorld(t, opts)
		const domain = "a.example"
		admit := func(depth uint32) {
			w.urls++
			target := &weftpb.Target{Url: fmt.Sprintf("https://a.example/%d", w.urls), Depth: depth, Via: weftpb.Via_VIA_LINK}
			w.decide(domain, func() (*weftpb.Scheduled, error) {
				return w.f.Admit(domain, []*weftpb.Target{target}, w.at())
			})
		}
		for range 4 {
			admit(9)
		}
		for range 80 {
			admit(0)
		}
		for range 100 {
			w.now = w.now.Add(time.Minute)
			for _, id := range w.outIDs() {
				w.answer(id)
			}
			w.due()
			if w.served[3] == 4 {
				if w.served[0] >= 80 {
					t.Fatalf("the lowest priority waited for the highest")
				}
				return
			}
			admit(0)
		}
		t.Fatalf("served by priority: %v", w.served)
	})
}
