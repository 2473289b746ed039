package variants

import "github.com/weftcrawl/weft/internal/kv"

// Account is what is known of one site, for people.
type Account struct {
	Site string
	// Rules that anything is known of.
	Rules []RuleAccount
	// Merged counts merged URLs, by learnt or other rules.
	Merged int
}

// RuleAccount is what is known of a rule of a site.
type RuleAccount struct {
	Rule string
	// InForce, or Broken for good; neither: it is being learnt.
	InForce, Broken bool
	// Silent: no page was read yet at any origin to which the rule leads. It merges no
	// URL, although it is in force.
	Silent bool
	// Points of Enough speak for it, from so many Paths.
	Points, Paths int
}

// Enough points bring a rule into force.
const Enough = enough

// Accounts returns the accounts of all sites, in the order of their names.
func (b *Sites) Accounts() (all []Account) {
	for key, value := range kv.Below(b.store, []byte(sitePrefix)) {
		s, name := decode(value), string(key[len(sitePrefix):])
		answered := decodePages(b.store.Get(pagesKey(name))).answered
		a := Account{Site: name, Merged: int(s.merged)}
		for r := range Rule(rules) {
			if st, ok := s.rules[r]; ok {
				a.Rules = append(a.Rules, RuleAccount{
					Rule: r.String(), InForce: st.inForce(), Broken: st.broken, Points: st.points(), Paths: len(st.paths),
					Silent: elsewhere.Has(r) && leadsTo[r]&answered == 0,
				})
			}
		}
		if len(a.Rules) > 0 || a.Merged > 0 {
			all = append(all, a)
		}
	}
	return all
}
