package sim

import "time"

// judge is the politeness of one request, from the web server's side: last is
// the request to the domain before it, nil for none; p is the page it is for.
func (w *world) judge(last, a *access, p *page) {
	w.busy = w.now
	if last != nil {
		gap := a.start - last.end
		switch {
		case last.end < 0:
			w.violate("overlap", "%s is asked while %s is not answered", a.url, last.url)
		case gap < delay:
			w.violate("early", "%s is asked %v after %s", a.url, gap, last.url)
		case gap < last.retryAfter && a.life == last.life:
			w.violate("early", "%s is asked %v after %s, which had said Retry-After %v", a.url, gap, last.url, last.retryAfter)
		}
	}
	if a.robots {
		return
	}
	if !a.origin.answered {
		w.violate("robots", "%s is asked before the robots.txt of its origin", a.url)
	}
	if p != nil && p.private() && a.origin.disallow {
		w.violate("robots", "%s is asked and disallowed", a.url)
	}
	if crawlDelay := a.origin.crawlDelay; crawlDelay > 0 {
		if gap := w.web.since(a); gap < crawlDelay {
			w.violate("early", "%s is asked %v after the last request of its origin, Crawl-delay is %v", a.url, gap, crawlDelay)
		}
	}
}

// since is the time from the last request to the same origin.
func (b *web) since(a *access) time.Duration {
	for i := len(b.log) - 1; i >= 0; i-- {
		if b.log[i].origin == a.origin {
			return a.start - b.log[i].end
		}
	}
	return time.Duration(1 << 62)
}
