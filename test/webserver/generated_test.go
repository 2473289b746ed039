package webserver

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
)

func generated(t testing.TB, o Options) *Generated {
	t.Helper()
	g, err := NewGenerated(o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Every page is linked, directly or not, from the root of its own domain.
func TestGeneratedIsConnected(t *testing.T) {
	g := generated(t, Options{Pages: 1003, Domains: 7, CrossLinks: 0.1, DeniedEvery: 5, ErrorEvery: 7, RedirectEvery: 9})
	exist := map[string]bool{}
	for domain, path := range g.Pages() {
		exist[domain+path] = true
	}
	if len(exist) != 1003 {
		t.Fatalf("%d distinct pages, want 1003", len(exist))
	}
	reached := map[string]bool{}
	for _, domain := range g.Domains() {
		queue := []string{"/"}
		reached[domain+"/"] = true
		for len(queue) > 0 {
			p := g.Page(domain, 80, queue[0])
			queue = queue[1:]
			for _, href := range p.Links {
				path, _, _ := strings.Cut(href, "#")
				if key := domain + path; strings.HasPrefix(path, "/") && exist[key] && !reached[key] {
					reached[key] = true
					queue = append(queue, path)
				}
			}
		}
	}
	if len(reached) != len(exist) {
		t.Errorf("%d of %d pages are reachable", len(reached), len(exist))
	}
}

// With linked roots, every domain is found from the first one.
func TestLinkedRoots(t *testing.T) {
	g := generated(t, Options{Pages: 300, Domains: 100, LinkedRoots: true})
	reached := map[string]bool{DomainAddr(0): true}
	for queue := []string{DomainAddr(0)}; len(queue) > 0; queue = queue[1:] {
		for _, href := range g.Page(queue[0], 80, "/").Links {
			u, err := url.Parse(href)
			if err != nil {
				t.Fatal(err)
			}
			if domain := u.Hostname(); domain != "" && !reached[domain] {
				reached[domain] = true
				queue = append(queue, domain)
			}
		}
	}
	if len(reached) != 100 {
		t.Errorf("%d of 100 domains are reachable", len(reached))
	}
}

func TestGeneratedLinks(t *testing.T) {
	g := generated(t, Options{Pages: 900, Domains: 9, CrossLinks: 0.1, DeniedEvery: 5, ErrorEvery: 7, RedirectEvery: 9})
	exist := map[string]bool{}
	for domain, path := range g.Pages() {
		exist[domain+path] = true
	}
	answers, kinds := map[string]Response{}, map[string]int{}
	for domain, path := range g.Pages() {
		for _, href := range g.Page(domain, 80, path).Links {
			u, err := url.Parse(href)
			if err != nil {
				t.Fatal(err)
			}
			host := domain
			if u.Host != "" {
				host = u.Hostname()
				kinds["cross"]++
			}
			r, ok := answers[host+u.Path]
			if !ok {
				r = g.Answer(host, 80, u.Path, nil)
				answers[host+u.Path] = r
			}
			switch {
			case exist[host+u.Path]:
				kinds["page"]++
				if r.Status != 200 {
					t.Fatalf("%s links to %s, which answers %d", path, href, r.Status)
				}
			case g.Denied(host, u.Path):
				kinds["denied"]++
			case r.Status == 301 && exist[host+r.Location]:
				kinds["redirect"]++
			case r.Status == 404:
				kinds["missing"]++
			default:
				t.Fatalf("%s links to %s, which answers %d %q", path, href, r.Status, r.Location)
			}
		}
	}
	for _, kind := range []string{"cross", "page", "denied", "redirect", "missing"} {
		if kinds[kind] == 0 {
			t.Errorf("no link of kind %s: %v", kind, kinds)
		}
	}
	if mean := float64(kinds["page"]) / 900; mean < 32 || mean > 44 {
		t.Errorf("%.1f links a page, want about 40", mean)
	}
}

func TestGeneratedSizes(t *testing.T) {
	g := generated(t, Options{Pages: 4000, Domains: 10})
	var sizes []int
	total := 0
	for domain, path := range g.Pages() {
		n := len(g.Answer(domain, 80, path, nil).Body)
		sizes = append(sizes, n)
		total += n
	}
	slices.Sort(sizes)
	if median := sizes[len(sizes)/2] >> 10; median < 13 || median > 17 {
		t.Errorf("median %d KiB, want 15", median)
	}
	if mean := total / len(sizes) >> 10; mean < 26 || mean > 34 {
		t.Errorf("mean %d KiB, want 30", mean)
	}
}

// What the manifest says is what an independent parser finds in the HTML.
func TestPageIsWhatTheMarkupSays(t *testing.T) {
	g := generated(t, Options{Seed: 7, Pages: 200, Domains: 4, CrossLinks: 0.1, DeniedEvery: 5, ErrorEvery: 7, RedirectEvery: 9})
	for domain, path := range g.Pages() {
		body := string(g.Answer(domain, 4321, path, nil).Body)
		page := g.Page(domain, 4321, path)
		doc, err := goquery.NewDocumentFromReader(strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if got := doc.Find("title").Text(); got != page.Title {
			t.Fatalf("%s: title %q, want %q", path, got, page.Title)
		}
		if got := strings.Join(strings.Fields(doc.Find("body").Text()), " "); got != page.Text {
			t.Fatalf("%s: text\n%.300q\nwant\n%.300q", path, got, page.Text)
		}
		hrefs := doc.Find("a[href]").Map(func(_ int, s *goquery.Selection) string { return s.AttrOr("href", "") })
		if !slices.Equal(hrefs, page.Links) {
			t.Fatalf("%s: links\n%q\nwant\n%q", path, hrefs, page.Links)
		}
		if len(body) != page.Bytes {
			t.Fatalf("%s: %d bytes, want %d", path, len(body), page.Bytes)
		}
	}
}

func TestGeneratedIsDeterministic(t *testing.T) {
	o := Options{Seed: 3, Pages: 60, Domains: 3, CrossLinks: 0.2}
	a, b := generated(t, o), generated(t, o)
	o.Seed = 4
	c := generated(t, o)
	same := true
	for domain, path := range a.Pages() {
		pa, pb := a.Page(domain, 1, path), b.Page(domain, 1, path)
		if pb == nil || pa.TextSum() != pb.TextSum() {
			t.Fatalf("%s%s differs between two webs of one seed", domain, path)
		}
		if pc := c.Page(domain, 1, path); pc == nil || pc.TextSum() != pa.TextSum() {
			same = false
		}
	}
	if same {
		t.Error("another seed made the same web")
	}
}

func TestGeneratedAnswers(t *testing.T) {
	g := generated(t, Options{Pages: 40, Domains: 4, NoRobotsEvery: 2, CrawlDelayEvery: 3, CrawlDelay: 1500e6})
	tests := []struct {
		domain, path string
		status       int
		body         string
	}{
		{DomainAddr(0), "/robots.txt", 200, "Disallow: /private/\n"},
		{DomainAddr(1), "/robots.txt", 404, ""},
		{DomainAddr(2), "/robots.txt", 200, "Crawl-delay: 1.5\n"},
		{DomainAddr(0), "/private/1.html", 200, "denies"},
		{DomainAddr(0), "/missing/1.html", 404, ""},
		{DomainAddr(0), "/moved/99", 404, ""},
		{DomainAddr(0), "/static/style.css", 200, "body"},
		{DomainAddr(0), "//", 404, ""},
		{DomainAddr(4), "/", 421, ""},
		{"example.com", "/", 421, ""},
		{"127.0.0.1", "/", 421, ""},
	}
	for _, tt := range tests {
		r := g.Answer(tt.domain, 80, tt.path, nil)
		if r.Status != tt.status || !strings.Contains(string(r.Body), tt.body) {
			t.Errorf("%s%s: %d %q, want %d with %q", tt.domain, tt.path, r.Status, r.Body, tt.status, tt.body)
		}
	}
	if r := g.Answer(DomainAddr(0), 80, "/moved/0", nil); r.Status != 301 || r.Location != "/" {
		t.Errorf("/moved/0: %d to %q", r.Status, r.Location)
	}
}

func TestOptionsValidate(t *testing.T) {
	tests := map[string]Options{
		"more domains than pages": {Pages: 3, Domains: 4},
		"too many domains":        {Pages: 1e6, Domains: maxDomains + 1},
		"mean below median":       {MedianBytes: 100, MeanBytes: 50},
		"share above 1":           {CrossLinks: 1.5},
		"negative interval":       {ErrorEvery: -1},
		"negative crawl delay":    {CrawlDelay: -1},
	}
	for name, o := range tests {
		if _, err := NewGenerated(o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestDomainAddr(t *testing.T) {
	seen := map[string]bool{}
	for n := range maxDomains {
		a := DomainAddr(n)
		if got, ok := domainNumber(a); !ok || got != n || seen[a] {
			t.Fatalf("domain %d is %s, which is %d, %v", n, a, got, ok)
		}
		seen[a] = true
	}
}

func BenchmarkAnswer(b *testing.B) {
	g := generated(b, Options{Pages: 20000, Domains: 50})
	var buf []byte
	var urls [][2]string
	for d, p := range g.Pages() {
		urls = append(urls, [2]string{d, p})
	}
	b.ReportAllocs()
	total := 0
	for i := 0; b.Loop(); i++ {
		u := urls[i*7919%len(urls)]
		buf = g.Answer(u[0], 80, u[1], buf[:0]).Body
		total += len(buf)
	}
	b.ReportMetric(float64(total)/float64(b.N), "bytes/page")
}
