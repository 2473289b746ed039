package why

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/replay"
	"github.com/weftcrawl/weft/urls"
	"github.com/weftcrawl/weft/variants"
)

// StandIn is the URL that is crawled instead of another one of its site.
type StandIn struct {
	URL string `json:"url"`
	// Rules that the site has shown; none: those of the crawl's definition.
	Rules []string `json:"rules,omitempty"`
}

// text is the stand-in in a sentence.
func (s *StandIn) text() string {
	by := "by a rule of the crawl's definition"
	if len(s.Rules) > 0 {
		by = fmt.Sprintf("as its site has shown (%s)", strings.Join(s.Rules, ", "))
	}
	return fmt.Sprintf("It is not crawled: %s stands for it, %s. What became of that one: weft why %s", s.URL, by, s.URL)
}

// addMerged notes the URLs that the last event gave up.
func (f *finds) addMerged(merged []*weftpb.Merged, also func(*weftpb.Target)) {
	for _, m := range merged {
		f.add(m.Target)
		f.stoodFor[urls.Fingerprint(m.Target.GetUrl())] = &StandIn{URL: m.Kept, Rules: m.Rules}
		if also != nil {
			also(m.Target)
		}
	}
}

// SiteRules are the rules of one site by which its URLs are variants.
type SiteRules struct {
	Site  string     `json:"site"`
	Rules []SiteRule `json:"rules,omitempty"`
	// Merged counts URLs that are not crawled because others stand for them.
	Merged int `json:"merged"`
}

// SiteRule is what is known of one rule. State is learning, in_force, silent or broken; silent is
// one that would be in force if a page had been read where it leads.
type SiteRule struct {
	Rule  string `json:"rule"`
	State string `json:"state"`
	// Points for it, of Needed, from so many different Paths.
	Points int `json:"points"`
	Needed int `json:"needed"`
	Paths  int `json:"paths"`
}

// siteRules folds what dedupe has learnt of a domain's sites.
func (a *Asker) siteRules(ctx context.Context, domain string) (all []SiteRules, err error) {
	store, err := openScratch()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.close()) }()
	book := variants.Open(store)
	part := replay.Part{Partitions: []int32{a.partition(domain)}, Domain: domain, Trimmed: true, Damaged: a.opts.Damaged}
	err = a.logs.DedupedPart(ctx, a.names.Deduped, part, func(e replay.Event[*weftpb.Deduped]) error {
		book.Apply(domain, e.Body)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, account := range book.Accounts() {
		site := SiteRules{Site: account.Site, Merged: account.Merged}
		for _, r := range account.Rules {
			state := "learning"
			switch {
			case r.Broken:
				state = "broken"
			case r.InForce && r.Silent:
				state = "silent"
			case r.InForce:
				state = "in_force"
			}
			site.Rules = append(site.Rules, SiteRule{r.Rule, state, r.Points, variants.Enough, r.Paths})
		}
		all = append(all, site)
	}
	return all, nil
}

// siteLines is how many sites are shown.
const siteLines = 6

func (s *DomainStory) siteText() (lines []string) {
	for i, site := range s.Sites {
		if i == siteLines {
			return append(lines, fmt.Sprintf("... and %s more", plural(int64(len(s.Sites)-i), "site")))
		}
		lines = append(lines, site.text())
	}
	return lines
}

func (s SiteRules) text() string {
	var rules []string
	for _, r := range s.Rules {
		switch r.State {
		case "in_force":
			rules = append(rules, r.Rule+" in force")
		case "silent":
			rules = append(rules, r.Rule+" silent (no page was read where it leads)")
		case "broken":
			rules = append(rules, r.Rule+" broken")
		default:
			rules = append(rules, fmt.Sprintf("%s %d of %d points", r.Rule, r.Points, r.Needed))
		}
	}
	text := s.Site + "  " + strings.Join(rules, ", ")
	if s.Merged > 0 {
		text += fmt.Sprintf("; others stand for %s", plural(int64(s.Merged), "URL"))
	}
	return text
}
