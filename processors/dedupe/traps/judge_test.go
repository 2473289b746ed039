package traps

import (
	"fmt"
	"maps"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

const (
	domain = "a.example"
	root   = "https://a.example"
)

// stage is what the stage dedupe does with a book, without the set of what is
// seen: it makes events, folds them and keeps them.
type stage struct {
	options Options
	store   memory
	book    *Templates
	events  []*weftpb.Deduped
}

func open(o Options) *stage {
	s := &stage{options: o, store: memory{}}
	s.book = Open(s.store)
	return s
}

// names makes a page name new URLs, given as paths of the domain, and returns how many of them were
// admitted.
func (s *stage) names(source string, again bool, paths ...string) int {
	targets := make([]*weftpb.Target, len(paths))
	for i, p := range paths {
		targets[i] = &weftpb.Target{Url: root + p, Depth: 1, Via: weftpb.Via_VIA_LINK}
	}
	event := &weftpb.Deduped{Source: root + source, Showing: weftpb.Showing_SHOWING_NEW}
	if again {
		event.Showing = weftpb.Showing_SHOWING_AGAIN
	}
	event.Targets, event.Parked = s.book.Judge(s.options, domain, event.Showing, targets)
	s.book.Group(domain, event)
	s.append(event)
	return len(event.Targets)
}

func (s *stage) append(event *weftpb.Deduped) {
	value, err := proto.Marshal(event)
	if err != nil {
		panic(err)
	}
	event = new(weftpb.Deduped)
	if err := proto.Unmarshal(value, event); err != nil {
		panic(err)
	}
	s.book.Apply(domain, event)
	s.events = append(s.events, event)
}

// lift lifts a template until nothing more comes, and returns the URLs that came.
func (s *stage) lift(host, template string) (urls []string) {
	for {
		event := s.book.Lift(domain, &weftpb.Lift{Host: host, Template: template})
		if event == nil {
			return urls
		}
		for _, t := range event.Targets {
			urls = append(urls, t.Url)
		}
		s.append(event)
	}
}

// walk follows pages that each name the next, and returns how many were admitted
// before the first was parked, or most.
func (s *stage) walk(again bool, most int, path func(n int) string) int {
	for n := range most {
		if s.names(path(n), again, path(n+1)) == 0 {
			return n
		}
	}
	return most
}

func TestTrapsEnd(t *testing.T) {
	for _, c := range []struct {
		name   string
		reason Reason
		path   func(n int) string
	}{
		{"calendar", Calendar, func(n int) string { return fmt.Sprintf("/calendar/%d/%02d", 2026+n/12, n%12+1) }},
		{"pagination past the end", Pagination, func(n int) string { return fmt.Sprintf("/list?page=%d", n) }},
		{"session in the path", Session, func(n int) string { return fmt.Sprintf("/s/%016x/home", 0xfedcba9876543210-uint64(n)) }},
		{"session in the query", Session, func(n int) string { return fmt.Sprintf("/home?sid=%d", n) }},
		{"facets", Faceted, func(n int) string { return fmt.Sprintf("/shop?a%c=1&b%c=2&size=m", 'a'+n%26, 'a'+n/26) }},
		{"random words", SameContent, func(n int) string { return fmt.Sprintf("/r/%016x", uint64(n+1)*0x9e3779b97f4a7c15) }},
		{"a query that echoes", SameContent, func(n int) string { return fmt.Sprintf("/echo?q=%d", n) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(DefaultOptions())
			if n := s.walk(true, 1000, c.path); n != 12 {
				t.Errorf("%d pages were admitted", n)
			}
			last := s.events[len(s.events)-1]
			if len(last.Parked) != 1 || Reason(last.Parked[0].Reason) != c.reason {
				t.Errorf("parked as %v", last.Parked)
			}
		})
	}
}

// A trap that begins where an honest list ends is found, a while later.
func TestTrapBehindAnArchive(t *testing.T) {
	s := open(DefaultOptions())
	page := func(n int) string { return fmt.Sprintf("/list?page=%d", n) }
	if n := s.walk(false, 10_000, page); n != 10_000 {
		t.Fatalf("%d pages of the list were admitted", n)
	}
	if n := s.walk(true, 1000, page); n > 64 {
		t.Errorf("%d pages behind its end were admitted", n)
	}
}

// TestLargeHonestSite checks that a site of 100,000 pages is not cut: numbers, deep
// archives, lists, and one page in twenty that looks like another.
func TestLargeHonestSite(t *testing.T) {
	s := open(DefaultOptions())
	const pages = 100_000
	path := func(n int) string {
		switch n % 5 {
		case 0:
			return fmt.Sprintf("/item/%d", n)
		case 1:
			return fmt.Sprintf("/archive/%d/%02d/%02d/story-%d.html", 1950+n%70, n%12+1, n%28+1, n)
		case 2:
			return fmt.Sprintf("/forum?thread=%d&page=%d", n/40, n%40)
		case 3:
			return fmt.Sprintf("/%s/%s/%s/%d", letters(n/1000), letters(n/100), letters(n/10), n)
		default:
			return fmt.Sprintf("/u/%s", letters(n))
		}
	}
	admitted := 0
	for n := 0; n < pages; n += 10 {
		paths := make([]string, 10)
		for i := range paths {
			paths[i] = path(n + i)
		}
		admitted += s.names(path(n/10), n/10%20 == 0, paths...)
	}
	if admitted != pages {
		t.Errorf("%d of %d pages were admitted", admitted, pages)
	}
}

// letters spells a number with letters.
func letters(n int) string {
	b := []byte{'w'}
	for ; n > 0; n /= 26 {
		b = append(b, byte('a'+n%26))
	}
	return string(b)
}

func TestLimits(t *testing.T) {
	s := open(Options{URLsPerTemplate: 100, PagesPerDomain: 150})
	if n := s.walk(false, 1000, func(n int) string { return fmt.Sprintf("/item/%d", n) }); n != 100 {
		t.Errorf("%d URLs of a template were admitted", n)
	}
	paths := make([]string, 70)
	for i := range paths {
		paths[i] = fmt.Sprintf("/other/%s", letters(i))
	}
	if n := s.names("/", false, paths...); n != 50 {
		t.Errorf("%d URLs more of the domain were admitted", n)
	}
	seed := []*weftpb.Target{{Url: root + "/item/seed/1", Via: weftpb.Via_VIA_SEED}}
	if admitted, parked := s.book.Judge(s.options, domain, weftpb.Showing_SHOWING_AGAIN, seed); len(admitted) != 1 || parked != nil {
		t.Errorf("a seed is parked: %v", parked)
	}
	reasons := map[string]int{}
	for _, e := range s.events {
		for _, p := range e.Parked {
			reasons[p.Reason] += len(p.Targets)
		}
	}
	if want := map[string]int{"too_many_urls": 1, "too_many_pages": 20}; !maps.Equal(reasons, want) {
		t.Errorf("parked %v, want %v", reasons, want)
	}
	// Both go on when the limits are raised; no template is a trap for good.
	s.options = Options{}
	if s.names("/", false, "/item/5000", "/other/more") != 2 {
		t.Error("URLs are parked without a limit")
	}
}

func TestLiftBringsBackWhatWasParked(t *testing.T) {
	s := open(DefaultOptions())
	path := func(n int) string { return fmt.Sprintf("/cal/%d/%d", 2000+n/12, n%12+1) }
	s.walk(true, 100, path)
	paths, want := make([]string, 450), []string{root + path(13)}
	for i := range paths {
		paths[i] = path(100 + i)
		want = append(want, root+paths[i])
	}
	if s.names(path(99), true, paths...) != 0 {
		t.Fatal("the calendar is no trap")
	}
	if s.names("/", false, "/about") != 1 {
		t.Error("the rest of the site is one")
	}
	got := s.lift(domain, "/cal/{year}/{n}")
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%d URLs came back, want %d, in order", len(got), len(want))
	}
	if n := s.walk(true, 1000, func(n int) string { return path(1000 + n) }); n != 1000 {
		t.Errorf("%d URLs were admitted after that", n)
	}
	if again := s.lift(domain, "/cal/{year}/{n}"); again != nil {
		t.Errorf("came back again: %v", again)
	}
}

