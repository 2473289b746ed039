package scope

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/urls"
)

// Refusal is the reason why a URL is not in scope. The zero value, Accepted, means that
// it is in scope. The values are stable: they label metrics and records.
type Refusal string

const (
	// Accepted says that the URL is in scope.
	Accepted Refusal = ""
	// OutOfScope is a URL outside of the host, domain or prefix.
	OutOfScope Refusal = "out_of_scope"
	// Excluded is a URL that matches an exclude pattern.
	Excluded Refusal = "excluded"
	// NotIncluded is a URL that matches no include pattern.
	NotIncluded Refusal = "not_included"
	// TooDeep is a URL more links away from its seed than the limit.
	TooDeep Refusal = "too_deep"
	// TooManyRedirects is a URL behind more than MaxRedirects redirects in a row.
	TooManyRedirects Refusal = "too_many_redirects"
)

// MaxRedirects is how many redirects in a row are followed, as in browsers (Fetch
// Standard, HTTP-redirect fetch). A loop ends earlier, at a URL that was seen. A chain
// in which every URL is new would not end without a limit.
const MaxRedirects = 20

// Policy decides what is in scope. Make it with New.
type Policy struct {
	mode             Mode
	include, exclude []*regexp.Regexp
	maxDepth         int
	limits           Limits
}

// Referrer is the exchange that names a URL.
type Referrer struct {
	URL urls.URL
	// Domain is the registrable domain of URL.
	Domain string
	// Depth is the number of links between a seed and URL.
	Depth uint32
	// Seed: URL is a seed, or the target of a seed's redirect.
	Seed bool
	// Root is the prefix that links may not leave. It is used with Prefix only.
	Root string
	// Via is how the exchange names its URLs: link, redirect or sitemap.
	Via weftpb.Via
	// Redirects is how many redirects in a row led to URL.
	Redirects uint32
}

// Standing is what the frontier has to know of a URL in scope.
type Standing struct {
	Depth uint32
	// Via is VIA_SEED for the redirect target of a seed, so that a chain of
	// redirects from a seed is followed to its end.
	Via weftpb.Via
	// Root is set only with Prefix.
	Root string
	// Redirects is how many redirects in a row lead to the URL, this one included.
	Redirects uint32
}

// Seed judges a URL that a user named. Only an exclude pattern refuses it.
func (p *Policy) Seed(target urls.URL) (Standing, Refusal) {
	if matchesAny(p.exclude, target) {
		return Standing{}, Excluded
	}
	standing := Standing{Via: weftpb.Via_VIA_SEED}
	if p.mode == Prefix {
		standing.Root = target.Directory()
	}
	return standing, Accepted
}

// Judge judges a URL that an exchange names. domain is the registrable domain of
// target. Depth counts links only: a redirect or a sitemap entry has the depth of its
// referrer.
func (p *Policy) Judge(from Referrer, target urls.URL, domain string) (Standing, Refusal) {
	redirects, refusal := from.redirects()
	if refusal != Accepted {
		return Standing{}, refusal
	}
	if from.Seed && from.Via == weftpb.Via_VIA_REDIRECT {
		standing, refusal := p.Seed(target)
		standing.Redirects = redirects
		return standing, refusal
	}
	standing := Standing{Depth: from.Depth, Via: from.Via, Redirects: redirects}
	if from.Via == weftpb.Via_VIA_LINK && from.Depth < math.MaxUint32 {
		standing.Depth++
	}
	if p.mode == Prefix {
		standing.Root = from.Root
	}
	if !p.within(from, target, domain) {
		return Standing{}, OutOfScope
	}
	if refusal = p.forbids(standing, target); refusal != Accepted {
		return Standing{}, refusal
	}
	if len(p.include) > 0 && !matchesAny(p.include, target) {
		return Standing{}, NotIncluded
	}
	if refusal = p.limits.judge(target); refusal != Accepted {
		return Standing{}, refusal
	}
	return standing, Accepted
}

// Sitemap judges a sitemap that an exchange names: a robots.txt, an index, or a sitemap that
// redirects. Scope is about pages, and a sitemap may be anywhere; only exclude patterns and limits
// of depth and redirects refuse it.
func (p *Policy) Sitemap(from Referrer, target urls.URL) (Standing, Refusal) {
	redirects, refusal := from.redirects()
	if refusal != Accepted {
		return Standing{}, refusal
	}
	standing := Standing{Depth: from.Depth, Via: from.Via, Root: from.Root, Redirects: redirects}
	if refusal = p.forbids(standing, target); refusal != Accepted {
		return Standing{}, refusal
	}
	return standing, Accepted
}

// redirects returns how many redirects in a row lead to the URLs that the exchange names.
func (from Referrer) redirects() (uint32, Refusal) {
	switch {
	case from.Via != weftpb.Via_VIA_REDIRECT:
		return 0, Accepted
	case from.Redirects >= MaxRedirects:
		return 0, TooManyRedirects
	}
	return from.Redirects + 1, Accepted
}

// forbids applies what refuses pages and sitemaps alike.
func (p *Policy) forbids(standing Standing, target urls.URL) Refusal {
	switch {
	case p.maxDepth != NoDepthLimit && int64(standing.Depth) > int64(p.maxDepth):
		return TooDeep
	case matchesAny(p.exclude, target):
		return Excluded
	}
	return Accepted
}

func (p *Policy) within(from Referrer, target urls.URL, domain string) bool {
	switch p.mode {
	case Host:
		return target.Host() == from.URL.Host()
	case Domain:
		return domain == from.Domain
	case Prefix:
		// Without a root no link is in scope.
		return from.Root != "" && strings.HasPrefix(target.String(), from.Root)
	default:
		return true
	}
}

// ExcludedBy is the first exclude pattern that a URL matches, to be shown to users;
// empty: it matches none.
func (p *Policy) ExcludedBy(target urls.URL) string {
	if i := firstMatch(p.exclude, target); i >= 0 {
		return p.exclude[i].String()
	}
	return ""
}

func matchesAny(patterns []*regexp.Regexp, u urls.URL) bool { return firstMatch(patterns, u) >= 0 }

// firstMatch is the number of the first pattern that a URL matches, or -1.
func firstMatch(patterns []*regexp.Regexp, u urls.URL) int {
	return slices.IndexFunc(patterns, func(pattern *regexp.Regexp) bool { return pattern.MatchString(u.String()) })
}
