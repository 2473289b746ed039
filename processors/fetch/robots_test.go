package fetch

import (
	"context"
	"encoding/binary"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/politeness"
	"github.com/weftcrawl/weft/internal/robots"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/processors/fetch/addresses"
	"github.com/weftcrawl/weft/processors/fetch/hostqueue"
	"github.com/weftcrawl/weft/processors/fetch/httpclient"
)

// A name that does not exist is the name of the origin only if no redirect led there; then no
// server was asked, and no delay runs.
func TestRobotsOutcomeOfNoSuchName(t *testing.T) {
	own := &weftpb.Target{Url: "http://a.example/robots.txt"}
	for redirects, redirected := range []bool{false, true} {
		found := RobotsOutcomeOf(own, redirects, &httpclient.Exchange{Class: httpclient.ClassDNSNotFound}, "weft")
		if found.Rules.GetRedirected() != redirected || found.Answer.Unreached == redirected || found.Answer.Stop {
			t.Errorf("after %d redirects: %v, %+v", redirects, found.Rules, found.Answer)
		}
	}
}

func TestRobotsOutcomeOf(t *testing.T) {
	const (
		rules = weftpb.Robots_ACCESS_RULES
		allow = weftpb.Robots_ACCESS_ALLOW_ALL
		deny  = weftpb.Robots_ACCESS_DISALLOW_ALL
	)
	own := &weftpb.Target{Url: "http://a.example/robots.txt"}
	for _, test := range []struct {
		name      string
		redirects int
		last      httpclient.Exchange
		access    weftpb.Robots_Access
		text      string
		ttl       time.Duration
	}{
		{name: "rules", last: httpclient.Exchange{Status: 200, Body: []byte("User-agent: *\nDisallow: /x")},
			access: rules, text: "-/x\n", ttl: robots.TTL},
		{name: "a page", last: httpclient.Exchange{Status: 200, Headers: []httpclient.Header{{Name: "Content-Type", Value: "text/html"}}, Body: []byte("<html>\n</html>")},
			access: rules, ttl: robots.TTL},
		{name: "empty", last: httpclient.Exchange{Status: 200}, access: rules, ttl: robots.TTL},
		{name: "cut within a line", last: httpclient.Exchange{Status: 200, Body: []byte("User-agent: *\nDisallow: /x\nDisallow: /"), Truncated: true},
			access: rules, text: "-/x\n", ttl: robots.TTL},
		{name: "cut within a line of UTF-16", last: httpclient.Exchange{Status: 200, Body: utf16("\ufeffUser-agent: *\nDisallow: /x\nDisallow: /\u010a"), Truncated: true},
			access: rules, text: "-/x\n", ttl: robots.TTL},
		{name: "cut in its only line", last: httpclient.Exchange{Status: 200, Body: []byte("User-agent: *"), Truncated: true}, access: rules, ttl: robots.TTL},
		{name: "cached", last: httpclient.Exchange{Status: 404, Headers: []httpclient.Header{{Name: "cache-control", Value: "max-age=7200"}}},
			access: allow, ttl: 2 * time.Hour},
		{name: "cached, by the second of two lines", last: httpclient.Exchange{Status: 404, Headers: []httpclient.Header{{Name: "Cache-Control", Value: "public"}, {Name: "cache-control", Value: "max-age=7200"}}},
			access: allow, ttl: 2 * time.Hour},
		{name: "forbidden", last: httpclient.Exchange{Status: 403}, access: allow, ttl: robots.TTL},
		{name: "busy", last: httpclient.Exchange{Status: 429}, access: deny},
		{name: "broken", last: httpclient.Exchange{Status: 503, Headers: []httpclient.Header{{Name: "Cache-Control", Value: "max-age=7200"}}}, access: deny},
		{name: "no answer", last: httpclient.Exchange{Class: httpclient.ClassReset}, access: deny},
		{name: "half an answer", last: httpclient.Exchange{Status: 200, Class: httpclient.ClassBodyTruncated}, access: deny},
		{name: "an error page in no coding", last: httpclient.Exchange{Status: 404, Class: httpclient.ClassBadEncoding}, access: allow, ttl: robots.TTL},
		{name: "half an error page", last: httpclient.Exchange{Status: 403, Class: httpclient.ClassBodyTruncated}, access: allow, ttl: robots.TTL},
		{name: "an error page that stalls", last: httpclient.Exchange{Status: 410, Class: httpclient.ClassSlowBody}, access: allow, ttl: robots.TTL},
		{name: "busy, half of it", last: httpclient.Exchange{Status: 429, Class: httpclient.ClassBodyTruncated}, access: deny},
		{name: "broken, in no coding", last: httpclient.Exchange{Status: 503, Class: httpclient.ClassBadEncoding}, access: deny},
		{name: "not in the archive", last: httpclient.Exchange{Class: httpclient.ClassNotArchived}, access: allow, ttl: robots.TTL},
		{name: "only failures are in the archive", last: httpclient.Exchange{Status: 200, Class: httpclient.ClassArchivedFailure}, access: allow, ttl: robots.TTL},
		{name: "a redirect without a target", last: httpclient.Exchange{Status: 301}, access: allow, ttl: robots.TTL},
		{name: "a redirect to no URL", last: httpclient.Exchange{Status: 301, Location: "mailto:a@b.example"}, access: allow, ttl: robots.TTL},
		{name: "the sixth redirect", redirects: 5, last: httpclient.Exchange{Status: 301, Location: "http://a.example/6"}, access: allow, ttl: robots.TTL},
		{name: "the sixth redirect, elsewhere", redirects: 5, last: httpclient.Exchange{Status: 301, Location: "http://b.example/6"}, access: allow, ttl: robots.TTL},
	} {
		t.Run(test.name, func(t *testing.T) {
			found := RobotsOutcomeOf(own, test.redirects, &test.last, "weft")
			if found.Elsewhere != nil || found.Rules.GetOrigin() != "http://a.example" || found.Rules.GetReferred() {
				t.Fatalf("found %v, elsewhere %v", found.Rules, found.Elsewhere)
			}
			r := found.Rules.Robots
			if r.Access != test.access || r.Rules != test.text || r.TtlMs != test.ttl.Milliseconds() || test.last.Status >= 400 && int(r.Status) != test.last.Status {
				t.Errorf("%v, want %v for %v with %q", r, test.access, test.ttl, test.text)
			}
		})
	}
}