// Names of directories had capitals once, and so has the trap in such a ledger.
func TestTrapWithCapitals(t *testing.T) {
	s := open(DefaultOptions())
	held := []*weftpb.Target{{Url: root + "/Calendar/2031/01", Via: weftpb.Via_VIA_LINK}}
	s.append(&weftpb.Deduped{
		Source: root + "/Calendar/2030/12", Showing: weftpb.Showing_SHOWING_AGAIN,
		Parked: []*weftpb.Parked{{Host: domain, Template: "/Calendar/{year}/{n}", Reason: "calendar", Targets: held}},
	})
	path := func(n int) string { return fmt.Sprintf("/Calendar/%d/02", 2031+n) }
	if n := s.walk(true, 50, path); n != 0 {
		t.Errorf("%d URLs of the trap were admitted", n)
	}
	if back := s.lift(domain, "/Calendar/{year}/{n}"); len(back) != 2 {
		t.Errorf("%d URLs came back: %v", len(back), back)
	}
	if n := s.walk(true, 50, func(n int) string { return path(50 + n) }); n != 50 {
		t.Errorf("of 50 URLs of a template that was lifted, %d were admitted", n)
	}
}

// What no trap is called cannot be lifted: its pattern would have the keys of another.
func TestLiftOfNoTrap(t *testing.T) {
	s := open(DefaultOptions())
	for _, name := range [][2]string{
		{"a.examp", "le/{n}"}, {"a.example/", "{n}"}, {"a.example/", "/{n}"}, {"", ""}, {"a.example", "/\x00"},
	} {
		if got := s.book.Lift(domain, &weftpb.Lift{Host: name[0], Template: name[1]}); got != nil {
			t.Errorf("%q is lifted", name)
		}
	}
	for _, template := range []string{"/{n}", scattered, whole} {
		if s.book.Lift(domain, &weftpb.Lift{Host: domain, Template: template}) == nil {
			t.Errorf("%s cannot be lifted", template)
		}
	}
	if s.book.Lift(domain, &weftpb.Lift{Host: "*." + domain, Template: "/{n}"}) == nil {
		t.Error("the template of the other hosts cannot be lifted")
	}
}

