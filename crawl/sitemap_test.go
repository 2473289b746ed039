package crawl_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/topics"
)

// hosts is a web of files, by address and path. All addresses have one port.
type hosts struct {
	port  string
	files map[string]string

	mu    sync.Mutex
	asked map[string]int // by address and path
	// unchanged counts conditional requests for what had not changed.
	unchanged int
}

// serveHosts serves files, in which PORT stands for the port with its colon, at addresses
// 127.3.0.1, 127.3.0.2, ... for A, B, ...
func serveHosts(t *testing.T, n int, files map[string]string) *hosts {
	t.Helper()
	h := &hosts{files: map[string]string{}, asked: map[string]int{}}
	listeners := make([]net.Listener, n)
	for i := range n {
		l, err := net.Listen("tcp", fmt.Sprintf("127.3.0.%d:%s", i+1, strings.TrimPrefix(h.port, ":")))
		if err != nil {
			t.Skipf("the address is taken, or not there: %v", err)
		}
		if h.port == "" {
			h.port = ":" + strings.SplitN(l.Addr().String(), ":", 2)[1]
		}
		listeners[i] = l
	}
	for path, body := range files {
		h.files[h.named(path)] = h.named(body)
	}
	server := &http.Server{Handler: h}
	t.Cleanup(func() { server.Close() })
	for _, l := range listeners {
		go func() { _ = server.Serve(l) }()
	}
	return h
}

// named replaces "A:" by the first origin, and so on.
func (h *hosts) named(text string) string {
	for i, name := range []string{"A:", "B:", "C:"} {
		text = strings.ReplaceAll(text, name, fmt.Sprintf("http://127.3.0.%d%s", i+1, h.port))
	}
	return text
}