// A replay asks no server, so that it has no delay to keep, whoever asked for the robots.txt.
func TestReplayHasNoCrawlDelay(t *testing.T) {
	slow := &httpclient.Exchange{Status: 200, Body: []byte("User-agent: *\nCrawl-delay: 9\nDisallow: /x")}
	for name, asked := range map[string]*weftpb.Target{
		"its own domain": {Url: "http://a.example/robots.txt"},
		"another domain": {Url: "http://b.example/robots.txt", ScopeRoot: "http://a.example", Via: weftpb.Via_VIA_ROBOTS, Depth: 1},
	} {
		found := RobotsOutcomeOf(asked, 0, slow, "weft")
		rules := found.Rules
		if rules == nil {
			rules = found.Elsewhere.GetRules()
		}
		if rules.GetRobots().GetCrawlDelayMs() != 9000 {
			t.Errorf("%s: a delay of %d ms", name, rules.GetRobots().GetCrawlDelayMs())
		}
		if found = found.withoutDelay(); found.Answer.Rest != 0 || rules.Robots.CrawlDelayMs != 0 || rules.Robots.Rules != "-/x\n" {
			t.Errorf("%s: %+v, %v", name, found.Answer, rules)
		}
	}
}

// utf16 writes a text in UTF-16, little-endian.
func utf16(text string) (b []byte) {
	for _, r := range text {
		b = binary.LittleEndian.AppendUint16(b, uint16(r))
	}
	return b
}

