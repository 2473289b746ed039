package crawl_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/test/webserver"
)

const (
	silentHost  = "h.example" // its name does not exist
	livingHost  = "www." + silentHost
	livingPages = 60
)

// moved is a site with "www.". All its pages name pages of the host without "www." as canonical.
type moved struct {
	mu    sync.Mutex
	asked map[string]bool
}

func (*moved) Domains() []string { return []string{livingHost} }

func (s *moved) Answer(host string, port int, path string, _ []byte) webserver.Response {
	if path == "/robots.txt" {
		return webserver.Response{Status: 404}
	}
	s.mu.Lock()
	s.asked[path] = true
	s.mu.Unlock()
	body := fmt.Sprintf("<link rel=canonical href=%s%s>", webserver.Origin(strings.TrimPrefix(host, "www."), port), path)
	var page int
	if path == "/" || scans(path, "/page-%d.html", &page) {
		// Each page of a list names the next ones: most are found when the rule is known.
		for i := page*4 + 1; i <= page*4+4 && i < livingPages; i++ {
			body += fmt.Sprintf("<a href=/page-%d.html>page</a>", i)
		}
	}
	return webserver.Response{Status: 200, Type: "text/html", Body: []byte(body + "<p>" + words(path))}
}

// living resolves the names of sites that are there.
type living map[string]bool

func (l living) LookupNetIP(_ context.Context, _, name string) ([]netip.Addr, error) {
	if name = strings.TrimSuffix(name, "."); !l[name] {
		return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	}
	return []netip.Addr{netip.MustParseAddr(webserver.DomainAddr(0))}, nil
}

// A site whose canonical URLs name a host that does not exist is read whole; one whose
// host answers with the same pages is read once.
func TestCanonicalURLsOfASilentHost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		alive living
		// twice is how many pages may be asked for at both hosts.
		twice int
	}{
		{"silent", living{livingHost: true}, 0},
		{"living", living{livingHost: true, silentHost: true}, 40},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			site := &moved{asked: map[string]bool{}}
			server := serveSite(t, site)
			o := configured(t.TempDir())
			o.Definition.Scope = "domain"
			o.Fetch.Client.Resolver = c.alive
			o.Seeds = [][]byte{[]byte(server.Seeds()[0])}
			run(t, o, crawl.EndedDrained)
			if len(site.asked) != livingPages {
				t.Errorf("%d of %d pages were asked for", len(site.asked), livingPages)
			}
			if twice := int(server.PagesServed()) - len(site.asked); twice > c.twice {
				t.Errorf("%d pages were asked for twice", twice)
			}
			proven(t, o)
		})
	}
}

// both is a site whose root names every page at the host with "www." and at the host without it.
type both struct {
	moved
	bareFirst bool
}

func (s *both) Answer(host string, port int, path string, buf []byte) webserver.Response {
	if path != "/" {
		return s.moved.Answer(host, port, path, buf)
	}
	first, second := webserver.Origin(livingHost, port), webserver.Origin(silentHost, port)
	if s.bareFirst {
		first, second = second, first
	}
	var body strings.Builder
	for i := range twinPages {
		fmt.Fprintf(&body, "<a href=%s/both-%d.html>page</a><a href=%s/both-%d.html>page</a>", first, i, second, i)
	}
	return webserver.Response{Status: 200, Type: "text/html", Body: []byte(body.String())}
}

// Where the host that pages name as canonical is read, and where it is named first and
// is not, each page is read, and few at both hosts.
func TestPagesNamedAtBothHosts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		bareFirst bool
		alive     living
	}{
		{"www first", false, living{livingHost: true, silentHost: true}},
		{"canonical first", true, living{livingHost: true, silentHost: true}},
		{"canonical is silent", false, living{livingHost: true}},
		{"canonical first, and silent", true, living{livingHost: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			site := &both{moved: moved{asked: map[string]bool{}}, bareFirst: c.bareFirst}
			server := serveSite(t, site)
			o := configured(t.TempDir())
			o.Definition.Scope = "domain"
			o.Fetch.Client.Resolver = c.alive
			o.Seeds = [][]byte{[]byte(server.Seeds()[0])}
			run(t, o, crawl.EndedDrained)
			if len(site.asked) != twinPages {
				t.Errorf("%d of %d pages were asked for", len(site.asked), twinPages)
			}
			// The root is not counted among pages, and may be asked for at both, too.
			if twice := int(server.PagesServed()) - 1 - twinPages; twice > 40 {
				t.Errorf("%d pages were asked for at both hosts", twice)
			}
			proven(t, o)
		})
	}
}
