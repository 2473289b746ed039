package verify_test

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/inspect/verify"
	"github.com/weftcrawl/weft/inspect/verify/accesslog"
	"github.com/weftcrawl/weft/processors/fetch"
	"github.com/weftcrawl/weft/test/webserver"
	"github.com/weftcrawl/weft/topics"
)

// TestCrawlIsProven runs a whole crawl in three runs. Two of them are interrupted. It proves
// the crawl by its topics and the web server's log. Verifying while it runs must prove it too.
func TestCrawlIsProven(t *testing.T) {
	for name, c := range map[string]struct {
		latency   time.Duration
		delayMS   int64
		perDomain int
		site      func(web webserver.Site) webserver.Site
		// exempt are the networks without budgets; nil: addresses of this machine.
		exempt []string
	}{
		"polite":                         {delayMS: 20, perDomain: 1},
		"a slow server":                  {latency: 15 * time.Millisecond, delayMS: 5, perDomain: 1},
		"several at once":                {latency: 5 * time.Millisecond, delayMS: 20, perDomain: 3},
		"robots.txt of other domains":    {delayMS: 20, perDomain: 1, site: newReferring},
		"and several at once from those": {latency: 5 * time.Millisecond, delayMS: 20, perDomain: 3, site: newReferring},
		"budgets of addresses":           {latency: 5 * time.Millisecond, delayMS: 20, perDomain: 3, exempt: []string{"203.0.113.0/24"}},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "polite" {
				t.Skip("takes 8 s")
			}
			t.Parallel()
			isProven(t, webserver.ServerOptions{Latency: c.latency}, topics.Definition{
				Crawl: "weft", Scope: "host", MaxDepth: -1, PerDomain: c.perDomain, DelayMS: c.delayMS, UserAgent: "weft/test", AllowPrivate: true,
				PerAddress: 2, AddressExempt: c.exempt,
			}, c.site)
		})
	}
}

// referring is a web of six domains whose robots.txt redirect to each other's:
// the second and third to the first's, one over the other, and the fourth and
// fifth in a circle, which ends after five redirects with all allowed.
type referring struct {
	webserver.Site
	mu      sync.Mutex
	answers map[string][]int // statuses of robots.txt, by domain
}

func newReferring(web webserver.Site) webserver.Site {
	return &referring{Site: web, answers: map[string][]int{}}
}

var referrals = map[int]int{1: 0, 2: 1, 3: 4, 4: 3}

func (r *referring) Answer(domain string, port int, path string, buf []byte) webserver.Response {
	answer := r.Site.Answer(domain, port, path, buf)
	if path != "/robots.txt" {
		return answer
	}
	if to, ok := referrals[slices.Index(r.Domains(), domain)]; ok {
		answer = webserver.Response{Status: http.StatusFound, Location: webserver.Origin(r.Domains()[to], port) + path}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers[domain] = append(r.answers[domain], answer.Status)
	return answer
}

// met tells whether robots.txt was asked for as often as the redirects want.
func (r *referring) met(t *testing.T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, least := range []int{3, 2, 1, 6, 6, 1} {
		if n := len(r.answers[r.Domains()[i]]); n < least {
			t.Errorf("robots.txt of domain %d was asked for %d times, want %d: %v", i, n, least, r.answers)
		}
	}
}

func isProven(t *testing.T, so webserver.ServerOptions, d topics.Definition, wrap func(webserver.Site) webserver.Site) {
	web, err := webserver.NewGenerated(webserver.Options{
		Pages: 150, Domains: 6, CrossLinks: 0.1, DeniedEvery: 10, ErrorEvery: 20, RedirectEvery: 20, NoRobotsEvery: 3,
		CrawlDelayEvery: 2, CrawlDelay: 50 * time.Millisecond,
		MedianBytes: 3 << 10, MeanBytes: 6 << 10, Links: 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(t.TempDir(), "access.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	so.Log = log
	var site webserver.Site = web
	if wrap != nil {
		site = wrap(web)
	}
	server, err := webserver.Serve(site, so)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	}()
	o := crawl.Options{
		Dir: t.TempDir(), Definition: d, Fetch: fetch.DefaultOptions(), Logger: slog.New(slog.DiscardHandler),
	}
	o.Fetch.Client.AllowPrivate = true
	for _, seed := range server.Seeds() {
		o.Seeds = append(o.Seeds, []byte(seed))
	}
	for _, after := range []int64{20, 90, 0} {
		runUntil(t, o, server, after)
		o.Seeds = nil
		if err := server.FlushLog(); err != nil {
			t.Fatal(err)
		}
		format, err := accesslog.Named("weft")
		if err != nil {
			t.Fatal(err)
		}
		opts := verify.DefaultOptions("weft")
		opts.Log = &verify.Log{Files: []string{log.Name()}, Format: format, Tolerance: -1}
		report := verified(t, o.Dir, opts)
		if !report.Proven {
			t.Fatalf("after %d pages:\n%s", after, text(t, report))
		}
		told := slices.ContainsFunc(report.Notes, func(note string) bool { return strings.HasSuffix(note, "requests took the budget of an address") })
		if told != (d.AddressExempt != nil) {
			t.Errorf("notes %q", report.Notes)
		}
		for _, p := range report.Proofs {
			if p.Shown == 0 || len(p.Unproven) > 0 {
				t.Errorf("%s is not shown: %+v", p.Claim, p)
			}
		}
	}
	if r, ok := site.(*referring); ok {
		r.met(t)
	}
}

// runUntil runs a crawl until so many pages are served, at least one of them by
// this run, or, with 0, to its end. While it runs it is proven once.
func runUntil(t *testing.T, o crawl.Options, server *webserver.Server, pages int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	ended := make(chan error, 1)
	begun := server.PagesServed()
	go func() {
		_, err := crawl.Run(ctx, o)
		ended <- err
	}()
	if pages > 0 {
		ticker := time.NewTicker(5 * time.Millisecond)
		defer ticker.Stop()
		for server.PagesServed() < max(pages, begun+1) && len(ended) == 0 && ctx.Err() == nil {
			<-ticker.C
		}
		report, err := prove(t, o.Dir, verify.DefaultOptions("weft"))
		if err != nil {
			// The broker went away under the proof if the crawl ended meanwhile.
			select {
			case how := <-ended:
				ended <- how
			case <-time.After(30 * time.Second):
				t.Fatal(err)
			}
		} else if !report.Proven {
			t.Errorf("while it runs:\n%s", text(t, report))
		}
		cancel()
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

// verified is the report on the crawl in a directory.
func verified(t *testing.T, dir string, opts verify.Options) *verify.Report {
	t.Helper()
	report, err := prove(t, dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func prove(t *testing.T, dir string, opts verify.Options) (*verify.Report, error) {
	access, release, err := crawl.Reach(t.Context(), dir, crawl.ToWrite, nil)
	if err != nil {
		return nil, err
	}
	defer release()
	opts.Client = access.Options()
	return verify.Run(t.Context(), opts)
}
