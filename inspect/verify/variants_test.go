package verify_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/inspect/verify"
	"github.com/weftcrawl/weft/processors/fetch"
	"github.com/weftcrawl/weft/topics"
)

// slashes is a site of a chain of pages: /N/ links to /N+1, which redirects to
// /N+1/. Of page odd it is /N that has the page, and /N/ is missing, or redirects
// there.
type slashes struct {
	pages, odd int
	missing    bool

	mu        sync.Mutex
	read      map[int]int
	redirects int
}

const none = -1

func (s *slashes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, slashed := strings.CutSuffix(r.URL.Path[1:], "/")
	n, err := strconv.Atoi(path)
	if err != nil || n > s.pages {
		http.NotFound(w, r)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case n == s.odd && slashed && s.missing:
		http.NotFound(w, r)
	case n == s.odd && slashed:
		http.Redirect(w, r, fmt.Sprintf("/%d", n), http.StatusMovedPermanently)
	case n != s.odd && !slashed:
		s.redirects++
		http.Redirect(w, r, fmt.Sprintf("/%d/", n), http.StatusMovedPermanently)
	default:
		s.read[n]++
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<p>This is page %d of %x.<a href=/%d>next</a>", n, n*n, n+1)
	}
}

// crawled is the directory of a crawl that has ended.
func crawled(t *testing.T, seed string, keepVariants bool) string {
	t.Helper()
	o := crawl.Options{
		Dir: t.TempDir(), Fetch: fetch.DefaultOptions(), Logger: slog.New(slog.DiscardHandler),
		Definition: topics.Definition{
			Crawl: "weft", Scope: "host", MaxDepth: -1, PerDomain: 1, UserAgent: "weft/test", AllowPrivate: true,
			KeepVariants: keepVariants,
		},
		Seeds: [][]byte{[]byte(seed)},
	}
	o.Fetch.Client.AllowPrivate = true
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	if _, err := crawl.Run(ctx, o); err != nil {
		t.Fatal(err)
	}
	return o.Dir
}

// A site shows that its URLs end with a slash: links to the others cost no
// request any more. Where it is not true of a page, that is found out, and the
// crawl is proven either way.
func TestSiteTeachesARule(t *testing.T) {
	for name, c := range map[string]struct {
		site         *slashes
		keepVariants bool
		most         int // redirects
	}{
		"always":               {&slashes{pages: 80, odd: none}, false, 3 + 80/8},
		"not learnt":           {&slashes{pages: 20, odd: none}, true, 20},
		"but for a page":       {&slashes{pages: 40, odd: 20, missing: true}, false, 40},
		"the other way, there": {&slashes{pages: 40, odd: 20}, false, 40},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site := c.site
			site.read = map[int]int{}
			server := httptest.NewServer(site)
			defer server.Close()
			dir := crawled(t, server.URL+"/0/", c.keepVariants)
			for n := range site.pages + 1 {
				if site.read[n] != 1 {
					t.Errorf("page %d was read %d times", n, site.read[n])
				}
			}
			if site.redirects > c.most || c.keepVariants && site.redirects != c.most {
				t.Errorf("%d redirects were followed, want %d at most", site.redirects, c.most)
			}
			if report := verified(t, dir, verify.DefaultOptions("weft")); !report.Proven {
				t.Errorf("%s", text(t, report))
			}
		})
	}
}

// Three URLs of a site redirect to those with a slash; others have pages with it and
// without, and all of them are read.
func TestPagesAreAgainstARule(t *testing.T) {
	t.Parallel()
	names := map[string]string{"/": "<a href=/a><a href=/b><a href=/c><a href=/more>", "/more": "<a href=/hub>"}
	for i := range 20 {
		names["/hub"] += fmt.Sprintf("<a href=/%d><a href=/%d/>", i, i)
	}
	var mu sync.Mutex
	read := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path := r.URL.Path; path == "/a" || path == "/b" || path == "/c" {
			http.Redirect(w, r, path+"/", http.StatusMovedPermanently)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		read[r.URL.Path]++
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<p>", strings.Repeat("The words of "+r.URL.Path+". ", 8), names[r.URL.Path])
	}))
	defer server.Close()
	dir := crawled(t, server.URL+"/", false)
	for i := range 20 {
		for _, path := range []string{fmt.Sprintf("/%d", i), fmt.Sprintf("/%d/", i)} {
			if read[path] != 1 {
				t.Errorf("%s was read %d times", path, read[path])
			}
		}
	}
	if report := verified(t, dir, verify.DefaultOptions("weft")); !report.Proven {
		t.Errorf("%s", text(t, report))
	}
}
