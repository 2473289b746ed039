package sim

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/fetch"
	"github.com/weftcrawl/weft/lanes"
	"github.com/weftcrawl/weft/processors"
	"github.com/weftcrawl/weft/urls"
)

// web is a few sites, made from a seed, and their access log in true time.
type web struct {
	w     *world
	sites []*site
	pages map[string]*page // by URL
	hosts map[string]*origin
	log   []*access
	of    map[string][]*access // the log, by domain
	seeds []string
}

// site is a registrable domain with one or two origins.
type site struct {
	domain  string
	origins []*origin
	down    bool // nobody answers, ever
	healthy bool // nothing of it fails for good
	habit   habit
}

// origin has a robots.txt, which may fail a few times before it is had.
type origin struct {
	site       *site
	name       string // http://host
	failures   int
	status     int
	disallow   bool // of /private
	crawlDelay time.Duration
	answered   bool // its robots.txt was had
	gone       bool // its name does not exist
	down       bool // nobody answers, ever
	unfound    int  // so many look-ups do not find its name
	// elsewhere has its robots.txt, which redirects there: an origin of another
	// site as a rule.
	elsewhere *origin
}

// ruler is the origin whose robots.txt holds for o, nil when it redirects too
// often.
func (o *origin) ruler() *origin {
	for range fetch.MaxRobotsRedirects {
		if o.elsewhere == nil {
			return o
		}
		o = o.elsewhere
	}
	if o.elsewhere != nil {
		return nil
	}
	return o
}

// page is what an URL answers with, after it has failed a few times.
type page struct {
	origin     *origin
	url        string
	status     int
	location   string
	canonical  string // that it names; empty: none
	links      []string
	failures   int
	failing    fetch.Class // how it fails; empty: with 503
	retryAfter time.Duration
	depth      int // least number of links from a seed, -1: none leads here
	// twin is the page at the other URL, see web.twins; nil: there is none.
	twin *page
}

// access is a line of the log. end is -1 while the request is open.
type access struct {
	life       *life
	domain     string
	origin     *origin
	url        string
	robots     bool
	start, end time.Duration
	retryAfter time.Duration
}

const product = "weftsim"

// newWeb makes sites of so many pages, some of which have two URLs if there are
// twins; see names for names.
func newWeb(w *world, seed uint64, sites, pages int, twins, names bool) *web {
	rng, own := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 6))
	b := &web{w: w, pages: map[string]*page{}, hosts: map[string]*origin{}, of: map[string][]*access{}}
	for i := range sites {
		b.sites = append(b.sites, b.newSite(rng, fmt.Sprintf("site%d.com", i)))
	}
	b.refer(rng)
	if twins {
		for _, s := range b.sites {
			s.habit = habit(own.IntN(int(habits)))
		}
	}
	var all []string
	for _, s := range b.sites {
		for i := range pages {
			o := s.origins[rng.IntN(len(s.origins))]
			path := fmt.Sprintf("/p%d", i)
			if rng.IntN(8) == 0 {
				path = "/private" + path
			}
			if s.habit == indexed {
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
	// Every page has a way to it, from the one before it or a seed.
	for i, url := range all {
		if i%7 == 0 {
			b.seeds = append(b.seeds, url)
			continue
		}
		before := b.pages[all[i-1]]
		before.links = append(before.links, url+"#part")
	}
	if twins {
		b.twins(own, all)
	}
	if names {
		b.names(rand.New(rand.NewPCG(seed, 8)), all)
	}
	b.measure()
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

// refer lets the robots.txt of some origins redirect to others.
func (b *web) refer(rng *rand.Rand) {
	var referring []*origin
	for _, s := range b.sites {
		for _, o := range s.origins {
			if other := b.sites[rng.IntN(len(b.sites))]; other != s && rng.IntN(6) == 0 {
				o.elsewhere = other.origins[rng.IntN(len(other.origins))]
				referring = append(referring, o)
			}
		}
	}
	for _, o := range referring {
		rules := o.ruler()
		if rules == nil {
			rules = &origin{site: o.site} // whatever is asked for is allowed
		}
		o.disallow, o.crawlDelay = rules.disallow, rules.crawlDelay
		o.site.healthy = o.site.healthy && o.reachable()
	}
}

// reachable tells whether the robots.txt of o is had before it is given up:
// every failure on the way there is one of its own.
func (o *origin) reachable() bool {
	failures := 0
	for range fetch.MaxRobotsRedirects + 1 {
		failures += o.failures
		if o.site.down || o.down || failures >= maxAttempts {
			return false
		}
		if o.elsewhere == nil {
			break
		}
		o = o.elsewhere
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
		p.failing = []fetch.Class{fetch.ClassConnectTimeout, fetch.ClassReset, fetch.ClassDNSError}[rng.IntN(3)]
	}
	return p
}

func (p *page) private() bool { return strings.Contains(p.url, "/private") }

// ask answers a request: with what, and after how long. It writes the log.
func (b *web) ask(r *request, v *lanes.Visit) (*fetch.Exchange, time.Duration) {
	target, _ := urls.Parse(r.url)
	o := b.hosts[target.Origin()]
	x := &fetch.Exchange{URL: r.url}
	took := b.w.between(5*time.Millisecond, 120*time.Millisecond)
	if b.w.chance(20) {
		took = b.w.between(200*time.Millisecond, 2*time.Second)
	}
	if o.unresolved() {
		x.Class = fetch.ClassDNSNotFound
		return x, took
	}
	p := b.pages[r.url]
	switch {
	case o.site.down, o.down:
		x.Class = fetch.ClassConnectRefused
		return x, took
	case p != nil && p.failures > 0 && p.failing != "" && p.failing != fetch.ClassReset:
		p.failures--
		x.Class = p.failing
		return x, took // nobody there hears of it
	}
	a := &access{life: r.lane.life, domain: v.Domain, origin: o, url: r.url, robots: processors.IsRobots(v, r.step.Index), start: b.w.now, end: -1}
	b.w.judge(r.lane, b.of[a.domain], a, p)
	b.log = append(b.log, a)
	b.of[a.domain] = append(b.of[a.domain], a)
	r.entry = a
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

func (b *web) robots(x *fetch.Exchange, o *origin) {
	if o.failures > 0 {
		o.failures--
		x.Status = http.StatusInternalServerError
		return
	}
	o.answered = true
	if o.elsewhere != nil {
		x.Status, x.Location = http.StatusFound, o.elsewhere.name+"/robots.txt"
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

func (b *web) page(x *fetch.Exchange, p *page) {
	x.Status, x.Location = p.status, p.location
	x.Headers = []fetch.Header{{Name: "Content-Type", Value: "text/html"}}
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

// measure finds how many links each page is at least away from a seed. A redirect
// is no link, and a URL may stand for its twin.
func (b *web) measure() {
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
			if p.twin != nil {
				reached = append(reached, p.twin.url)
			}
			for _, link := range p.links {
				linked = append(linked, canonical(link))
			}
		}
		reached = linked
	}
}