// TestRobotsElsewhere follows a robots.txt through three domains: what each
// reports, and what it writes for another.
func TestRobotsElsewhere(t *testing.T) {
	to := func(url string) *httpclient.Exchange { return &httpclient.Exchange{Status: 301, Location: url} }
	first := RobotsOutcomeOf(&weftpb.Target{Url: "http://a.example/robots.txt"}, 1, to("HTTP://www.B.example/r#x"), "weft")
	wantTarget(t, first, "b.example", &weftpb.Target{
		Url: "http://www.b.example/r", Depth: 2, Via: weftpb.Via_VIA_ROBOTS, ScopeRoot: "http://a.example",
	})
	if r := first.Rules; r.GetOrigin() != "http://a.example" || !r.GetReferred() || r.Robots.GetStatus() != 301 || r.Robots.GetAccess() != weftpb.Robots_ACCESS_DISALLOW_ALL {
		t.Errorf("the first reports %v", r)
	}

	second := RobotsOutcomeOf(first.Elsewhere.Referral, 0, to("https://c.example:8443/robots.txt"), "weft")
	wantTarget(t, second, "c.example", &weftpb.Target{
		Url: "https://c.example:8443/robots.txt", Depth: 3, Via: weftpb.Via_VIA_ROBOTS, ScopeRoot: "http://a.example",
	})
	if !first.Answer.Referred || second.Answer.Referred {
		t.Errorf("%v and %v: only the first one's own robots.txt is in another domain", first.Answer, second.Answer)
	}
	if second.Rules != nil {
		t.Errorf("the second learns %v of no origin", second.Rules)
	}

	last := &httpclient.Exchange{Status: 200, Body: []byte("User-agent: weft\nDisallow: /x\nCrawl-delay: 9")}
	third := RobotsOutcomeOf(second.Elsewhere.Referral, 2, last, "weft")
	answer := third.Elsewhere.GetRules()
	if third.Domain != "a.example" || third.Rules != nil || answer.GetOrigin() != "http://a.example" || answer.Robots.GetCrawlDelayMs() != 9000 ||
		answer.Robots.GetRules() != "-/x\n" || len(third.Elsewhere.Outcomes) != 1 || third.Elsewhere.Visit != "" {
		t.Errorf("the answer to %s is %v", third.Domain, third.Elsewhere)
	}
	if third.Answer.Rest != 0 {
		t.Errorf("the third waits for the first one's Crawl-delay: %v", third.Answer)
	}

	for name, x := range map[string]*httpclient.Exchange{
		"a sixth redirect":   to("https://d.example/"),
		"one back and forth": to("https://c.example/"),
		"no answer":          {Class: httpclient.ClassConnectRefused},
	} {
		redirects := 2
		if name == "a sixth redirect" || name == "one back and forth" {
			redirects = httpclient.MaxRobotsRedirects - 3
		}
		found := RobotsOutcomeOf(second.Elsewhere.Referral, redirects, x, "weft")
		want := weftpb.Robots_ACCESS_ALLOW_ALL
		if x.Class != httpclient.ClassNone {
			want = weftpb.Robots_ACCESS_DISALLOW_ALL
		}
		if found.Domain != "a.example" || found.Elsewhere.GetRules().GetRobots().GetAccess() != want {
			t.Errorf("%s: %v", name, found.Elsewhere)
		}
	}
}

// slowChain answers each request for a robots.txt after some time, with a
// redirect within the domain.
type slowChain struct {
	known
	took time.Duration
}

func (c slowChain) Robots(_ context.Context, r httpclient.Request, hop httpclient.Hop) []*httpclient.Exchange {
	var list []*httpclient.Exchange
	for {
		time.Sleep(c.took)
		list = append(list, &httpclient.Exchange{URL: r.URL, Status: 301, Location: "http://a.example/next"})
		if _, follow := hop("http://a.example/next"); !follow {
			return list
		}
	}
}

