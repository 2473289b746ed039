package sim

import (
	"net/http"
	"slices"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// asides is what the ledgers say of URLs that wait aside for others.
type asides struct {
	twins  map[string]string             // in deduped, with what they wait for
	told   map[string]weftpb.Group_State // by dedupe
	states map[string]weftpb.Group_State // in scheduled
	groups map[string]string             // of URLs that have not left theirs
}

func newAsides() asides {
	return asides{
		twins: map[string]string{}, told: map[string]weftpb.Group_State{}, states: map[string]weftpb.Group_State{}, groups: map[string]string{},
	}
}

func (a *asides) fold(s *weftpb.Scheduled) {
	for _, g := range s.Groups {
		a.states[g.Name] = g.State
	}
	for _, admitted := range s.Admitted {
		if t := admitted.Request.Target; t.Group != "" {
			a.groups[t.Url] = t.Group
		}
	}
	for _, r := range s.Recalled {
		delete(a.groups, r.Url)
	}
	for _, done := range s.Settled {
		delete(a.groups, done.Url)
	}
	for _, d := range s.Deferred {
		delete(a.groups, d.Request.Target.Url)
	}
	for _, v := range s.Released {
		for _, q := range v.Requests {
			delete(a.groups, q.Target.Url)
		}
	}
}

// withdrawn tells whether a URL is in a group that is.
func (a *asides) withdrawn(url string) bool {
	group, aside := a.groups[url]
	return aside && a.states[group] == weftpb.Group_STATE_WITHDRAWN
}

// judgeGroups holds what schedule knows of groups against what dedupe has told.
func (w *world) judgeGroups(h *history) {
	for _, name := range keys(h.asides.told) {
		if told, is := h.asides.told[name], h.asides.states[name]; told != is {
			w.violate("groups", "group %s is %v, and dedupe has told that it is %v", name, is, told)
		}
	}
}

// judgeWithdrawn judges a URL that is not fetched: its twin is in the crawl instead,
// and has a page or a reason not to.
func (w *world) judgeWithdrawn(h *history, url string) {
	p, twin := w.web.pages[url], h.asides.twins[url]
	switch {
	case p == nil || p.twin == nil || p.twin.url != twin:
		w.violate("withdrawn", "%s is said to be %s", url, twin)
	case h.admitted[twin]+h.held[twin] == 0:
		w.violate("lost", "%s is fetched instead of %s and was never admitted", twin, url)
	case h.asides.withdrawn(twin):
		w.violate("lost", "both %s and %s are withdrawn", url, twin)
	case p.twin.status == http.StatusNotFound && slices.Contains(h.ended[twin], "fetched"):
		w.violate("lost", "%s is withdrawn for %s, which has no page", url, twin)
	case p.origin != p.twin.origin && w.web.silent(p.twin.origin):
		w.violate("lost", "%s is withdrawn for %s, whose origin never showed a page", url, twin)
	}
}

// silent tells whether no page was ever read at an origin.
func (b *web) silent(o *origin) bool {
	return !slices.ContainsFunc(b.log, func(a *access) bool {
		p := b.pages[a.url]
		return a.origin == o && a.end >= 0 && p != nil && p.status == http.StatusOK
	})
}
