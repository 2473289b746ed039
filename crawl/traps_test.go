package crawl_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/inspect/verify"
	"github.com/weftcrawl/weft/processors/dedupe"
	"github.com/weftcrawl/weft/processors/dedupe/traps"
	"github.com/weftcrawl/weft/test/webserver"
	"github.com/weftcrawl/weft/topics"
)

// TestTraps crawls a site of traps until nothing is left: the real pages are all found, each
// once, and little else is asked for. URLs that are held back are proven to be so, and come
// when people lift a trap.
func TestTraps(t *testing.T) {
	t.Parallel()
	site := webserver.NewTrapSite(webserver.DomainAddr(0))
	server := serveSite(t, site)
	o := configured(t.TempDir())
	o.Definition.Crawl = "weft"
	o.Seeds = [][]byte{[]byte(server.Seeds()[0])}
	run(t, o, crawl.EndedDrained)

	asked := map[string]int{}
	for _, e := range server.Entries() {
		asked[e.Path]++
	}
	for _, path := range site.Real() {
		if asked[path] != 1 {
			t.Errorf("%s was asked for %d times", path, asked[path])
		}
	}
	if n := len(server.Entries()); n > mostOfTraps {
		t.Errorf("%d requests for %d real pages", n, len(site.Real()))
	}
	found := trapsOf(t, o, nil)
	reasons := map[traps.Reason]int{}
	held, withdrawn := 0, 0
	for _, trap := range found {
		reasons[trap.Reason]++
		held, withdrawn = held+trap.Held, withdrawn+trap.Withdrawn
	}
	if withdrawn == 0 {
		t.Error("nothing that was queued before is withdrawn")
	}
	for _, reason := range []traps.Reason{traps.Calendar, traps.Pagination, traps.Session, traps.Faceted, traps.SameContent} {
		if reasons[reason] == 0 {
			t.Errorf("nothing is held back as %s: %v", reason, reasons)
		}
	}
	t.Logf("%d requests for %d real pages, %d URLs held back in %d traps, %d withdrawn", len(server.Entries()), len(site.Real()), held, len(found), withdrawn)
	proven(t, o)

	// The calendar is lifted as long as the crawl does not run, and goes on when it
	// does: for as many pages as it may take.
	before := len(server.Entries())
	trapsOf(t, o, func(trap *traps.Trap) bool { return trap.Reason == traps.Calendar })
	o.Redefine = func(d topics.Definition) topics.Definition {
		d.MaxPagesPerDomain = int64(before + 50)
		return d
	}
	run(t, o, crawl.EndedDrained)
	for _, trap := range trapsOf(t, o, nil) {
		if trap.Reason == traps.Calendar && (!trap.Lifted || trap.Held > 0 || trap.Released == 0) {
			t.Errorf("after it was lifted the calendar is %+v", trap)
		}
	}
	if more := len(server.Entries()) - before; more == 0 || more > 100 {
		t.Errorf("%d requests more", more)
	}
	proven(t, o)
}

// TestSubdomainsWithoutEnd crawls the site of traps under a name all of whose
// subdomains there are: each new one has a page that names two more, and a
// robots.txt to be asked for.
func TestSubdomainsWithoutEnd(t *testing.T) {
	t.Parallel()
	const domain = "trap.example"
	site := webserver.NewTrapSite(domain)
	server := serveSite(t, site)
	o := configured(t.TempDir())
	o.Definition.Scope = "domain"
	o.Fetch.Client.Resolver = everyName{}
	o.Seeds = [][]byte{[]byte(server.Seeds()[0])}
	run(t, o, crawl.EndedDrained)

	asked, hosts := map[string]int{}, map[string]bool{}
	for _, e := range server.Entries() {
		if e.Domain == domain {
			asked[e.Path]++
		}
		hosts[e.Domain] = true
	}
	for _, path := range site.Real() {
		if asked[path] != 1 {
			t.Errorf("%s was asked for %d times", path, asked[path])
		}
	}
	if n := len(server.Entries()); n > mostOfTraps {
		t.Errorf("%d requests for %d real pages", n, len(site.Real()))
	}
	// Those that were told apart, and what they had named by then.
	if n := len(hosts); n < 32 || n > 200 {
		t.Errorf("%d hosts were asked", n)
	}
	held := 0
	for _, trap := range trapsOf(t, o, nil) {
		if trap.Host == "*."+domain {
			held += trap.Held
		}
	}
	t.Logf("%d requests for %d real pages, to %d hosts; %d URLs of others held back", len(server.Entries()), len(site.Real()), len(hosts), held)
	if held == 0 {
		t.Error("no URL of a further subdomain is held back")
	}
	proven(t, o)
}

// everyName resolves every name to the address of a web of tests.
type everyName struct{}

// LookupNetIP implements httpclient.Resolver.
func (everyName) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr(webserver.DomainAddr(0))}, nil
}