func (h *hosts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	url := "http://" + r.Host + r.URL.RequestURI()
	h.mu.Lock()
	h.asked[url]++
	body, ok := h.files[url]
	h.mu.Unlock()
	switch {
	case !ok:
		http.NotFound(w, r)
		return
	case strings.HasPrefix(body, "redirect "):
		http.Redirect(w, r, strings.TrimPrefix(body, "redirect "), http.StatusMovedPermanently)
		return
	case strings.HasSuffix(r.URL.Path, ".gz"):
		w.Header().Set("Content-Type", "application/gzip")
		z := gzip.NewWriter(w)
		_, _ = z.Write([]byte(body))
		_ = z.Close()
		return
	case strings.HasSuffix(r.URL.Path, ".xml"):
		etag := fmt.Sprintf("%q", fmt.Sprint(len(body)))
		w.Header().Set("ETag", etag)
		if r.Header.Get("If-None-Match") == etag {
			h.mu.Lock()
			h.unchanged++
			h.mu.Unlock()
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Type", "application/xml")
	case strings.HasSuffix(r.URL.Path, ".txt"):
		w.Header().Set("Content-Type", "text/plain")
	default:
		w.Header().Set("Content-Type", "text/html")
	}
	_, _ = w.Write([]byte(body))
}

// requests are the URLs that were requested, except robots.txt, with "A:" for an origin; each
// is there as often as it was asked for.
func (h *hosts) requests() (all []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for url, n := range h.asked {
		for i, name := range []string{"A:", "B:", "C:"} {
			url = strings.ReplaceAll(url, fmt.Sprintf("http://127.3.0.%d%s", i+1, h.port), name)
		}
		if !strings.HasSuffix(url, "/robots.txt") {
			all = append(all, slices.Repeat([]string{url}, n)...)
		}
	}
	slices.Sort(all)
	return all
}

func page(links ...string) string {
	var b bytes.Buffer
	b.WriteString("<title>t</title><p>Some text.")
	for _, l := range links {
		fmt.Fprintf(&b, "<a href=%q>link</a> ", l)
	}
	return b.String()
}

func urlset(urls ...string) string {
	return "<urlset><url><loc>" + strings.Join(urls, "</loc></url>\n<url><loc>") + "</loc></url></urlset>"
}

// crawled runs a crawl of the hosts and returns the URLs of its pages.
func crawled(t *testing.T, h *hosts, change func(*crawl.Options), seeds ...string) (pages []string) {
	t.Helper()
	o := configured(filepath.Join(t.TempDir(), "data"))
	o.Definition.Scope, o.Definition.Sitemaps = "any", topics.UseSitemaps
	if change != nil {
		change(&o)
	}
	for _, seed := range seeds {
		o.Seeds = append(o.Seeds, []byte(h.named(seed)))
	}
	run(t, o, crawl.EndedDrained)
	proven(t, o)
	for _, p := range read(t, lines(t, o)) {
		url := p.URL
		for i, name := range []string{"A:", "B:", "C:"} {
			url = strings.ReplaceAll(url, fmt.Sprintf("http://127.3.0.%d%s", i+1, h.port), name)
		}
		pages = append(pages, url)
	}
	slices.Sort(pages)
	return pages
}

func same(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s are\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Pages that sitemaps alone name are found, through an index, packed, as a list and as a feed.
// Robots rules hold for them, sitemaps make no pages, and each is asked for once.
func TestPagesThatOnlySitemapsName(t *testing.T) {
	t.Parallel()
	h := serveHosts(t, 1, map[string]string{
		"A:/robots.txt": "User-agent: *\nDisallow: /private\nSitemap: A:/index.xml\nSitemap: A:/list.txt\n",
		"A:/":           page(),
		"A:/index.xml":  "<sitemapindex><sitemap><loc>A:/a.xml.gz</loc></sitemap><sitemap><loc>A:/feed</loc></sitemap><sitemap><loc>A:/gone.xml</loc></sitemap></sitemapindex>",
		"A:/a.xml.gz":   urlset("A:/1", "A:/2", "A:/private/3", "A:/"),
		"A:/list.txt":   "A:/4\nA:/1\n",
		"A:/feed":       "<rss><channel><item><link>A:/5</link></item></channel></rss>",
		"A:/1":          page("/6"), "A:/2": page(), "A:/4": page(), "A:/5": page(), "A:/6": page(), "A:/private/3": page(),
	})
	pages := crawled(t, h, nil, "A:/")
	same(t, "pages", pages, "A:/", "A:/1", "A:/2", "A:/4", "A:/5", "A:/6")
	same(t, "requests", h.requests(), "A:/", "A:/1", "A:/2", "A:/4", "A:/5", "A:/6", "A:/index.xml", "A:/a.xml.gz", "A:/list.txt", "A:/feed", "A:/gone.xml")
}

// An origin whose robots.txt names no sitemap is asked for two, once. Origins out of scope
// are asked for none.
func TestGuessedSitemaps(t *testing.T) {
	t.Parallel()
	h := serveHosts(t, 2, map[string]string{
		"A:/": page("/1", "B:/"), "A:/1": page(), "A:/sitemap_index.xml": urlset("A:/2", "B:/2"), "A:/2": page(),
		"B:/": page(), "B:/2": page(), "B:/sitemap.xml": urlset("B:/3"),
	})
	same(t, "pages", crawled(t, h, func(o *crawl.Options) { o.Definition.Scope = "host" }, "A:/"), "A:/", "A:/1", "A:/2")
	same(t, "requests", h.requests(), "A:/", "A:/1", "A:/2", "A:/sitemap.xml", "A:/sitemap_index.xml")
}

func TestWithoutSitemaps(t *testing.T) {
	t.Parallel()
	files := map[string]string{"A:/": page("/1", "/s.xml"), "A:/1": page(), "A:/sitemap.xml": urlset("A:/2"), "A:/2": page(), "A:/s.xml": urlset("A:/3"), "A:/3": page()}
	h := serveHosts(t, 1, files)
	same(t, "pages", crawled(t, h, func(o *crawl.Options) { o.Definition.Sitemaps = topics.NoSitemaps }, "A:/"), "A:/", "A:/1", "A:/s.xml")
	same(t, "requests", h.requests(), "A:/", "A:/1", "A:/s.xml")
	h = serveHosts(t, 1, files)
	same(t, "pages of sitemaps only", crawled(t, h, func(o *crawl.Options) { o.Definition.Sitemaps = topics.OnlySitemaps }, "A:/"), "A:/", "A:/2")
	h = serveHosts(t, 1, files)
	same(t, "pages with a sitemap that a page links to", crawled(t, h, nil, "A:/"), "A:/", "A:/1", "A:/2", "A:/3", "A:/s.xml")
}

// An entry of another host counts if that host's robots.txt names the sitemap, whichever is
// known first. What a page links to comes anyway.
func TestEntriesOfOtherHosts(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"A:/robots.txt": "Sitemap: A:/s.xml\n",
		"B:/robots.txt": "Sitemap: A:/s.xml\nSitemap: B:/own.xml\n",
		"C:/robots.txt": "Sitemap: C:/own.xml\n",
		"A:/s.xml":      urlset("A:/1", "B:/1", "C:/1", "C:/2"), "B:/own.xml": urlset("B:/"), "C:/own.xml": urlset("C:/"),
		"A:/": page(), "B:/": page(), "C:/": page("C:/2"), "A:/1": page(), "B:/1": page(), "C:/1": page(), "C:/2": page(),
	}
	for _, scope := range []string{"any", "host", "domain"} {
		h := serveHosts(t, 3, files)
		pages := crawled(t, h, func(o *crawl.Options) { o.Definition.Scope = scope }, "A:/", "B:/", "C:/")
		same(t, "pages with scope "+scope, pages, "A:/", "A:/1", "B:/", "B:/1", "C:/", "C:/2")
	}
}

// What is named as a sitemap may be HTML. In scope it is a page. Elsewhere it is not, and nothing is asked
// there: names of sitemaps that nobody uses any more redirect to other sites.
func TestPagesInPlaceOfSitemaps(t *testing.T) {
	t.Parallel()
	h := serveHosts(t, 2, map[string]string{
		"A:/robots.txt": "Sitemap: A:/old.xml\nSitemap: A:/list\nSitemap: A:/index.xml\n", "A:/old.xml": "redirect B:/lander",
		"A:/list": page("/1"), "A:/index.xml": "<sitemapindex><sitemap><loc>B:/front</loc></sitemap></sitemapindex>", "A:/": page(), "A:/1": page(),
		"B:/lander": page("/2"), "B:/front": page("/2"), "B:/2": page(),
	})
	same(t, "pages", crawled(t, h, func(o *crawl.Options) { o.Definition.Scope = "host" }, "A:/"), "A:/", "A:/1", "A:/list")

	h = serveHosts(t, 1, map[string]string{ // guesses that lead to a page, and to an error page
		"A:/sitemap_index.xml": "redirect A:/en/sitemap.xml", "A:/en/sitemap.xml": page("/none"),
		"A:/sitemap.xml": "redirect A:/sitemap.html", "A:/sitemap.html": page("/1"), "A:/": page("/sitemap.html"), "A:/1": page(),
	})
	same(t, "pages", crawled(t, h, nil, "A:/"), "A:/", "A:/1", "A:/sitemap.html")
}

// Sitemaps on a host of their own serve the hosts that name them, within the scope of those.
func TestSitemapsOnAnotherHost(t *testing.T) {
	t.Parallel()
	h := serveHosts(t, 3, map[string]string{
		"A:/robots.txt": "Sitemap: C:/shared.xml\n", "B:/robots.txt": "Sitemap: C:/shared.xml\n",
		"C:/shared.xml": urlset("A:/1", "B:/1", "C:/1"), "C:/sitemap.xml": urlset("C:/1"),
		"A:/": page(), "B:/": page(), "A:/1": page(), "B:/1": page(), "C:/1": page(),
	})
	same(t, "pages", crawled(t, h, func(o *crawl.Options) { o.Definition.Scope = "host" }, "A:/", "B:/"), "A:/", "A:/1", "B:/", "B:/1")
	same(t, "requests", h.requests(), "A:/", "A:/1", "B:/", "B:/1", "C:/shared.xml")
}

// A user names a sitemap. A seed below it says how deep the crawl goes.
func TestSeededSitemap(t *testing.T) {
	t.Parallel()
	h := serveHosts(t, 1, map[string]string{"A:/map": urlset("A:/1"), "A:/1": page("/2"), "A:/2": page()})
	seed, _ := json.Marshal(map[string]any{"url": h.named("A:/map"), "sitemap": true})
	depth := func(o *crawl.Options) { o.Definition.MaxDepth = 0 }
	same(t, "pages", crawled(t, h, depth, string(seed)), "A:/1")
	same(t, "requests", h.requests(), "A:/map", "A:/1")

	// It may be a page, or redirect to one. A page that an index names is judged by the scope of the index.
	h = serveHosts(t, 2, map[string]string{
		"A:/map":  "<sitemapindex><sitemap><loc>A:/list</loc></sitemap><sitemap><loc>B:/list</loc></sitemap></sitemapindex>",
		"A:/list": page("/1"), "A:/1": page(), "B:/list": page("/1"), "B:/1": page(),
	})
	seed, _ = json.Marshal(map[string]any{"url": h.named("A:/map"), "sitemap": true})
	same(t, "pages of an index", crawled(t, h, func(o *crawl.Options) { o.Definition.Scope = "host" }, string(seed)), "A:/1", "A:/list")
}

// A seed redirects to the site under another name, and so does its robots.txt, which is how the
// sitemap of the site is known first. Its pages are in the scope of the site, not of the seed.
func TestSitemapBehindARedirect(t *testing.T) {
	t.Parallel()
	h := serveHosts(t, 2, map[string]string{
		"A:/robots.txt": "redirect B:/robots.txt", "A:/": "redirect B:/",
		"B:/robots.txt": "Sitemap: B:/s.xml\n", "B:/s.xml": urlset("B:/1"), "B:/": page(), "B:/1": page(),
	})
	same(t, "pages", crawled(t, h, func(o *crawl.Options) { o.Definition.Scope = "host" }, "A:/"), "B:/", "B:/1")
}

// A crawl that is run again after a day asks for its sitemaps again, and takes what is new there. One that
// has nothing else ahead ends at once.
func TestSitemapsAreReadAgain(t *testing.T) {
	t.Parallel()
	h := serveHosts(t, 1, map[string]string{"A:/robots.txt": "Sitemap: A:/s.xml\n", "A:/s.xml": urlset("A:/1"), "A:/1": page(), "A:/2": page()})
	o := configured(filepath.Join(t.TempDir(), "data"))
	o.Definition.Sitemaps = topics.UseSitemaps
	o.Seeds = [][]byte{[]byte(h.named("A:/1"))}
	run(t, o, crawl.EndedDrained)
	o.Seeds = nil
	run(t, o, crawl.EndedDrained)
	same(t, "requests on the first day", h.requests(), "A:/1", "A:/s.xml")
	o.Clock = func() time.Time { return time.Now().Add(25 * time.Hour) }
	run(t, o, crawl.EndedDrained)
	same(t, "requests on the second day", h.requests(), "A:/1", "A:/s.xml", "A:/s.xml")
	h.mu.Lock()
	h.files[h.named("A:/s.xml")] = h.named(urlset("A:/1", "A:/2"))
	if h.unchanged != 1 {
		t.Errorf("%d requests were answered with 304, want 1", h.unchanged)
	}
	h.mu.Unlock()
	o.Clock = func() time.Time { return time.Now().Add(50 * time.Hour) }
	run(t, o, crawl.EndedDrained)
	same(t, "requests on the third day", h.requests(), "A:/1", "A:/2", "A:/s.xml", "A:/s.xml", "A:/s.xml")
}
