package why

import (
	"fmt"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/scope"
	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/urls"
)

// Scope says whether a URL belongs to the crawl under the definition in force.
type Scope struct {
	In bool `json:"in"`
	// Rule names what decides: seed, host, domain, prefix, any, or a reason of
	// package scope: out_of_scope, excluded, not_included, too_deep, and those of
	// the shapes of URLs.
	Rule string `json:"rule"`
	// Text is the sentence for people, without a full stop.
	Text string `json:"text"`
	// AsSeed is set when it is out of scope as a link and somebody who asks for
	// it as a seed would get it.
	AsSeed bool `json:"as_seed,omitempty"`
}

// within is why a URL is in scope, by mode.
var within = map[scope.Mode]string{
	scope.Host:   "it is on the same host as %s (--scope host)",
	scope.Domain: "it is in the same domain as %s (--scope domain)",
	scope.Prefix: "it is below the directory of the seed that %s comes from (--scope prefix)",
	scope.Any:    "every link is followed, as that of %s (--scope any)",
}

// judge answers for a URL that from would name.
func judge(d topics.Definition, p *scope.Policy, from scope.Referrer, url urls.URL, domain string) Scope {
	_, refusal := p.Judge(from, url, domain)
	if refusal != scope.Accepted {
		return refused(d, p, refusal, url)
	}
	if from.Seed && from.Via == weftpb.Via_VIA_REDIRECT {
		return Scope{In: true, Rule: "seed", Text: "the seed " + from.URL.String() + " redirects to it"}
	}
	return Scope{In: true, Rule: d.Scope, Text: fmt.Sprintf(within[scope.Mode(d.Scope)], from.URL)}
}

// judgeSeed answers for a URL that somebody asks for.
func judgeSeed(d topics.Definition, p *scope.Policy, url urls.URL) Scope {
	if _, refusal := p.Seed(url); refusal != scope.Accepted {
		return refused(d, p, refusal, url)
	}
	return Scope{In: true, Rule: "seed", Text: "somebody asked for it"}
}

func refused(d topics.Definition, p *scope.Policy, refusal scope.Refusal, url urls.URL) Scope {
	s := Scope{Rule: string(refusal)}
	switch refusal {
	case scope.Excluded:
		s.Text = fmt.Sprintf("it matches --exclude %s", p.ExcludedBy(url))
		return s
	case scope.NotIncluded:
		s.Text = "it matches no --include"
	case scope.TooDeep:
		s.Text = fmt.Sprintf("it would be more than %d links away from a seed (--max-depth)", d.MaxDepth)
	case scope.OutOfScope:
		s.Text = outside[scope.Mode(d.Scope)]
	default:
		s.Text = shapes[refusal]
	}
	s.AsSeed = true
	return s
}

// outside is why a URL is out of scope, by mode.
var outside = map[scope.Mode]string{
	scope.Host:   "no page of its host is in the crawl, and links stay on their host (--scope host)",
	scope.Domain: "no page of its domain is in the crawl, and links stay in their domain (--scope domain)",
	scope.Prefix: "it is below no directory of a seed (--scope prefix)",
}

// candidate finds, among the URLs of a domain that are in the crawl, a page
// whose link to a URL would be in scope; else it keeps the refusal that came
// closest to acceptance.
type candidate struct {
	asker   *Asker
	url     urls.URL
	domain  string
	verdict Scope
	judged  bool
	// deepest is the depth of the deepest URL, and redirected the first one to
	// which as many redirects in a row lead as are followed.
	deepest    uint32
	redirected string
}

// try considers a page of the crawl.
func (c *candidate) try(t *weftpb.Target) {
	c.deepest = max(c.deepest, t.Depth)
	if c.redirected == "" && t.Redirects >= scope.MaxRedirects {
		c.redirected = t.Url
	}
	if c.judged && c.verdict.In {
		return
	}
	page, refusal := urls.Parse(t.Url)
	if refusal != urls.Accepted {
		return
	}
	verdict := judge(c.asker.definition, c.asker.policy, scope.Referrer{
		URL: page, Domain: c.domain, Depth: t.Depth, Root: t.ScopeRoot, Via: weftpb.Via_VIA_LINK,
	}, c.url, c.domain)
	if !c.judged || verdict.In || c.verdict.Rule == string(scope.OutOfScope) {
		c.verdict, c.judged = verdict, true
	}
}

// tooDeep tells whether links of some pages would be.
func (c *candidate) tooDeep() bool {
	most := c.asker.definition.MaxDepth
	return most != scope.NoDepthLimit && int64(c.deepest) >= int64(most)
}

// answer is the verdict on a URL that nobody has named.
func (c *candidate) answer() Scope {
	a := c.asker
	if seed := judgeSeed(a.definition, a.policy, c.url); !seed.In {
		return seed // nothing lets it in
	}
	if !c.judged {
		// Pages of other domains matter only where every link is followed.
		from := scope.Referrer{Domain: "\x00", Via: weftpb.Via_VIA_LINK}
		c.verdict = judge(a.definition, a.policy, from, c.url, c.domain)
		if c.verdict.In {
			c.verdict.Text = "a link to it from any page is followed (--scope any)"
		}
		return c.verdict
	}
	if c.verdict.In {
		c.verdict.Text = "a link to it would be taken: " + c.verdict.Text
	}
	return c.verdict
}
