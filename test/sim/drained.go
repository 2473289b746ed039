package sim

import (
	"net/http"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/fetch/httpclient"
	"github.com/weftcrawl/weft/processors/schedule/frontier"
)

// checkDrained checks a crawl that is said to be drained: every URL that the rules
// reach is admitted once and has one outcome, and what was fetched was parsed.
func (w *world) checkDrained() {
	w.checkStates()
	h, err := w.readHistory()
	if err != nil {
		w.violate("ledger", "%v", err)
		return
	}
	if w.lostAcknowledged {
		return // what was acknowledged and is gone may be lost, and come twice
	}
	for _, url := range w.web.seeds {
		w.checkAdmitted(h, url, "a seed")
	}
	w.checkParked(h)
	w.checkMerged(h)
	for _, name := range keys(h.written) {
		if written, is := h.written[name], h.groups[name]; written != is {
			w.violate("groups", "schedule takes group %s for %v, and dedupe has written that it is %v", name, is, written)
		}
	}
	for _, url := range keys(h.urls) {
		u := h.of(url)
		switch {
		case u.admitted == 0:
		case u.admitted > 1 || u.queued > 1:
			w.violate("twice", "%s was admitted %d times and queued %d times", url, u.admitted, u.queued)
		case u.queued == 0:
			w.violate("lost", "%s was admitted by dedupe and never queued", url)
		case h.withdrawn(url) && len(u.outcomes) == 0:
			w.checkVariantKept(h, url, u.variant, "withdrawn")
			if h.withdrawn(u.variant) {
				w.violate("lost", "both %s and %s are withdrawn", url, u.variant)
			}
		case len(u.outcomes) != 1:
			w.violate("lost", "%s has the outcomes %q", url, u.outcomes)
		case u.attempts > maxAttempts:
			w.violate("budget", "%s was tried %d times", url, u.attempts)
		default:
			w.checkURL(h, url, u)
		}
	}
	w.checkThrottles()
	if len(h.expired) > 0 {
		w.violate("forgotten", "visits %q ran out of their lease, though there was a fetcher", h.expired)
	}
	if w.c.faultless() && w.c.Processes == 1 {
		w.checkRepeats(h)
	}
	for _, at := range w.cluster.partitions {
		if strings.HasSuffix(at.topic, ".rejected") && w.cluster.logs[at].end() > 0 {
			w.violate("rejected", "%v has records", at)
		}
	}
}

// checkAdmitted checks that dedupe has admitted, parked or merged a URL.
func (w *world) checkAdmitted(h *history, url, because string) {
	if u := h.of(url); u.admitted+u.parked+len(u.mergedInto) == 0 {
		w.violate("lost", "%s, %s, was never admitted", url, because)
	}
}

// checkParked checks what is parked: URLs beyond the limit of their domain, each once, without URLs
// that are also admitted.
func (w *world) checkParked(h *history) {
	for _, url := range keys(h.urls) {
		u := h.of(url)
		switch {
		case u.parked == 0:
		case u.parked+u.admitted > 1:
			w.violate("twice", "%s was parked %d times and admitted %d times", url, u.parked, u.admitted)
		case w.c.PagesPerDomain == 0:
			w.violate("lost", "%s was parked without a limit", url)
		}
	}
	for _, domain := range keys(h.admitted) {
		if most := w.c.PagesPerDomain; most > 0 && int64(h.admitted[domain]) > most {
			w.violate("limit", "%d URLs of %s were admitted", h.admitted[domain], domain)
		}
	}
}

// checkMerged checks what is merged: each URL once at most, into its variant. A URL
// comes back if it was merged into one that has no page.
func (w *world) checkMerged(h *history) {
	for _, url := range keys(h.urls) {
		u := h.of(url)
		switch {
		case len(u.mergedInto) == 0:
		case len(u.mergedInto) > 1:
			w.violate("twice", "%s was merged into %q", url, u.mergedInto)
		default:
			w.checkVariantKept(h, url, u.mergedInto[0], "merged")
		}
	}
}

