package sim

import (
	"slices"

	"github.com/weftcrawl/weft/internal/politeness"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/topics"
)

// checkRequest checks a request as the web server sees it: that it is polite, and
// within the limits of the crawl. before are the earlier requests to its domain, p
// is its page, if there is one.
func (w *world) checkRequest(q *queue, before []*access, a *access, p *page) {
	w.lastActivity = w.now
	w.checkPace(before, a)
	if q.instance.proc.control.Pauses(topics.Fetch) {
		w.violate("paused", "%s asks %s after it has read that fetch is paused", a.instance.name, a.url)
	}
	if q.instance.proc.settings.Of(a.domain).Blocked {
		w.violate("setting", "%s asks %s after it has read that the domain is blocked", a.instance.name, a.url)
	}
	if a.robots {
		return
	}
	if rules := a.origin.rulesOrigin(); !a.origin.robotsServed || rules != nil && !rules.robotsServed {
		w.violate("robots", "%s is asked before the robots.txt of its origin", a.url)
	}
	if p == nil {
		return
	}
	if p.private() && a.origin.disallow {
		w.violate("robots", "%s is asked and disallowed", a.url)
	}
	if most := w.c.MaxDepth; most > 0 && p.depth > most {
		w.violate("depth", "%s is asked, %d links from the next seed", a.url, p.depth)
	}
}

// checkPace checks when a request begins. Each request takes one of the domain's connections,
// from its start until the delay after its end is over. There must be a free one. A request
// that hangs takes no connection of the domain, but its host gets no other request. A
// Retry-After holds for all connections to its host.
func (w *world) checkPace(before []*access, a *access) {
	var open, paced, crawlDelayed []*access
	hanging := 0
	for _, b := range before[max(0, len(before)-recent):] {
		if b.hungAt > 0 && b.end < 0 && sameHost(a, b) {
			w.violate("overlap", "%s is asked while %s, at the same host, hangs", a.url, b.url)
		}
		gap := a.start - b.end
		if b.hungAt > 0 && b.end < 0 {
			hanging, gap = hanging+1, a.start-b.hungAt
		}
		if b.end >= 0 && a.instance == b.instance && sameHost(a, b) && a.start-b.end < b.retryAfter {
			w.violate("early", "%s is asked %v after %s, whose answer had Retry-After %v", a.url, gap, b.url, b.retryAfter)
		}
		switch {
		case b.end < 0 && b.hungAt == 0:
			open = append(open, b)
		case gap < delay:
			paced = append(paced, b)
		case b.origin == a.origin && !a.robots && gap < a.origin.crawlDelay:
			crawlDelayed = append(crawlDelayed, b)
		}
	}
	most := w.c.perDomain()
	switch {
	case hanging > politeness.MaxHanging:
		w.violate("overlap", "%s is asked while %d requests hang", a.url, hanging)
	case len(open) >= most:
		w.violate("overlap", "%s is asked while %s is not answered", a.url, open[0].url)
	case len(open)+len(paced) >= most:
		w.violate("early", "%s is asked %v after %s", a.url, a.start-paced[0].end, paced[0].url)
	case len(open)+len(paced)+len(crawlDelayed) >= most:
		w.violate("early", "%s is asked %v after %s, Crawl-delay is %v", a.url, a.start-crawlDelayed[0].end, crawlDelayed[0].url, a.origin.crawlDelay)
	}
}

func sameHost(a, b *access) bool {
	return urls.HostOf(a.origin.name) == urls.HostOf(b.origin.name)
}

// recent is how many earlier requests to a domain are looked at: more than can
// begin within the longest delay.
const recent = 64

// checkBacklog checks, when a request passes the gate, how many bytes the fetcher
// has sent and parse has not committed. The limit holds for large bodies and for
// small ones, so that together they may be twice as many.
func (f *fetcher) checkBacklog() {
	w := f.w
	f.sentBodies = slices.DeleteFunc(f.sentBodies, func(s *sentBody) bool {
		return s.offset >= 0 && s.offset < w.cluster.groups[topics.Parse].committed(topicPartition{w.names.Fetched, s.partition})
	})
	unparsed := 0
	for _, s := range f.sentBodies {
		unparsed += s.bytes
	}
	if limit := 2 * w.c.backlogBytes(); int64(unparsed) >= limit {
		w.violate("backlog", "a request of %s passes the gate with %d bytes not parsed; there must be less than %d", f.instance.name, unparsed, limit)
	}
}

// checkReleases checks the visits that an event releases: there must be none while releases
// are paused or the disk is nearly full, and they must keep to what people ask for the domain.
func (t *table) checkReleases(domain string, event []byte) {
	if t.stage != topics.Schedule {
		return
	}
	p, released := t.instance.proc, t.releasedBy(event)
	t.checkSetting(domain, released)
	if (p.control.PausesReleases() || p.diskLow.Load()) && len(released) > 0 {
		t.w.violate("released", "%s releases a visit while releases are paused (%v)", t.instance.name, p.control)
	}
}

// checkNoneOpen checks that no request is open when the crawl says so.
func (w *world) checkNoneOpen() {
	for _, a := range w.web.log {
		if a.end < 0 {
			w.violate("quiet", "%s is asked and not answered, and the crawl is said to be over", a.url)
		}
	}
}
