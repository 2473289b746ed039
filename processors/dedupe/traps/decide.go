package traps

import (
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/urls"
)

// Decide completes an event about new URLs, event.Targets, that a record of normalized names:
// what the page showed that names them, which of them are parked, and in which groups the others
// are.
func (b *Templates) Decide(o Options, domain string, n *weftpb.Normalized, event *weftpb.Deduped) {
	event.Showing, event.Original = showing(domain, n, event.Targets)
	event.Targets, event.Parked = b.Judge(o, domain, event.Showing, event.Targets)
	b.Group(domain, event)
}

// showing tells what the page showed that names these new URLs; original is the
// hash of the URL of the page that it copies. Pages of other domains are unknown
// here, a redirect shows nothing, and neither seeds nor sitemaps are pages.
func showing(domain string, n *weftpb.Normalized, targets []*weftpb.Target) (shows weftpb.Showing, original uint64) {
	via := targets[0].Via
	if via == weftpb.Via_VIA_SEED || via == weftpb.Via_VIA_REDIRECT || via == weftpb.Via_VIA_SITEMAP || !within(n.Source, domain) {
		return weftpb.Showing_SHOWING_UNSPECIFIED, 0
	}
	i := slices.IndexFunc(n.Evidence, func(e *weftpb.Evidence) bool {
		return ShowsNothingNew(e, n.Source) && (e.Kind == weftpb.Evidence_KIND_CONTENT || namesItsLike(n.Source, targets))
	})
	switch {
	case i < 0:
		return weftpb.Showing_SHOWING_NEW, 0
	case Looks(n.Source) == SameContent:
		return weftpb.Showing_SHOWING_COPY, xxh3.HashString(n.Evidence[i].SameAs)
	}
	return weftpb.Showing_SHOWING_AGAIN, 0
}

// namesItsLike tells whether a page with very few words is really empty: all URLs
// that it names look like its own. A list of pictures has as few words, but names
// pictures.
func namesItsLike(source string, targets []*weftpb.Target) bool {
	looks := Looks(source)
	return !slices.ContainsFunc(targets, func(t *weftpb.Target) bool { return Looks(t.Url) != looks })
}

// within tells whether a URL is of a registrable domain.
func within(url, domain string) bool {
	u, refusal := urls.Parse(url)
	return refusal == urls.Accepted && urls.IsBelow(u.Hostname(), domain)
}
