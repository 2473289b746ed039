package dedupe

import (
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/dedupe/traps"
)

// ofDomain tells whether every target is a URL of domain, as in each record that
// normalize wrote. A record of another type may decode as a Normalized whose
// targets have no URL, and the frontier cannot hold those.
func ofDomain(domain string, targets []*weftpb.Target) bool {
	for _, t := range targets {
		if !isOf(domain, t.GetUrl()) {
			return false
		}
	}
	return true
}

// isOf tells whether a canonical URL is of a registrable domain. It looks at the
// host alone: dedupe sees millions of URLs.
func isOf(domain, url string) bool {
	rest, found := strings.CutPrefix(url, "http://")
	if !found {
		rest, found = strings.CutPrefix(url, "https://")
	}
	host, _, path := strings.Cut(rest, "/")
	if port := strings.LastIndexByte(host, ':'); port > strings.LastIndexByte(host, ']') {
		host = host[:port]
	}
	if len(host) > 1 {
		host = strings.TrimSuffix(host, ".") // see urls.Suffixes.Domain
	}
	before, same := strings.CutSuffix(host, domain)
	return found && path && same && (before == "" || before[len(before)-1] == '.')
}

// canonize writes the URLs of targets as normalize does, and tells whether one differed.
// ok is false if one is not a URL of domain. Only another program, which changed a
// record, or another version writes others. This costs more than isOf, so only new URLs
// are asked about: what dedupe has seen was canonical.
func canonize(domain string, unseen []*weftpb.Target) (differed, ok bool) {
	for _, t := range unseen {
		u, refusal := urls.Parse(t.GetUrl())
		if refusal != urls.Accepted || !isOf(domain, u.String()) {
			return false, false
		}
		if u.String() != t.Url {
			t.Url, differed = u.String(), true
		}
	}
	return differed, true
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
		return traps.ShowsNothingNew(e, n.Source) && (e.Kind == weftpb.Evidence_KIND_CONTENT || namesItsLike(n.Source, targets))
	})
	switch {
	case i < 0:
		return weftpb.Showing_SHOWING_NEW, 0
	case traps.Looks(n.Source) == traps.SameContent:
		return weftpb.Showing_SHOWING_COPY, xxh3.HashString(n.Evidence[i].SameAs)
	}
	return weftpb.Showing_SHOWING_AGAIN, 0
}

// namesItsLike tells whether a page with very few words is really empty: all URLs
// that it names look like its own. A list of pictures has as few words, but names
// pictures.
func namesItsLike(source string, targets []*weftpb.Target) bool {
	looks := traps.Looks(source)
	return !slices.ContainsFunc(targets, func(t *weftpb.Target) bool { return traps.Looks(t.Url) != looks })
}

// within tells whether a URL is of a registrable domain.
func within(url, domain string) bool {
	u, refusal := urls.Parse(url)
	if refusal != urls.Accepted {
		return false
	}
	host := u.Hostname()
	return host == domain || strings.HasSuffix(host, "."+domain)
}
