package sim

import "github.com/weftcrawl/weft/topics"

// judge is the politeness of one request, from the web server's side, and what
// it was told to keep within: before are the requests to the domain until then,
// p is the page that it is for.
func (w *world) judge(ln *lane, before []*access, a *access, p *page) {
	w.busy = w.now
	w.judgePace(before, a)
	if told := ln.life.proc.told; told.Pauses(topics.Fetch) {
		w.violate("paused", "%s asks %s after it has heard that fetch is paused", a.life.name, a.url)
	}
	if a.robots {
		return
	}
	if rules := a.origin.ruler(); !a.origin.answered || rules != nil && !rules.answered {
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

// judgePace judges when a request begins. Each request in flight takes one of
// the domain's connections, and keeps it until its delay is over; there must be
// one that is free. What a server asks for with Retry-After it asks of all.
func (w *world) judgePace(before []*access, a *access) {
	var open, paced, crawlDelayed []*access
	for _, b := range before[max(0, len(before)-recent):] {
		gap := a.start - b.end
		if b.end >= 0 && a.life == b.life && gap < b.retryAfter {
			w.violate("early", "%s is asked %v after %s, which had said Retry-After %v", a.url, gap, b.url, b.retryAfter)
		}
		switch {
		case b.end < 0:
			open = append(open, b)
		case gap < delay:
			paced = append(paced, b)
		case b.origin == a.origin && !a.robots && gap < a.origin.crawlDelay:
			crawlDelayed = append(crawlDelayed, b)
		}
	}
	most := w.c.perDomain()
	switch {
	case len(open) >= most:
		w.violate("overlap", "%s is asked while %s is not answered", a.url, open[0].url)
	case len(open)+len(paced) >= most:
		w.violate("early", "%s is asked %v after %s", a.url, a.start-paced[0].end, paced[0].url)
	case len(open)+len(paced)+len(crawlDelayed) >= most:
		w.violate("early", "%s is asked %v after %s, Crawl-delay is %v", a.url, a.start-crawlDelayed[0].end, crawlDelayed[0].url, a.origin.crawlDelay)
	}
}

// recent is how many requests to a domain are looked back at: more than begin
// within the longest delay.
const recent = 64
