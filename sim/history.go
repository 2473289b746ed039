package sim

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/urls"
)

// history is what the topics say became of every URL.
type history struct {
	admitted map[string]int      // in deduped
	held     map[string]int      // in deduped, parked
	merged   map[string][]string // in deduped, with what stands for them
	asides   asides
	pages    map[string]int // admitted by domain, without seeds
	queued   map[string]int // in scheduled
	tried    map[string]int // attempts that were made, robots.txt included
	depth    map[string]int // as admitted
	ended    map[string][]string
	parsed   map[string]bool
	expired  []string // visits that ran out of their lease
}

// readHistory folds the ledgers from their beginning.
func (w *world) readHistory() (*history, error) {
	h := &history{asides: newAsides(), admitted: map[string]int{}, held: map[string]int{}, merged: map[string][]string{}, pages: map[string]int{}, queued: map[string]int{}, tried: map[string]int{}, depth: map[string]int{}, ended: map[string][]string{}, parsed: map[string]bool{}}
	for p := range w.partitions {
		err := w.events(w.names.Deduped, p, func(body []byte) error {
			var d weftpb.Deduped
			err := proto.Unmarshal(body, &d)
			for _, trap := range d.Parked {
				for _, t := range trap.Targets {
					h.held[t.Url]++
				}
			}
			for _, t := range d.Targets {
				h.admitted[t.Url]++
				back := len(h.merged[t.Url]) > 0 // whatever the limit
				if p := w.web.pages[t.Url]; p != nil && t.Via != weftpb.Via_VIA_SEED && !back {
					h.pages[p.origin.site.domain]++
				}
				h.depth[t.Url] = int(t.Depth)
				if t.Group != "" {
					h.asides.twins[t.Url] = t.Twin
				}
			}
			for _, g := range d.Groups {
				h.asides.told[g.Name] = g.State
			}
			for _, m := range d.Merged {
				h.merged[m.Target.Url] = append(h.merged[m.Target.Url], m.Kept)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		visits := map[string]*weftpb.Visit{}
		err = w.events(w.names.Scheduled, p, func(body []byte) error {
			var s weftpb.Scheduled
			if err := proto.Unmarshal(body, &s); err != nil {
				return err
			}
			return h.schedule(&s, visits)
		})
		if err != nil {
			return nil, err
		}
		for _, r := range w.cluster.log(w.names.Parsed, p).records {
			h.parsed[string(r.key)] = true
		}
	}
	return h, nil
}

func (h *history) schedule(s *weftpb.Scheduled, visits map[string]*weftpb.Visit) error {
	h.asides.fold(s)
	for _, a := range s.Admitted {
		if a.Request.Target.Via == weftpb.Via_VIA_ROBOTS {
			continue
		}
		h.queued[a.Request.Target.Url]++
	}
	for _, done := range s.Settled {
		url := done.Url
		if done.Visit != "" {
			v := visits[done.Visit]
			if v == nil {
				return fmt.Errorf("an outcome of visit %s, which was not released", done.Visit)
			}
			url = v.Requests[done.Index].Target.Url
			if done.Attempt != nil {
				h.tried[url]++
			}
			if done.RetryMs != 0 || v.Robots {
				continue
			}
		}
		if done.Reason == frontier.ReasonRobots {
			continue
		}
		h.ended[url] = append(h.ended[url], done.Reason)
	}
	for _, v := range s.Released {
		visits[v.Id] = v
	}
	h.expired = append(h.expired, s.Expired...)
	return nil
}

// events calls visit with the bodies of the valid events of a ledger.
func (w *world) events(topic string, partition int32, visit func(body []byte) error) error {
	var reader ledger.Reader
	l := w.cluster.log(topic, partition)
	for _, r := range l.read(0, int(l.seen)) {
		ev, err := reader.Read(w.bugs.reread(r), topic, partition, r.offset)
		if err == nil && ev != nil && len(ev.Body) > 0 {
			err = visit(ev.Body)
		}
		if err != nil {
			return fmt.Errorf("%v at %d: %w", l.place, r.offset, err)
		}
	}
	return nil
}

// judgeEnd judges a crawl that is said to be drained: every URL that the rules
// reach is admitted once and has one outcome, and what was fetched was parsed.
func (w *world) judgeEnd() {
	for p := range w.partitions {
		w.compare(w.names.Deduped, p)
		w.compare(w.names.Scheduled, p)
	}
	h, err := w.readHistory()
	if err != nil {
		w.violate("ledger", "%v", err)
		return
	}
	if w.lossy {
		return // what was acknowledged and is gone may be lost, and come twice
	}
	need := func(url, because string) {
		if h.admitted[url]+h.held[url]+len(h.merged[url]) == 0 {
			w.violate("lost", "%s, %s, was never admitted", url, because)
		}
	}
	for _, url := range w.web.seeds {
		need(url, "a seed")
	}
	w.judgeHeld(h)
	w.judgeMerged(h)
	w.judgeGroups(h)
	for _, url := range keys(h.admitted) {
		switch {
		case h.admitted[url] > 1 || h.queued[url] > 1:
			w.violate("twice", "%s was admitted %d times and queued %d times", url, h.admitted[url], h.queued[url])
		case h.queued[url] == 0:
			w.violate("lost", "%s was admitted by dedupe and never queued", url)
		case h.asides.withdrawn(url) && len(h.ended[url]) == 0:
			w.judgeWithdrawn(h, url)
		case len(h.ended[url]) != 1:
			w.violate("lost", "%s has the outcomes %q", url, h.ended[url])
		case h.tried[url] > maxAttempts:
			w.violate("budget", "%s was tried %d times", url, h.tried[url])
		default:
			w.judgeURL(h, url, h.ended[url][0], need)
		}
	}
	if len(h.expired) > 0 {
		w.violate("forgotten", "visits %q ran out of their lease, though a fetcher was there", h.expired)
	}
	if w.c.calm() && w.c.Processes == 1 {
		w.judgeRepeats(h)
	}
	for _, r := range w.cluster.places {
		if strings.HasSuffix(r.topic, ".rejected") && w.cluster.logs[r].end() > 0 {
			w.violate("rejected", "%v holds records", r)
		}
	}
}

// judgeHeld judges what is held back: what is beyond the limit of its domain, each
// URL once, and none that is admitted, too.
func (w *world) judgeHeld(h *history) {
	for _, url := range keys(h.held) {
		if h.held[url]+h.admitted[url] > 1 {
			w.violate("twice", "%s was held back %d times and admitted %d times", url, h.held[url], h.admitted[url])
		}
		if w.c.PagesPerDomain == 0 {
			w.violate("lost", "%s was held back without a limit", url)
		}
	}
	for _, domain := range keys(h.pages) {
		if most := w.c.PagesPerDomain; most > 0 && int64(h.pages[domain]) > most {
			w.violate("limit", "%d URLs of %s were admitted", h.pages[domain], domain)
		}
	}
}

// judgeMerged judges what others stand for: each URL is given up once at most, for
// its twin, which has a page or a reason not to, and comes back if that has none.
func (w *world) judgeMerged(h *history) {
	for _, url := range keys(h.merged) {
		kept := h.merged[url][0]
		p := w.web.pages[url]
		switch {
		case len(h.merged[url]) > 1:
			w.violate("twice", "%s was given up for %q", url, h.merged[url])
		case p == nil || p.twin == nil || p.twin.url != kept:
			w.violate("merged", "%s is said to be %s", url, kept)
		case h.admitted[url] > 0:
			// It came back.
		case h.admitted[kept]+h.held[kept] == 0:
			w.violate("lost", "%s stands for %s and was never admitted", kept, url)
		case p.twin.status == http.StatusNotFound && slices.Contains(h.ended[kept], "fetched"):
			w.violate("lost", "%s was given up for %s, which has no page", url, kept)
		case p.origin != p.twin.origin && w.web.silent(p.twin.origin):
			w.violate("lost", "%s was given up for %s, whose origin never showed a page", url, kept)
		}
	}
}

// judgeRepeats judges a crawl that nothing went wrong in: no request is made but
// those that count as attempts, however often processes ended in good order.
func (w *world) judgeRepeats(h *history) {
	asked := map[string]int{}
	for _, a := range w.web.log {
		asked[a.url]++
	}
	for _, url := range keys(asked) {
		if asked[url] > h.tried[url] {
			w.violate("repeated", "%s was asked for %d times in %d attempts", url, asked[url], h.tried[url])
		}
	}
}

// maxAttempts of a URL: the first, and three more after failures.
const maxAttempts = 4

// judgeURL judges one outcome.
func (w *world) judgeURL(h *history, url, reason string, need func(url, because string)) {
	p := w.web.pages[url]
	if p == nil {
		w.violate("lost", "%s is no page of the web", url)
		return
	}
	w.judgeName(p, reason)
	disallowed := p.private() && p.origin.disallow
	switch {
	case reason == frontier.ReasonDisallowed && !disallowed:
		w.violate("robots", "%s is refused and not disallowed", url)
	case reason != "fetched":
		if p.origin.site.healthy && !p.origin.down && !p.origin.gone && !disallowed {
			w.violate("lost", "%s of a healthy site ended as %s", url, reason)
		}
		return
	}
	if !w.web.served(url) {
		w.violate("lost", "%s is called fetched and was not asked for", url)
	}
	if p.status == 200 && !h.parsed[url] {
		w.violate("lost", "%s was fetched and not parsed", url)
	}
	because := "named by " + url
	switch {
	case p.location != "":
		need(p.location, because)
	case w.c.MaxDepth > 0 && h.depth[url] >= w.c.MaxDepth:
		// Its links are too far away.
	case p.status == 200:
		for _, link := range p.links {
			need(canonical(link), because)
		}
	}
}

// served tells whether a URL was asked for and answered.
func (b *web) served(url string) bool {
	for _, a := range b.log {
		if a.url == url && a.end >= 0 {
			return true
		}
	}
	return false
}

func canonical(link string) string {
	u, _ := urls.Parse(link)
	return u.String()
}