// mostOfTraps is how many requests a crawl of the site of traps may make. What was
// admitted before a trap is found is asked for; facets are the worst, with some
// twenty links a page.
const mostOfTraps = 2000

// TestHonestSiteIsNotCut checks that a site whose URLs look alike and whose pages
// differ loses none of them.
func TestHonestSiteIsNotCut(t *testing.T) {
	t.Parallel()
	w := serve(t, webserver.Options{Pages: 1000, Domains: 1}, webserver.ServerOptions{})
	o := options(t, w)
	run(t, o, crawl.EndedDrained)
	w.audit(t, webserver.Expect{Pages: w.Pages()})
	if found := trapsOf(t, o, nil); len(found) > 0 {
		t.Errorf("%s is taken for a trap", found[0].Template)
	}
}

// A shop does not, either, although its pages have less text of their own than in common.
func TestShopIsNotCut(t *testing.T) {
	t.Parallel()
	site := newShop(1000)
	server := serveSite(t, site)
	o := configured(t.TempDir())
	o.Seeds = [][]byte{[]byte(server.Seeds()[0])}
	run(t, o, crawl.EndedDrained)
	if found := trapsOf(t, o, nil); len(found) > 0 {
		t.Errorf("%s is taken for a trap", found[0].Template)
	}
	if n := len(site.sold); n != site.products {
		t.Errorf("%d of %d products were asked for", n, site.products)
	}
}

// shop is a site of products with descriptions of 40 words. All its pages have a menu
// and long notes on delivery.
type shop struct {
	products    int
	vocabulary  []string
	menu, notes string

	mu   sync.Mutex
	sold map[string]bool // asked for
}

func newShop(products int) *shop {
	s := &shop{products: products, sold: map[string]bool{}}
	random := rand.New(rand.NewPCG(7, 0))
	for range 3000 {
		word := make([]byte, 2+random.IntN(7))
		for i := range word {
			word[i] = byte('a' + random.IntN(26))
		}
		s.vocabulary = append(s.vocabulary, string(word))
	}
	for range 40 {
		s.menu += "<li>" + s.say(random, 1+random.IntN(3))
	}
	for range 10 {
		s.notes += "<p>" + s.say(random, 40)
	}
	return s
}

// say is n words. Some are frequent.
func (s *shop) say(random *rand.Rand, n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = s.vocabulary[int(random.ExpFloat64()*600)%len(s.vocabulary)]
	}
	return strings.Join(words, " ")
}

func (s *shop) Domains() []string { return []string{webserver.DomainAddr(0)} }

// Answer has the products in a list of many pages, and three on the page of another.
func (s *shop) Answer(_ string, _ int, path string, _ []byte) webserver.Response {
	const listed = 10
	var number int
	var shown []int
	said := ""
	if _, err := fmt.Sscanf(path, "/product/%d", &number); err == nil {
		s.mu.Lock()
		s.sold[path] = true
		s.mu.Unlock()
		random := rand.New(rand.NewPCG(8, uint64(number)))
		said = "<p>" + s.say(random, 40)
		for range 3 {
			shown = append(shown, random.IntN(s.products))
		}
	} else if _, err := fmt.Sscanf(path, "/list?page=%d", &number); err == nil || path == "/" {
		for n := range listed {
			shown = append(shown, number*listed+n)
		}
		if (number+1)*listed < s.products {
			said = fmt.Sprintf("<a href='/list?page=%d'>Next</a>", number+1)
		}
	} else {
		return webserver.Response{Status: 404}
	}
	for _, n := range shown {
		said += fmt.Sprintf("<li><a href='/product/%d'>%s</a>", n, s.say(rand.New(rand.NewPCG(9, uint64(n))), 3))
	}
	return webserver.Response{Status: 200, Type: "text/html", Body: []byte("<ul>" + s.menu + "</ul>" + said + s.notes)}
}