// A visit for a robots.txt ends within its lease, whatever the server and its delay. A
// referral follows the rest of its redirects.
func TestSlowRedirectsOfRobots(t *testing.T) {
	own := &weftpb.Target{Url: "http://a.example/robots.txt"}
	for name, c := range map[string]struct {
		took, delay time.Duration
		exchanges   int
	}{
		"quick":           {took: time.Second, delay: time.Second, exchanges: httpclient.MaxRobotsRedirects + 1},
		"slow":            {took: 60 * time.Second, delay: 10 * time.Second, exchanges: 1},
		"rather slow":     {took: 12 * time.Second, delay: time.Second, exchanges: 3},
		"with long waits": {took: time.Second, delay: 300 * time.Second, exchanges: 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				q := &requester{http: slowChain{took: c.took}}
				v := &hostqueue.Visit{Visit: &weftpb.Visit{DelayMs: uint32(c.delay.Milliseconds())}, Domain: "a.example"}
				hops := q.robotsHops(flight{ctx: t.Context(), within: t.Context(), visit: v}, own)
				if len(hops) != c.exchanges {
					t.Errorf("%d exchanges, want %d", len(hops), c.exchanges)
				}
				if took := time.Since(began); took > politeness.Lease(1, c.delay) {
					t.Errorf("they took %v, longer than the lease", took)
				}
				found := RobotsOutcomeOf(own, len(hops)-1, hops[len(hops)-1], "weft")
				if c.exchanges > httpclient.MaxRobotsRedirects {
					if found.Elsewhere != nil {
						t.Errorf("it is referred after all redirects: %v", found.Elsewhere)
					}
					return
				}
				wantTarget(t, found, "a.example", &weftpb.Target{
					Url: "http://a.example/next", Depth: uint32(c.exchanges), Via: weftpb.Via_VIA_ROBOTS, ScopeRoot: "http://a.example",
				})
			})
		})
	}
}

// elsewhereTo is a robots.txt at one address that redirects to next. A path with www is at another
// address. Each exchange takes two seconds; begun has when they began.
type elsewhereTo struct {
	known
	next  string
	began time.Time
	begun *[]time.Duration
}

var (
	firstAddress  = netip.MustParseAddr("192.0.2.1")
	secondAddress = netip.MustParseAddr("192.0.2.2")
)

func (elsewhereTo) LookUp(_ context.Context, url string) (netip.Addr, *httpclient.Exchange) {
	if strings.Contains(url, "www") {
		return secondAddress, nil
	}
	return firstAddress, nil
}

func (r elsewhereTo) Robots(_ context.Context, q httpclient.Request, hop httpclient.Hop) []*httpclient.Exchange {
	exchange := func(x httpclient.Exchange) *httpclient.Exchange {
		*r.begun = append(*r.begun, time.Since(r.began))
		time.Sleep(2 * time.Second)
		return &x
	}
	list := []*httpclient.Exchange{exchange(httpclient.Exchange{URL: q.URL, Status: 301, Location: r.next})}
	if _, follow := hop(r.next); follow {
		list = append(list, exchange(httpclient.Exchange{URL: r.next, Status: 404}))
	}
	return list
}

