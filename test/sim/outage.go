package sim

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/fetch/httpclient"
	"github.com/weftcrawl/weft/processors/schedule/frontier"
)

// outage is a time in which an origin, a host, or all hosts of a domain do not answer.
type outage struct {
	of          *origin
	unit        unit
	how         httpclient.Class // empty: with 503
	from, until time.Duration
}

// unit is how much of a site does not answer.
type unit int

const (
	wholeDomain unit = iota
	oneHost
	oneOrigin
	units
)

// failures are how requests fail in an outage.
var failures = []httpclient.Class{
	httpclient.ClassConnectRefused, httpclient.ClassConnectTimeout, httpclient.ClassFirstByteTimeout, httpclient.ClassReset,
	httpclient.ClassDNSError, "",
}

// drawOutages draws times in which sites do not answer, of minutes, hours and days, and
// storms in which they answer with 429. They begin when the other faults are over.
func (c *Case) drawOutages(rng *rand.Rand) {
	if rng.IntN(7) > 0 {
		return
	}
	c.GiveUpAfter = []time.Duration{4 * 24 * time.Hour, 4 * 24 * time.Hour, 6 * time.Hour}[rng.IntN(3)]
	for range 1 + rng.IntN(2) {
		f := Fault{At: upTo(rng, 20*time.Second), Kind: Outage, Target: rng.IntN(1000), Rate: rng.IntN(1000)}
		if rng.IntN(3) == 0 {
			f.Kind = Storm
		}
		switch n := rng.IntN(8); {
		case n < 4:
			f.For = time.Minute + upTo(rng, 50*time.Minute)
		case n < 7:
			f.For = upTo(rng, 12*time.Hour)
		default:
			f.For = 12*time.Hour + upTo(rng, 72*time.Hour)
		}
		c.Faults = append(c.Faults, f)
	}
}

// startOutage makes a site, or a part of it, fail for a while.
func (w *world) startOutage(f Fault) {
	s := w.web.sites[f.Target%len(w.web.sites)]
	o := s.origins[f.Target%len(s.origins)]
	w.web.outages = append(w.web.outages, &outage{
		of: o, unit: unit(f.Rate % int(units)), how: failures[f.Rate/int(units)%len(failures)], from: w.now, until: w.now + f.For,
	})
}

// startStorm has a host answer everything with 429 for a while.
func (w *world) startStorm(f Fault) {
	s := w.web.sites[f.Target%len(w.web.sites)]
	t := w.web.throttleOf(urls.HostOf(s.origins[f.Target%len(s.origins)].name))
	t.storm, t.tells = w.now+f.For, f.Rate%2 == 0
}

// concerns tells whether the outage is one of an origin.
func (a *outage) concerns(o *origin) bool {
	switch a.unit {
	case wholeDomain:
		return a.of.site == o.site
	case oneHost:
		return urls.HostOf(a.of.name) == urls.HostOf(o.name)
	}
	return a.of == o
}

// outageOf returns the outage of an origin at this time, nil if there is none.
func (b *web) outageOf(o *origin) *outage {
	if o.site.down || o.down {
		return &outage{of: o, unit: oneOrigin, how: httpclient.ClassConnectRefused}
	}
	i := slices.IndexFunc(b.outages, func(a *outage) bool { return b.w.now < a.until && a.concerns(o) })
	if i < 0 {
		return nil
	}
	return b.outages[i]
}

// fail makes a request fail. Before that the server has seen it, if it reached it.
func (a *outage) fail(x *httpclient.Exchange) (reached bool) {
	x.Class = a.how
	if a.how == "" {
		x.Status = http.StatusServiceUnavailable
	}
	return a.how == "" || a.how == httpclient.ClassFirstByteTimeout || a.how == httpclient.ClassReset
}

