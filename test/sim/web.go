package sim

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/fetch"
	"github.com/weftcrawl/weft/processors/fetch/hostqueue"
	"github.com/weftcrawl/weft/processors/fetch/httpclient"
)

// web is a few sites, made from a seed, and their access log in true time.
type web struct {
	w        *world
	sites    []*site
	pages    map[string]*page // by URL
	hosts    map[string]*origin
	log      []*access
	byDomain map[string][]*access // the log
	seeds    []string

	addresses map[string]netip.Addr // of hosts
	byAddress map[netip.Addr][]*access
	throttles map[string]*throttle // by host
	silences  map[string]*silence  // by host
	outages   []*outage
	tries     map[*origin][]time.Duration // requests in outages
	lost      map[*site]int               // pages that outages cost
}

// site is a registrable domain with one or two origins.
type site struct {
	domain   string
	origins  []*origin
	down     bool // it never answers
	healthy  bool // nothing of it fails for good
	troubled bool // it does not answer for a while
	spelling spelling
}

// origin has a robots.txt, for which it may answer with errors a few times.
type origin struct {
	site         *site
	name         string // http://host
	failures     int    // so many requests for robots.txt fail
	status       int    // of robots.txt
	disallow     bool   // of /private
	crawlDelay   time.Duration
	robotsServed bool // its robots.txt was served
	noSuchName   bool // its host name does not exist
	down         bool // it never answers
	dnsMisses    int  // so many look-ups do not find its host name
	// robotsRedirect is where its robots.txt redirects to, as a rule an origin of
	// another site; nil: nowhere.
	robotsRedirect *origin
}

// rulesOrigin is the origin whose robots.txt holds for o, nil when robots.txt
// redirects too often.
func (o *origin) rulesOrigin() *origin {
	for range httpclient.MaxRobotsRedirects {
		if o.robotsRedirect == nil {
			return o
		}
		o = o.robotsRedirect
	}
	if o.robotsRedirect != nil {
		return nil
	}
	return o
}

// page is what a URL answers with, after it has failed a few times.
type page struct {
	origin     *origin
	url        string
	status     int
	location   string
	canonical  string // that the page names; empty: none
	links      []string
	failures   int
	failing    httpclient.Class // how it fails; empty: with 503
	retryAfter time.Duration
	depth      int // least number of links from a seed, -1: no links lead here
	// variant is the page at the other URL, see web.addVariants; nil: there is none.
	variant *page
}

// access is a line of the log. end is -1 while the request is open.
type access struct {
	instance   *instance
	fetcher    *fetcher
	domain     string
	origin     *origin
	url        string
	robots     bool
	start, end time.Duration
	hungAt     time.Duration // when the domain went on without it; 0: it did not
	retryAfter time.Duration
}

const product = "weftsim"

func newWeb(w *world, c Case) *web {
	source := func(n uint64) *rand.Rand { return rand.New(rand.NewPCG(c.Seed, n)) }
	rng, variants := source(1), source(6)
	b := &web{w: w, pages: map[string]*page{}, hosts: map[string]*origin{}, byDomain: map[string][]*access{}}
	b.addresses, b.byAddress = map[string]netip.Addr{}, map[netip.Addr][]*access{}
	b.silences = map[string]*silence{}
	b.throttles, b.tries = map[string]*throttle{}, map[*origin][]time.Duration{}
	b.lost = map[*site]int{}
	for i := range c.Sites {
		b.sites = append(b.sites, b.newSite(rng, fmt.Sprintf("site%d.com", i)))
	}
	b.redirectRobots(rng)
	if c.Variants {
		for _, s := range b.sites {
			s.spelling = spelling(variants.IntN(int(spellings)))
		}
	}
	var all []string
	for _, s := range b.sites {
		for i := range c.Pages {
			o := s.origins[rng.IntN(len(s.origins))]
			path := fmt.Sprintf("/p%d", i)
			if rng.IntN(8) == 0 {
				path = "/private" + path
			}
			if s.spelling == indexFile {
				path += "/"
			}
			p := newPage(rng, o, o.name+path)
			b.pages[p.url] = p
			all = append(all, p.url)
			if p.status >= 500 {
				s.healthy = false
			}
		}
	}
	for _, url := range all {
		p := b.pages[url]
		if p.status == 302 {
			p.location = all[rng.IntN(len(all))]
			continue
		}
		for range 1 + rng.IntN(5) {
			p.links = append(p.links, all[rng.IntN(len(all))])
		}
	}
	// Every page is a seed, or has a link from the page before it.
	for i, url := range all {
		if i%7 == 0 {
			b.seeds = append(b.seeds, url)
			continue
		}
		before := b.pages[all[i-1]]
		before.links = append(before.links, url+"#part")
	}
	if c.Variants {
		b.addVariants(variants, all)
	}
	if c.DNSFailures {
		b.addDNSFailures(source(8), all)
	}
	b.giveAddresses(source(14), c.Addresses)
	if c.Throttles {
		b.addThrottles(source(16))
	}
	b.setDepths()
	return b
}

