package scope

import (
	"math"
	"regexp"
	"strings"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/urls"
)

// Refusal is the reason why a URL is not in scope; the zero value means that it
// is. The values are stable: they label metrics and records.
type Refusal string

const (
	// Accepted is the absence of a refusal.
	Accepted Refusal = ""
	// OutOfScope is a URL outside of the host, domain or prefix.
	OutOfScope Refusal = "out_of_scope"
	// Excluded is a URL that matches an exclude pattern.
	Excluded Refusal = "excluded"
	// NotIncluded is a URL that matches no include pattern.
	NotIncluded Refusal = "not_included"
	// TooDeep is a URL more links away from its seed than the limit.
	TooDeep Refusal = "too_deep"
	// TooManyRedirects is a URL to which more than MaxRedirects redirects in a
	// row lead.
	TooManyRedirects Refusal = "too_many_redirects"
)

// MaxRedirects is how many redirects in a row are followed, as many as browsers
// follow (Fetch Standard, HTTP-redirect fetch). A loop ends before, at a URL
// that is known; a chain whose every hop has a URL of its own would never.
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
	// Seed is set when URL is a seed, or what a seed redirected to.
	Seed bool
	// Root is the prefix that links may not leave; it matters with Prefix.
	Root string
	// Via is how the exchange names its URLs: link, redirect or sitemap.
	Via weftpb.Via
	// Redirects in a row led to URL.
	Redirects uint32
}

// Standing is what a URL in scope brings with it into the frontier.
type Standing struct {
	Depth uint32
	// Via is VIA_SEED for the redirect target of a seed, so that a chain of
	// redirects from a seed is followed to its end.
	Via weftpb.Via
	// Root is set only with Prefix.
	Root string
	// Redirects in a row lead to it, this one included.
	Redirects uint32
}

// Seed judges a URL that somebody asked for. Only an exclude pattern keeps it
// out.
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

// Judge judges a URL that an exchange names; domain is the registrable domain
// of target. Depth counts links: redirects and sitemap entries keep the
// referrer's.
func (p *Policy) Judge(from Referrer, target urls.URL, domain string) (Standing, Refusal) {
	var redirects uint32
	if from.Via == weftpb.Via_VIA_REDIRECT {
		if from.Redirects >= MaxRedirects {
			return Standing{}, TooManyRedirects
		}
		redirects = from.Redirects + 1
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
	switch {
	case !p.within(from, target, domain):
		return Standing{}, OutOfScope
	case p.maxDepth != NoDepthLimit && int64(standing.Depth) > int64(p.maxDepth):
		return Standing{}, TooDeep
	case matchesAny(p.exclude, target):
		return Standing{}, Excluded
	case len(p.include) > 0 && !matchesAny(p.include, target):
		return Standing{}, NotIncluded
	}
	if refusal := p.limits.judge(target); refusal != Accepted {
		return Standing{}, refusal
	}
	return standing, Accepted
}

// within reports whether target is near enough to its referrer.
func (p *Policy) within(from Referrer, target urls.URL, domain string) bool {
	switch p.mode {
	case Host:
		return target.Host() == from.URL.Host()
	case Domain:
		return domain == from.Domain
	case Prefix:
		// An empty root is no root, not the root of everything.
		return from.Root != "" && strings.HasPrefix(target.String(), from.Root)
	default:
		return true
	}
}

// ExcludedBy is the first exclude pattern that a URL matches, for people; empty
// when it matches none.
func (p *Policy) ExcludedBy(target urls.URL) string {
	for _, pattern := range p.exclude {
		if pattern.MatchString(target.String()) {
			return pattern.String()
		}
	}
	return ""
}

func matchesAny(patterns []*regexp.Regexp, u urls.URL) bool {
	for _, pattern := range patterns {
		if pattern.MatchString(u.String()) {
			return true
		}
	}
	return false
}