// To lift the template of all queries of a path also lifts the templates of single queries.
func TestExemptionWins(t *testing.T) {
	s := open(DefaultOptions())
	s.lift(domain, "/list?*")
	if n := s.walk(true, 200, func(n int) string { return fmt.Sprintf("/list?page=%d", n) }); n != 200 {
		t.Errorf("%d URLs were admitted", n)
	}
}

// TestStateIsBounded checks that random paths and random hosts do not make a domain's state grow
// for ever, and that they end as traps nevertheless.
func TestStateIsBounded(t *testing.T) {
	s := open(DefaultOptions())
	admitted := 0
	for n := range 5000 {
		host := letters(n*7919) + ".a.example"
		url := &weftpb.Target{Url: fmt.Sprintf("https://%s/%s/%s/", host, letters(n), letters(n*31)), Via: weftpb.Via_VIA_LINK}
		event := &weftpb.Deduped{Source: url.Url, Showing: weftpb.Showing_SHOWING_AGAIN}
		event.Targets, event.Parked = s.book.Judge(s.options, domain, event.Showing, []*weftpb.Target{url})
		admitted += len(event.Targets)
		if event.Parked != nil {
			break
		}
		s.append(event)
	}
	if c := s.book.census(domain); c.patterns > mostNamed+1 || c.hosts > mostHosts {
		t.Errorf("%+v", c)
	}
	if admitted > mostNamed+20 {
		t.Errorf("%d URLs were admitted", admitted)
	}
	last, parked := s.book.Judge(s.options, domain, weftpb.Showing_SHOWING_AGAIN, []*weftpb.Target{{Url: root + "/x/y/", Via: weftpb.Via_VIA_LINK}})
	if len(last) != 0 || len(parked) != 1 || parked[0].Template != "/{word}+/" {
		t.Errorf("the rest of the directories is %v", parked)
	}

	// Names of parameters are kept longer.
	query := func(n int) string { return fmt.Sprintf("/%s?%s", letters(n), letters(n)) }
	for n := range 5000 {
		s.names(query(n), false, query(n+1))
	}
	if c := s.book.census(domain); c.patterns > mostPatterns+1 {
		t.Errorf("%+v", c)
	}
	if n := s.walk(true, 100, func(n int) string { return query(5000 + n) }); n == 100 {
		t.Error("random parameters are admitted for ever")
	}
	if ids := s.book.identities(domain, root+query(9000)); ids[0] != (identity{domain, scattered}) || ids[1].template != "/{word}"+anyQuery {
		t.Errorf("the rest is %v", ids)
	}
}