// checkProbe checks when an origin is asked that does not answer: its URLs wait, for an hour at
// most, and after ten minutes it gets few requests.
func (w *world) checkProbe(a *outage, o *origin, url string) {
	tries := append(w.web.tries[o], w.now)
	w.web.tries[o] = tries
	n := len(tries)
	if n > 1 && tries[n-2] > w.othersOver() && tries[n-2] > a.from && w.now-tries[n-2] > longestProbe && w.mayHaveWaited(o) {
		w.violate("probe", "%s, which does not answer, is asked for after %v", url, w.now-tries[n-2])
	}
	if n > mostProbes && tries[n-1-mostProbes] > max(w.othersOver(), a.from)+10*time.Minute && w.now-tries[n-1-mostProbes] < 20*time.Minute {
		w.violate("probe", "%s is request %d within 20 minutes to %s, which has not answered for %v", url, mostProbes+1, o.name, w.now-a.from)
	}
}

// tried notes that no request was made, because the look-up of a host took too long.
func (b *web) tried(url string) {
	target, _ := urls.Parse(url)
	if o := b.hosts[target.Origin()]; o != nil && len(b.tries[o]) > 0 {
		b.tries[o] = append(b.tries[o], b.w.now)
	}
}

// mayHaveWaited tells whether an origin may have had URLs that waited all the time. A host whose
// robots.txt was not fetched may wait for the robots.txt of another.
func (w *world) mayHaveWaited(o *origin) bool { return o.robotsRedirect == nil }

// mostProbes may be made in 20 minutes, probes for robots.txt included.
const mostProbes = 12

// longestProbe is the longest time between two probes. Each wait is an hour at most; but the waits
// of a host and of its robots.txt add up.
const longestProbe = 2*time.Hour + 10*time.Minute

// othersOver is when the last fault was over that is not an outage.
func (w *world) othersOver() (end time.Duration) {
	for _, f := range w.c.Faults {
		if f.Kind != Outage && f.Kind != Storm {
			end = max(end, f.end())
		}
	}
	return end + time.Minute
}

// markOutages notes which sites may lose pages: those that do not answer for as long as it
// takes to give them up, or nearly so.
func (w *world) markOutages() {
	from, until := map[*site]time.Duration{}, map[*site]time.Duration{}
	for _, f := range w.c.Faults {
		if f.Kind != Outage && f.Kind != Storm {
			continue
		}
		s := w.web.sites[f.Target%len(w.web.sites)]
		if _, had := from[s]; !had {
			from[s] = f.At
		}
		from[s], until[s] = min(from[s], f.At), max(until[s], f.end())
		s.troubled = true
	}
	for s := range until {
		if until[s]-from[s]+2*time.Hour >= w.c.GiveUpAfter {
			for _, o := range w.web.hosts {
				if o.site == s || o.robotsRedirect != nil {
					o.site.healthy = false
				}
			}
		}
	}
}

// mayBeLost tells whether a page may be one of the few that an outage costs. URLs fail by their
// attempts before so many requests have failed that their host is down: one in each outage.
func (w *world) mayBeLost(p *page) bool {
	s := p.origin.site
	w.web.lost[s]++
	most := 0
	for _, a := range w.web.outages {
		if a.of.site == s {
			most++
		}
	}
	return w.web.lost[s] <= most
}

// checkGivenUp checks that a URL whose host was down was given up no sooner than the crawl's
// definition says. Wall clocks that were set cannot be used for this.
func (w *world) checkGivenUp(p *page, u *fate) {
	reason := u.outcomes[0]
	if reason != frontier.ReasonBreaker {
		return // robots.txt that redirects may be refused sooner
	}
	from := time.Duration(0)
	for _, f := range w.c.Faults {
		switch {
		case f.Kind == ClockJump:
			return
		case f.Kind == Outage && w.web.sites[f.Target%len(w.web.sites)] == p.origin.site && !p.origin.site.down && !p.origin.down && from == 0:
			from = f.At
		}
	}
	if earliest := from + w.c.giveUpAfter() - time.Minute; u.ended < earliest {
		w.violate("given-up", "%s ended as %s at %v, and hosts are given up after %v", p.url, reason, u.ended, w.c.giveUpAfter())
	}
}

// well tells whether nothing of a domain fails but single pages.
func (b *web) well(domain string) bool {
	i := slices.IndexFunc(b.sites, func(s *site) bool { return s.domain == domain })
	return i >= 0 && b.sites[i].healthy && !b.sites[i].troubled && len(b.throttles) == 0
}
