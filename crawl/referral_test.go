package crawl_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/test/webserver"
)

// bouncing are two sites. Each host of the hostile one has a robots.txt that
// redirects to a URL of the honest one, where an open redirector sends it back,
// for ever.
type bouncing struct{}

const (
	hostileSite  = "hostile.localhost"
	honestSite   = "honest.localhost"
	hostileHosts = 8
	honestPages  = 20
)

func (bouncing) Domains() []string {
	domains := []string{honestSite}
	for n := range hostileHosts {
		domains = append(domains, hostileHost(n))
	}
	return domains
}

func hostileHost(n int) string { return fmt.Sprintf("h%d.%s", n, hostileSite) }

func (bouncing) Answer(domain string, port int, path string, buf []byte) webserver.Response {
	bounced, isBounce := strings.CutPrefix(path, "/bounce/")
	host, hop, _ := strings.Cut(bounced, "/")
	next, _ := strconv.Atoi(hop)
	switch {
	case isBounce && domain == honestSite:
		return webserver.Response{Status: http.StatusFound, Location: webserver.Origin(host, port) + fmt.Sprintf("/bounce/%s/%d", host, next+1)}
	case domain != honestSite && (isBounce || path == "/robots.txt"):
		return webserver.Response{Status: http.StatusFound, Location: webserver.Origin(honestSite, port) + fmt.Sprintf("/bounce/%s/%d", domain, next+1)}
	case path == "/robots.txt":
		return webserver.Response{Status: http.StatusNotFound}
	case domain == honestSite:
		for n := range honestPages {
			buf = fmt.Appendf(buf, "<p>page <a href=/%d>%d</a>", n, n)
		}
	}
	return webserver.Response{Status: http.StatusOK, Type: "text/html", Body: fmt.Append(buf, path)}
}

// TestReferralsAreFewAndPolite checks that a site that redirects its robots.txt to another site
// cannot cause too many or too fast requests there: what the server sees is three of five
// redirects an origin, at the honest site's own pace, and all of that site's pages.
func TestReferralsAreFewAndPolite(t *testing.T) {
	t.Parallel()
	const delay = 40 * time.Millisecond
	server := serveSite(t, bouncing{})
	o := configured(t.TempDir())
	o.Definition.DelayMS = delay.Milliseconds()
	for _, seed := range server.Seeds() {
		o.Seeds = append(o.Seeds, []byte(seed))
	}
	run(t, o, crawl.EndedDrained)

	log := server.Entries()
	bounces, pages := map[string]int{}, map[string]int{}
	for i, e := range log {
		switch {
		case e.Domain != honestSite:
			log[i].Domain = hostileSite // delays are a domain's
		case strings.HasPrefix(e.Path, "/bounce/"):
			host, _, _ := strings.Cut(strings.TrimPrefix(e.Path, "/bounce/"), "/")
			bounces[host]++
		case e.Status == http.StatusOK:
			pages[e.Path]++
		}
	}
	for n := range hostileHosts {
		if asked := bounces[hostileHost(n)]; asked != 3 {
			t.Errorf("the honest site was asked %d times for %s, want 3 of 5 redirects", asked, hostileHost(n))
		}
	}
	if len(pages) != honestPages+1 {
		t.Errorf("%d pages of the honest site were asked for, want %d: %v", len(pages), honestPages+1, pages)
	}
	report := webserver.Audit(log, webserver.Expect{Delay: func(string) time.Duration { return delay }})
	if report.Short > 0 || report.Overlaps > 0 || report.Intervals == 0 {
		t.Errorf("the server's log:\n%v", report)
	}
	proven(t, o)
}