// TestFold checks that a book is the fold of its events: from nothing, in another
// book, with other options in force, key by key; and that judging changes nothing.
func TestFold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := open(Options{
			Evidence: rapid.IntRange(0, 4).Draw(t, "evidence"), URLsPerTemplate: int64(rapid.IntRange(0, 20).Draw(t, "urls")),
			PagesPerDomain: int64(rapid.IntRange(0, 60).Draw(t, "pages")),
		})
		path := rapid.Custom(func(t *rapid.T) string {
			shape := rapid.SampledFrom([]string{"/a/%d", "/b?x=%d", "/b?y=%d&x=1", "/c/%d/", "/"}).Draw(t, "shape")
			if shape == "/" {
				return shape
			}
			return fmt.Sprintf(shape, rapid.IntRange(0, 9999).Draw(t, "n"))
		})
		admitted, parked, lifted := map[string]int{}, map[string]int{}, 0
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			if rapid.IntRange(0, 9).Draw(t, "what") == 0 {
				u := path.Draw(t, "lifted")
				_, template := Of(root + u)
				lifted += len(s.lift(domain, template))
				continue
			}
			paths := rapid.SliceOfN(path, 1, 8).Draw(t, "paths")
			before := maps.Clone(s.store)
			targets := []*weftpb.Target{{Url: root + paths[0], Via: weftpb.Via_VIA_LINK}}
			s.book.Judge(s.options, domain, weftpb.Showing_SHOWING_AGAIN, targets)
			if !maps.Equal(before, s.store) {
				t.Fatal("judging changed the store")
			}
			n := s.names(path.Draw(t, "source"), rapid.Bool().Draw(t, "again"), paths...)
			event := s.events[len(s.events)-1]
			held := 0
			for _, p := range event.Parked {
				held += len(p.Targets)
				for _, u := range p.Targets {
					parked[u.Url]++
				}
			}
			if n+held != len(paths) {
				t.Fatalf("%d admitted and %d parked of %d", n, held, len(paths))
			}
			for _, u := range event.Targets {
				admitted[u.Url]++
			}
		}
		again := memory{}
		book := Open(again)
		for _, e := range s.events {
			book.patterns.entries, book.censuses.entries, book.hosts.entries = nil, nil, nil // it must not matter
			book.Apply(domain, e)
		}
		if !maps.Equal(again, s.store) {
			t.Fatalf("folded anew:\n%q\nlive:\n%q", again, s.store)
		}
		total, left := 0, 0
		for _, n := range parked {
			total += n
		}
		for key := range s.store {
			if len(key) > len(parkedKind) && key[:len(parkedKind)] == parkedKind {
				left++
			}
		}
		if left+lifted != total {
			t.Fatalf("%d of %d parked URLs are left and %d came back", left, total, lifted)
		}
	})
}

func TestOptionsAreValidated(t *testing.T) {
	if err := DefaultOptions().Validate(); err != nil {
		t.Error(err)
	}
	for _, o := range []Options{{Evidence: -1}, {Evidence: MaxEvidence + 1}, {URLsPerTemplate: -1}, {PagesPerDomain: -1}} {
		if o.Validate() == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}

// The largest evidence that can be asked for is reached by a trap that begins at
// any moment.
func TestMaxEvidence(t *testing.T) {
	for honest := range 2 * window {
		s := open(Options{Evidence: MaxEvidence})
		page := func(n int) string { return fmt.Sprintf("/list/%d", n) }
		s.walk(false, honest, page)
		if n := s.walk(true, 1000, page); n > 64 {
			t.Errorf("after %d honest pages %d of a trap were admitted", honest, n)
		}
	}
}

func BenchmarkBook(b *testing.B) {
	s := open(DefaultOptions())
	targets := make([]*weftpb.Target, 10)
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		for i := range targets {
			targets[i] = &weftpb.Target{Url: fmt.Sprintf("%s/section/page-%d.html", root, n*10+i), Via: weftpb.Via_VIA_LINK}
		}
		event := &weftpb.Deduped{Source: root + "/section/page-1.html", Showing: weftpb.Showing_SHOWING_NEW}
		event.Targets, event.Parked = s.book.Judge(s.options, domain, event.Showing, targets)
		s.book.Apply(domain, event)
	}
	b.ReportMetric(float64(b.N*10)/b.Elapsed().Seconds(), "URLs/s")
}
