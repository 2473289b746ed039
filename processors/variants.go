package processors

import (
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/scope"
	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/urls"
	"github.com/weftcrawl/weft/variants"
)

// VariantOptions are the rules by which URLs of a site name the same page, as a
// crawl's definition has them.
func VariantOptions(d topics.Definition) (*variants.Options, error) {
	return variants.NewOptions(!d.KeepVariants, d.SamePage)
}

// standing decides which URLs stand for others.
type standing struct {
	options *variants.Options
	policy  *scope.Policy
}

func newStanding(d topics.Definition) (standing, error) {
	options, err := VariantOptions(d)
	if err != nil {
		return standing{}, err
	}
	policy, err := scope.New(ScopeOptions(d))
	return standing{options, policy}, err
}

// decide begins the event of a record of normalized: what is new in it, unseen, less
// what others stand for, and what is learnt. restored are URLs that come back.
func (w standing) decide(s *seen, domain string, n *weftpb.Normalized, unseen []*weftpb.Target) (event *weftpb.Deduped, restored []*weftpb.Target) {
	d := s.sites.Decide(w.options, domain, n, unseen, variants.Surroundings{
		Known:   s.set.Has,
		InScope: w.inScope,
	})
	if len(d.Merged) > 0 {
		d.Targets = s.set.Unseen(d.Targets)
	}
	return &weftpb.Deduped{Targets: d.Targets, Source: n.Source, Evidence: d.Evidence, Merged: d.Merged, Groups: d.Groups, Recalled: d.Recalled}, d.Restored
}

// inScope judges kept as what given redirects to would be, had it been asked
// for: who stays in a host, below a prefix, or within patterns, stays there.
func (w standing) inScope(given *weftpb.Target, kept urls.URL, domain string) bool {
	from, refusal := urls.Parse(given.Url)
	if refusal != urls.Accepted {
		return false
	}
	referrer := scope.Referrer{URL: from, Domain: domain, Depth: given.Depth, Root: given.ScopeRoot, Via: weftpb.Via_VIA_REDIRECT}
	_, outside := w.policy.Judge(referrer, kept, domain)
	return outside == scope.Accepted
}
