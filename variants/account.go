package variants

// Account is what is known of one site, for people.
type Account struct {
	Site string
	// Rules that anything is known of.
	Rules []RuleAccount
	// Merged counts URLs that are given up, by learnt or other rules.
	Merged int
}

// RuleAccount is what is known of a rule of a site.
type RuleAccount struct {
	Rule string
	// InForce, or Broken for good, or neither: it is being learnt.
	InForce, Broken bool
	// Silent: no page was read yet at any origin to which the rule leads. It takes no
	// URL, though it is in force.
	Silent bool
	// Points of Enough speak for it, from so many Paths.
	Points, Paths int
}

// Enough points bring a rule into force.
const Enough = enough

// Accounts are those of all sites, in the order of their names.
func (b *Book) Accounts() (all []Account) {
	b.store.Scan([]byte(sitePrefix), []byte(siteEnd), func(key, value []byte) bool {
		s := decode(value)
		answered := decodePages(b.store.Get(pagesKey(string(key[len(sitePrefix):])))).answered
		a := Account{Site: string(key[len(sitePrefix):]), Merged: int(s.merged)}
		for r := range Rule(rules) {
			if st, ok := s.rules[r]; ok {
				a.Rules = append(a.Rules, RuleAccount{
					Rule: r.String(), InForce: st.inForce(), Broken: st.broken, Points: st.points(), Paths: len(st.paths),
					Silent: elsewhere.Has(r) && leadsTo(r)&answered == 0,
				})
			}
		}
		if len(a.Rules) > 0 || a.Merged > 0 {
			all = append(all, a)
		}
		return true
	})
	return all
}