// checkVariantKept checks a URL that is not fetched, because kept is: kept must be
// its variant, must be in the crawl, and must have a page or a reason not to.
func (w *world) checkVariantKept(h *history, url, kept, how string) {
	p, u := w.web.pages[url], h.of(kept)
	switch {
	case p == nil || p.variant == nil || p.variant.url != kept:
		w.violate(how, "%s is %s, and %s is not its variant", url, how, kept)
	case how == "merged" && h.of(url).admitted > 0:
		// It came back.
	case u.admitted+u.parked == 0:
		w.violate("lost", "%s is %s for %s, which was never admitted", url, how, kept)
	case p.variant.status == http.StatusNotFound && slices.Contains(u.outcomes, "fetched"):
		w.violate("lost", "%s is %s for %s, which has no page", url, how, kept)
	case p.origin != p.variant.origin && w.web.neverAnswered(p.variant.origin):
		w.violate("lost", "%s is %s for %s, whose origin never showed a page", url, how, kept)
	}
}

// checkRepeats checks a crawl without faults: the only requests are those that count as attempts,
// however often processes ended gracefully.
func (w *world) checkRepeats(h *history) {
	requests := map[string]int{}
	for _, a := range w.web.log {
		requests[a.url]++
	}
	for _, url := range keys(requests) {
		if tried := h.of(url).tried; requests[url] > tried {
			w.violate("repeated", "%s was asked for %d times in %d attempts", url, requests[url], tried)
		}
	}
}

// maxAttempts of a URL: the first, and three more after failures.
const maxAttempts = 4

// checkURL checks the outcome of a URL.
func (w *world) checkURL(h *history, url string, u *fate) {
	p, reason := w.web.pages[url], u.outcomes[0]
	if p == nil {
		w.violate("lost", "%s is not a page of the web", url)
		return
	}
	w.checkDNS(p, reason)
	w.checkGivenUp(p, u)
	disallowed := p.private() && p.origin.disallow
	switch {
	case reason == frontier.ReasonDisallowed && !disallowed:
		w.violate("robots", "%s is refused and not disallowed", url)
	case reason != "fetched":
		if p.origin.site.healthy && !p.origin.down && !p.origin.noSuchName && !disallowed && !w.mayBeLost(p) {
			w.violate("lost", "%s of a healthy site ended as %s", url, reason)
		}
		return
	}
	if !slices.ContainsFunc(w.web.log, func(a *access) bool { return a.url == url && a.end >= 0 }) {
		w.violate("lost", "%s has the outcome fetched and was not asked for", url)
	}
	if p.status == http.StatusOK && !u.parsed {
		w.violate("lost", "%s was fetched and not parsed", url)
	}
	because := "linked from " + url
	switch {
	case p.location != "":
		w.checkAdmitted(h, p.location, because)
	case w.c.MaxDepth > 0 && u.depth >= w.c.MaxDepth:
		// Its links are too far away.
	case p.status == http.StatusOK:
		for _, link := range p.links {
			w.checkAdmitted(h, canonical(link), because)
		}
	}
}

// checkDNS checks the outcome of a URL whose host name does not exist, or was not
// found once.
func (w *world) checkDNS(p *page, reason string) {
	missing := reason == string(httpclient.ClassDNSNotFound)
	switch {
	case p.origin.noSuchName && !missing && p.origin.site.healthy:
		w.violate("name", "%s, whose host name does not exist, ended as %s", p.url, reason)
	case !p.origin.noSuchName && missing:
		w.violate("name", "%s ended as %s after one such answer", p.url, reason)
	}
}

// neverAnswered tells whether no page was ever read at an origin.
func (b *web) neverAnswered(o *origin) bool {
	return !slices.ContainsFunc(b.log, func(a *access) bool {
		p := b.pages[a.url]
		return a.origin == o && a.end >= 0 && p != nil && p.status == http.StatusOK
	})
}

func canonical(link string) string {
	u, _ := urls.Parse(link)
	return u.String()
}