func (b *web) newSite(rng *rand.Rand, domain string) *site {
	s := &site{domain: domain, healthy: true, down: rng.IntN(20) == 0}
	hosts := []string{domain, "www." + domain}[:1+rng.IntN(2)]
	for _, host := range hosts {
		o := &origin{site: s, name: "http://" + host, status: 200}
		switch rng.IntN(8) {
		case 0:
			o.status = 404
		case 1:
			o.failures = 1 + rng.IntN(2)
		case 2, 3:
			o.crawlDelay = time.Duration(1+rng.IntN(3)) * time.Second
		}
		o.disallow = o.status == 200 && rng.IntN(2) == 0
		s.origins = append(s.origins, o)
		b.hosts[o.name] = o
	}
	s.healthy = !s.down
	return s
}

// redirectRobots makes the robots.txt of some origins redirect to other origins.
func (b *web) redirectRobots(rng *rand.Rand) {
	var redirected []*origin
	for _, s := range b.sites {
		for _, o := range s.origins {
			if other := b.sites[rng.IntN(len(b.sites))]; other != s && rng.IntN(6) == 0 {
				o.robotsRedirect = other.origins[rng.IntN(len(other.origins))]
				redirected = append(redirected, o)
			}
		}
	}
	for _, o := range redirected {
		rules := o.rulesOrigin()
		if rules == nil {
			rules = &origin{site: o.site} // everything is allowed
		}
		o.disallow, o.crawlDelay = rules.disallow, rules.crawlDelay
		o.site.healthy = o.site.healthy && o.reachable()
	}
}

// reachable tells whether the robots.txt of o is fetched in the attempts that there
// are. Failures of all origins on the way there count.
func (o *origin) reachable() bool {
	failures := 0
	for range httpclient.MaxRobotsRedirects + 1 {
		failures += o.failures
		if o.site.down || o.down || failures >= maxAttempts {
			return false
		}
		if o.robotsRedirect == nil {
			break
		}
		o = o.robotsRedirect
	}
	return true
}

func newPage(rng *rand.Rand, o *origin, url string) *page {
	p := &page{origin: o, url: url, status: 200}
	switch rng.IntN(16) {
	case 0:
		p.status = 404
	case 1:
		p.status = 302
	case 2:
		p.status = 500
	case 3:
		p.failures = 1 + rng.IntN(2)
		p.retryAfter = time.Duration(rng.IntN(5)) * time.Second
	case 4:
		p.failures = 1
		p.failing = []httpclient.Class{httpclient.ClassConnectTimeout, httpclient.ClassReset, httpclient.ClassDNSError}[rng.IntN(3)]
	}
	return p
}

func (p *page) private() bool { return strings.Contains(p.url, "/private") }

