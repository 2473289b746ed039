package crawl_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/test/webserver"
)

const twinPages = 240

// twins is a site whose root names all pages with a slash and without, so that both
// are queued before anything is learnt.
type twins struct {
	// differ: each of both has a text of its own, and a link of its own.
	differ bool

	mu    sync.Mutex
	asked map[string]int // by path
	want  int            // a crawler is killed at this request
	at    chan struct{}
	total int
}

func newTwins(differ bool) *twins {
	return &twins{differ: differ, asked: map[string]int{}, at: make(chan struct{})}
}

func (s *twins) Domains() []string { return []string{webserver.DomainAddr(0)} }

func (s *twins) Answer(_ string, _ int, path string, _ []byte) webserver.Response {
	s.mu.Lock()
	s.asked[path]++
	if s.total++; s.total == s.want {
		close(s.at)
	}
	s.mu.Unlock()
	var i int
	bare := strings.TrimSuffix(path, "/")
	text := bare
	body := "<a href=/>Home</a>"
	switch {
	case path == "/":
		for i := range twinPages {
			body += fmt.Sprintf("<li><a href=/page-%d>page</a><li><a href=/page-%d/>page</a>", i, i)
		}
	case scans(bare, "/page-%d", &i):
		if s.differ {
			text = path
			body += fmt.Sprintf("<a href=%s-only.html>part</a>", path)
		}
	case strings.HasSuffix(path, "-only.html"):
	default:
		return webserver.Response{Status: 404}
	}
	return webserver.Response{Status: 200, Type: "text/html", Body: []byte(body + "<p>" + words(text))}
}

// counted tells how many pages were asked for at one of their URLs at least, and at
// both.
func (s *twins) counted() (pages, both int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range twinPages {
		path := fmt.Sprintf("/page-%d", i)
		switch {
		case s.asked[path] > 0 && s.asked[path+"/"] > 0:
			both++
			fallthrough
		case s.asked[path]+s.asked[path+"/"] > 0:
			pages++
		}
	}
	return pages, both
}

// If two URLs of a page are both queued before it is known that they are the same, only one is
// fetched, except for the URLs from which that is learnt.
func TestTwinsAreFetchedOnce(t *testing.T) {
	t.Parallel()
	site := newTwins(false)
	server := serveSite(t, site)
	o := configured(t.TempDir())
	o.Definition.Crawl = "weft"
	o.Seeds = [][]byte{[]byte(server.Seeds()[0])}
	result := run(t, o, crawl.EndedDrained)
	pages, both := site.counted()
	if pages != twinPages || both > 40 {
		t.Errorf("%d of %d pages were asked for, %d at both URLs", pages, twinPages, both)
	}
	if n := result.Outcomes["withdrawn"]; n != int64(twinPages-both) {
		t.Errorf("%d URLs are withdrawn, and %d pages were asked for at one URL", n, twinPages-both)
	}
	proven(t, o)
}

// Where the pages differ, both are read.
func TestTwinsThatDifferAreReadWhole(t *testing.T) {
	t.Parallel()
	site := newTwins(true)
	server := serveSite(t, site)
	o := configured(t.TempDir())
	o.Definition.Crawl = "weft"
	o.Seeds = [][]byte{[]byte(server.Seeds()[0])}
	run(t, o, crawl.EndedDrained)
	for i := range twinPages {
		for _, path := range []string{fmt.Sprintf("/page-%d", i), fmt.Sprintf("/page-%d/", i)} {
			if site.asked[path] == 0 || site.asked[path+"-only.html"] == 0 {
				t.Fatalf("%s was asked for %d times, and what only it names %d times", path, site.asked[path], site.asked[path+"-only.html"])
			}
		}
	}
	proven(t, o)
}

// A crawler that is killed knows afterwards what waits and what is withdrawn.
func TestTwinsOfAKilledCrawl(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]int{"while it learns": 20, "when it has learnt": 150} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site := newTwins(false)
			site.want = at
			server := serveSite(t, site)
			p := process{Dir: t.TempDir(), Seeds: server.Seeds()[:1]}
			c := p.start(t)
			select {
			case <-site.at:
			case <-time.After(patience):
				t.Fatal("the crawler never came so far")
			}
			c.kill()
			p.Seeds = nil
			p.drains(t)
			if pages, both := site.counted(); pages != twinPages || both > 40 {
				t.Errorf("%d of %d pages were asked for, %d at both URLs", pages, twinPages, both)
			}
			proven(t, configured(p.Dir))
		})
	}
}