// A redirect of a robots.txt is charged to the address that it leads to, and the address that
// it came from is free meanwhile. Where the line is too long, another visit follows it.
func TestRedirectOfRobotsIsChargedToItsAddress(t *testing.T) {
	for name, c := range map[string]struct {
		held  time.Duration // the second address has another request for so long
		begun []time.Duration
		waits []time.Duration // of a request to the first, and one to the second address, after 4.5 s; -1: for ever
	}{
		"free":    {0, []time.Duration{0, 2 * time.Second}, []time.Duration{0, 0}},
		"held":    {5 * time.Second, []time.Duration{0, 5 * time.Second}, []time.Duration{0, 2500 * time.Millisecond}},
		"crowded": {time.Minute, []time.Duration{0}, []time.Duration{0, -1}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := addresses.DefaultOptions()
				o.Delay, o.AtOnce = 2*time.Second, 1
				r := elsewhereTo{next: "http://a.example/www/robots.txt", began: time.Now(), begun: new([]time.Duration)}
				q := &requester{
					http: r, addresses: addresses.New(o, func() (mine, all int) { return 1, 1 }), reporter: new(reporter),
					backlog: newBackpressure(nil, stage.Env{}, Options{BacklogBytes: 1}),
				}
				if c.held > 0 {
					leave, _ := q.addresses.Enter(t.Context(), secondAddress)
					time.AfterFunc(c.held, leave)
				}
				for range 3 { // others that wait, so that the line is long
					if c.held == time.Minute {
						time.AfterFunc(1900*time.Millisecond, func() {
							if leave, _ := q.addresses.Enter(t.Context(), secondAddress); leave != nil {
								leave()
							}
						})
					}
				}
				own := &weftpb.Target{Url: "http://a.example/robots.txt"}
				v := &hostqueue.Visit{Visit: &weftpb.Visit{Id: "v", Robots: true, Requests: []*weftpb.Request{{Target: own}}}, Domain: "a.example"}
				q.LookUp(t.Context(), v, 0)
				leave, _ := q.Enter(t.Context(), v, 0)
				done := make(chan []*httpclient.Exchange)
				go func() {
					hops := q.robotsHops(flight{ctx: t.Context(), within: t.Context(), visit: v}, own)
					leave()
					done <- hops
				}()
				time.Sleep(4500 * time.Millisecond)
				for i, address := range []netip.Addr{firstAddress, secondAddress} {
					asked := time.Now()
					out, crowded := q.addresses.Enter(t.Context(), address)
					if took := time.Since(asked); out == nil && c.waits[i] >= 0 || out != nil && took != c.waits[i] {
						t.Errorf("a request to address %d waits %v, or longer than %v", i+1, took, crowded)
					}
					if out != nil {
						out()
					}
				}
				if hops := <-done; len(hops) != len(c.begun) || !slices.Equal(*r.begun, c.begun) {
					t.Errorf("%d exchanges, begun after %v, want %v", len(hops), *r.begun, c.begun)
				}
			})
		})
	}
}

// Another host of the domain may have a Crawl-delay, or a request that hangs. So another visit follows
// a redirect to it.
func TestRedirectOfRobotsToAnotherHost(t *testing.T) {
	for next, exchanges := range map[string]int{
		"http://a.example/next": 2, "https://a.example/robots.txt": 2, "http://www.a.example/robots.txt": 1, "http://b.example/robots.txt": 1,
	} {
		synctest.Test(t, func(t *testing.T) {
			r := elsewhereTo{next: next, began: time.Now(), begun: new([]time.Duration)}
			q := &requester{
				http: r, addresses: addresses.New(addresses.DefaultOptions(), func() (mine, all int) { return 1, 1 }), reporter: new(reporter),
				backlog: newBackpressure(nil, stage.Env{}, Options{BacklogBytes: 1}),
			}
			own := &weftpb.Target{Url: "http://a.example/robots.txt"}
			v := &hostqueue.Visit{Visit: &weftpb.Visit{Id: "v", Robots: true, Requests: []*weftpb.Request{{Target: own}}}, Domain: "a.example"}
			q.LookUp(t.Context(), v, 0)
			leave, _ := q.Enter(t.Context(), v, 0)
			defer leave()
			if hops := q.robotsHops(flight{ctx: t.Context(), within: t.Context(), visit: v}, own); len(hops) != exchanges {
				t.Errorf("%s: %d exchanges, want %d", next, len(hops), exchanges)
			}
		})
	}
}

func wantTarget(t *testing.T, found RobotsOutcome, domain string, want *weftpb.Target) {
	t.Helper()
	if got := found.Elsewhere.GetReferral(); found.Domain != domain || !proto.Equal(got, want) {
		t.Errorf("it refers to %v of %s, want %v of %s", got, found.Domain, want, domain)
	}
}
