package parse

import "github.com/weftcrawl/weft/urls"

// canonical takes one statement of the page's canonical URL. The header's come
// before those of elements.
func (c *collector) canonical(href string) {
	switch href = cut(href, c.opts.MaxHrefBytes); {
	case href == "" || href == c.page.Canonical:
	case c.page.Canonical == "":
		c.page.Canonical = href
	case len(c.canonicals) < maxCanonicals:
		c.canonicals = append(c.canonicals, href)
	}
}

// maxCanonicals bounds the further statements that are compared with the first.
const maxCanonicals = 8

// settleCanonical drops the canonical URL of a page that states two. RFC 6596
// has no rule for that; to believe either would give whoever can add a line to
// a page, or a misconfigured server in front of it, the page's name.
func (c *collector) settleCanonical() {
	for _, other := range c.canonicals {
		if !c.same(c.page.Canonical, other) {
			c.page.Canonical, c.page.CanonicalConflict = "", true
			return
		}
	}
}

// same reports whether two references name one URL.
func (c *collector) same(a, b string) bool {
	source, refusal := urls.Parse(c.self)
	if refusal != urls.Accepted {
		return false
	}
	base := urls.NewBase(source)
	if to, refusal := base.Resolve(c.page.Base); c.page.Base != "" && refusal == urls.Accepted {
		base = urls.NewBase(to)
	}
	x, refusedX := base.Resolve(a)
	y, refusedY := base.Resolve(b)
	return refusedX == urls.Accepted && refusedY == urls.Accepted && x.String() == y.String()
}