// trapsOf lists the traps of a crawl that does not run, and lifts those that lift
// names.
func trapsOf(t *testing.T, o crawl.Options, lift func(*traps.Trap) bool) []*traps.Trap {
	t.Helper()
	access, release, err := crawl.Reach(t.Context(), o.Dir, crawl.ToWrite, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	names, client := topics.Loop(o.Definition.Crawl), access.Options()
	all, err := dedupe.Traps(t.Context(), names, true, nil, client...)
	if err != nil {
		t.Fatal(err)
	}
	for _, trap := range all {
		if lift != nil && lift(trap) {
			if err := dedupe.LiftTrap(t.Context(), names, trap, client...); err != nil {
				t.Fatal(err)
			}
		}
	}
	return all
}

// proven checks that nothing was lost in a crawl that does not run.
func proven(t *testing.T, o crawl.Options) {
	t.Helper()
	access, release, err := crawl.Reach(t.Context(), o.Dir, crawl.ToWrite, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	opts := verify.DefaultOptions(o.Definition.Crawl)
	opts.Client = access.Options()
	report, err := verify.Run(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range report.Violations {
		t.Errorf("%s: %s: %s %v", v.Kind, v.URL, v.Says, v.Records)
	}
}

// TestCalendarsEnd crawls calendars that have an empty page for every month, week
// or day there ever was, each with its name and with more or less of the site around
// it: as many of them are nearly the same as differ by a bit more.
func TestCalendarsEnd(t *testing.T) {
	t.Parallel()
	for _, layout := range []string{"/2006/01/", "/week/2006-01-02/", "/2006-01-02"} {
		for _, words := range []int{10, 60, 300} {
			t.Run(fmt.Sprintf("%s with %d words", strings.Trim(layout, "/"), words), func(t *testing.T) {
				t.Parallel()
				s := newShop(0)
				server := serveSite(t, &almanac{layout, s.say(rand.New(rand.NewPCG(3, 0)), words)})
				o := configured(t.TempDir())
				o.Seeds = [][]byte{[]byte(server.Seeds()[0])}
				o.Definition.MaxPagesPerDomain = 1000
				run(t, o, crawl.EndedDrained)
				if n := len(server.Entries()); n > 200 {
					t.Errorf("%d requests", n)
				}
			})
		}
	}
}

// almanac is a calendar of empty pages, with the same words on each.
type almanac struct{ layout, words string }

func (a *almanac) Domains() []string { return []string{webserver.DomainAddr(0)} }

func (a *almanac) Answer(_ string, _ int, path string, _ []byte) webserver.Response {
	day, err := time.Parse(a.layout, path)
	if path == "/" {
		day, err = time.Date(2026, time.November, 16, 0, 0, 0, 0, time.UTC), nil
	}
	if err != nil {
		return webserver.Response{Status: 404}
	}
	body, next := "<h1>"+day.Format("Monday, 2 January 2006")+"</h1>", day.AddDate(0, 0, 1)
	switch {
	case strings.Contains(a.layout, "week"):
		body, next = "<h1>Week of "+day.Format("2 January 2006")+"</h1>", day.AddDate(0, 0, 7)
	case !strings.Contains(a.layout, "02"):
		body, next = "<h1>"+day.Format("January 2006")+"</h1><table>", day.AddDate(0, 1, 0)
		for n := range day.AddDate(0, 1, -1).Day() {
			body += fmt.Sprintf("<td>%d", n+1)
		}
		body += "</table>"
	}
	body += fmt.Sprintf("<p>There were no results found for this view. <a href='%s'>Next</a><p>%s", next.Format(a.layout), a.words)
	return webserver.Response{Status: 200, Type: "text/html", Body: []byte(body)}
}

// TestUntranslatedTreesAreNotCut crawls a site in two languages, whose second tree
// shows the pages of the first where they are not translated: the few that are
// count as much as others.
func TestUntranslatedTreesAreNotCut(t *testing.T) {
	t.Parallel()
	site := &manual{newShop(0)}
	server := serveSite(t, site)
	o := configured(t.TempDir())
	o.Seeds = [][]byte{[]byte(server.Seeds()[0])}
	run(t, o, crawl.EndedDrained)
	if found := trapsOf(t, o, nil); len(found) > 0 {
		t.Errorf("%s is taken for a trap", found[0].Template)
	}
	asked := map[string]int{}
	for _, e := range server.Entries() {
		asked[e.Path]++
	}
	for n := range manualPages {
		for _, language := range []string{"", "/de"} {
			if path := fmt.Sprintf("%s/docs/page-of-%c%c", language, 'a'+n/26, 'a'+n%26); asked[path] != 1 {
				t.Errorf("%s was asked for %d times", path, asked[path])
			}
		}
	}
}

// manual is a site of documentation, each of whose pages names the next ones in its
// language. One of twenty is translated.
type manual struct{ words *shop }

const manualPages = 150

func (m *manual) Domains() []string { return []string{webserver.DomainAddr(0)} }

func (m *manual) Answer(_ string, _ int, path string, _ []byte) webserver.Response {
	tree, name, _ := strings.Cut(path, "/docs/page-of-")
	if path == "/" {
		tree, name = "", "aa"
	}
	if len(name) != 2 || tree != "" && tree != "/de" {
		return webserver.Response{Status: 404}
	}
	n := int(name[0]-'a')*26 + int(name[1]-'a')
	said := uint64(n)
	if tree == "/de" && n%20 == 0 {
		said += manualPages
	}
	body := "<p>" + m.words.say(rand.New(rand.NewPCG(11, said)), 200)
	for next := n + 1; next <= n+3 && next < manualPages; next++ {
		body += fmt.Sprintf("<a href='%s/docs/page-of-%c%c'>x</a>", tree, 'a'+next/26, 'a'+next%26)
	}
	if n == 0 {
		body += "<a href='/docs/page-of-aa'>English</a> <a href='/de/docs/page-of-aa'>Deutsch</a>"
	}
	return webserver.Response{Status: 200, Type: "text/html", Body: []byte(body)}
}
