package why

import (
	"fmt"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/normalize/scope"
)

// Scope says whether a URL belongs to the crawl under the definition in force.
type Scope struct {
	In bool `json:"in"`
	// Rule decides: seed, host, domain, prefix, any, or a reason of package scope:
	// out_of_scope, excluded, not_included, too_deep, and those for the shape of a URL.
	Rule string `json:"rule"`
	// Text is a sentence without a full stop.
	Text string `json:"text"`
	// AsSeed: it is out of scope as a link, and would be accepted as a seed.
	AsSeed bool `json:"as_seed,omitempty"`
}

// The reasons of verdicts: why a URL is in scope and why it is out of scope, by mode, and
// other refusals.
var (
	inside = map[scope.Mode]string{
		scope.Host:   "it is on the same host as %s (--scope host)",
		scope.Domain: "it is in the same domain as %s (--scope domain)",
		scope.Prefix: "it is below the directory of the seed that %s comes from (--scope prefix)",
		scope.Any:    "every link is followed, as that of %s (--scope any)",
	}
	outside = map[scope.Mode]string{
		scope.Host:   "no page of its host is in the crawl, and links stay on their host (--scope host)",
		scope.Domain: "no page of its domain is in the crawl, and links stay in their domain (--scope domain)",
		scope.Prefix: "it is below no directory of a seed (--scope prefix)",
	}
	refused = map[scope.Refusal]string{
		scope.NotIncluded:      "it matches no --include",
		scope.TooManySegments:  "its path has too many segments (--max-path-segments)",
		scope.RepeatedSegments: "its path repeats the same segments (--max-path-repeats)",
		scope.TooManyParams:    "its query has too many parameters (--max-params)",
		scope.RepeatedParams:   "its query repeats the same parameters (--max-param-repeats)",
		scope.TooManyRedirects: "too many redirects in a row lead to it",
	}
)

// judge judges a URL that the page from names.
func (a *Asker) judge(from scope.Referrer, url urls.URL, domain string) Scope {
	_, refusal := a.policy.Judge(from, url, domain)
	switch {
	case refusal != scope.Accepted:
		return a.refuse(refusal, url)
	case from.Seed && from.Via == weftpb.Via_VIA_REDIRECT:
		return Scope{In: true, Rule: "seed", Text: "the seed " + from.URL.String() + " redirects to it"}
	}
	return Scope{In: true, Rule: a.definition.Scope, Text: fmt.Sprintf(inside[scope.Mode(a.definition.Scope)], from.URL)}
}

// judgeSeed judges a URL as a seed.
func (a *Asker) judgeSeed(url urls.URL) Scope {
	if _, refusal := a.policy.Seed(url); refusal != scope.Accepted {
		return a.refuse(refusal, url)
	}
	return Scope{In: true, Rule: "seed", Text: "it is a seed"}
}

func (a *Asker) refuse(refusal scope.Refusal, url urls.URL) Scope {
	s := Scope{Rule: string(refusal), Text: refused[refusal], AsSeed: refusal != scope.Excluded}
	switch refusal {
	case scope.Excluded:
		s.Text = fmt.Sprintf("it matches --exclude %s", a.policy.ExcludedBy(url))
	case scope.TooDeep:
		s.Text = fmt.Sprintf("it would be more than %d links away from a seed (--max-depth)", a.definition.MaxDepth)
	case scope.OutOfScope:
		s.Text = outside[scope.Mode(a.definition.Scope)]
	}
	return s
}

// candidate looks, among the URLs of a domain that are in the crawl, for a page whose link
// to a URL would be in scope. Without such a page it keeps the refusal that is closest to
// acceptance.
type candidate struct {
	asker   *Asker
	url     urls.URL
	domain  string
	verdict *Scope // nil before the first page
	// deepest is the depth of the deepest URL. redirected is the first URL at the end of
	// as many redirects in a row as are followed.
	deepest    uint32
	redirected string
}

// try considers a page of the crawl.
func (c *candidate) try(t *weftpb.Target) {
	c.deepest = max(c.deepest, t.Depth)
	if c.redirected == "" && t.Redirects >= scope.MaxRedirects {
		c.redirected = t.Url
	}
	if c.verdict != nil && c.verdict.In {
		return
	}
	page, refusal := urls.Parse(t.Url)
	if refusal != urls.Accepted {
		return
	}
	from := scope.Referrer{URL: page, Domain: c.domain, Depth: t.Depth, Root: t.ScopeRoot, Via: weftpb.Via_VIA_LINK}
	verdict := c.asker.judge(from, c.url, c.domain)
	if c.verdict == nil || verdict.In || c.verdict.Rule == string(scope.OutOfScope) {
		c.verdict = &verdict
	}
}

// tooDeep reports whether links of some pages would be too deep.
func (c *candidate) tooDeep() bool {
	most := c.asker.definition.MaxDepth
	return most != scope.NoDepthLimit && int64(c.deepest) >= int64(most)
}

// answer is the verdict on a URL that no record names.
func (c *candidate) answer() Scope {
	seed := c.asker.judgeSeed(c.url)
	switch {
	case !seed.In:
		return seed // no link can be accepted
	case c.verdict != nil && c.verdict.In:
		c.verdict.Text = "a link to it would be followed: " + c.verdict.Text
		return *c.verdict
	case c.verdict != nil:
		return *c.verdict
	}
	// Pages of other domains matter only where every link is followed.
	verdict := c.asker.judge(scope.Referrer{Domain: "\x00", Via: weftpb.Via_VIA_LINK}, c.url, c.domain)
	if verdict.In {
		verdict.Text = "a link to it from any page is followed (--scope any)"
	}
	return verdict
}