// ask returns the answer to a request, and after what time it comes. It writes the
// access log.
func (b *web) ask(r *request, v *hostqueue.Visit) (*httpclient.Exchange, time.Duration) {
	target, _ := urls.Parse(r.url)
	o := b.hosts[target.Origin()]
	x := &httpclient.Exchange{URL: r.url}
	took := b.w.between(5*time.Millisecond, 120*time.Millisecond)
	switch {
	case b.w.chance(20):
		took = b.w.between(200*time.Millisecond, 2*time.Second)
	case b.w.chance(30):
		took = b.w.between(time.Second, requestTimeout)
	}
	b.w.lastActivity = b.w.now
	p := b.pages[r.url]
	outage := b.outageOf(o)
	if outage != nil {
		b.w.checkProbe(outage, o, r.url)
	}
	switch {
	case outage != nil && !outage.fail(x):
		return x, took
	case p != nil && p.failures > 0 && p.failing != "" && p.failing != httpclient.ClassReset:
		p.failures--
		x.Class = p.failing
		return x, took // the request does not reach the server
	}
	a := &access{instance: r.queue.instance, fetcher: r.queue.fetcher, domain: v.Domain, origin: o, url: r.url, robots: fetch.IsRobots(v, r.step.Index), start: b.w.now, end: -1}
	b.w.checkRequest(r.queue, b.byDomain[a.domain], a, p)
	b.log = append(b.log, a)
	b.byDomain[a.domain] = append(b.byDomain[a.domain], a)
	b.w.checkAddress(a, b.addressOf(r.url))
	r.entry = a
	if outage != nil {
		return x, took
	}
	if t := b.throttles[urls.HostOf(r.url)]; t != nil && t.refuses(b.w.now, x) {
		return x, took
	}
	switch {
	case a.robots:
		b.robots(x, o)
	case p == nil:
		x.Status = http.StatusNotFound
	case p.failures > 0:
		p.failures--
		x.Class, x.Status = p.failing, http.StatusServiceUnavailable
		if x.Class != "" {
			x.Status = 0
		} else {
			x.RetryAfter = p.retryAfter
		}
	default:
		b.page(x, p)
	}
	return x, took
}

func (b *web) robots(x *httpclient.Exchange, o *origin) {
	if o.failures > 0 {
		o.failures--
		x.Status = http.StatusInternalServerError
		return
	}
	o.robotsServed = true
	if o.robotsRedirect != nil {
		x.Status, x.Location = http.StatusFound, o.robotsRedirect.name+"/robots.txt"
		return
	}
	if x.Status = o.status; x.Status != http.StatusOK {
		return
	}
	var body strings.Builder
	body.WriteString("User-agent: *\n")
	if o.disallow {
		body.WriteString("Disallow: /private\n")
	}
	if o.crawlDelay > 0 {
		fmt.Fprintf(&body, "Crawl-delay: %d\n", int(o.crawlDelay.Seconds()))
	}
	x.Body = []byte(body.String())
}

func (b *web) page(x *httpclient.Exchange, p *page) {
	x.Status, x.Location = p.status, p.location
	x.Headers = []httpclient.Header{{Name: "Content-Type", Value: "text/html"}}
	if p.status != http.StatusOK {
		return
	}
	x.Body = p.body()
}

func (p *page) body() []byte {
	var body strings.Builder
	body.WriteString("<title>page</title>")
	if p.canonical != "" {
		fmt.Fprintf(&body, "<link rel=canonical href=%q>", p.canonical)
	}
	for _, link := range p.links {
		fmt.Fprintf(&body, "<a href=%q>link</a>\n", link)
	}
	return []byte(body.String())
}

// setDepths sets the depth of each page. A redirect does not count as a link, and
// neither does the step from a URL to its variant.
func (b *web) setDepths() {
	for _, p := range b.pages {
		p.depth = -1
	}
	reached := slices.Clone(b.seeds)
	for depth := 0; len(reached) > 0; depth++ {
		var linked []string
		for len(reached) > 0 {
			p := b.pages[reached[0]]
			reached = reached[1:]
			if p.depth >= 0 {
				continue
			}
			p.depth = depth
			if p.location != "" {
				reached = append(reached, p.location)
			}
			if p.variant != nil {
				reached = append(reached, p.variant.url)
			}
			for _, link := range p.links {
				linked = append(linked, canonical(link))
			}
		}
		reached = linked
	}
}
