package webtest

import (
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"strings"
)

// Page is a page of a generated web as a faithful parser must find it.
type Page struct {
	URL, Domain, Path string
	Title             string
	// Text is everything visible in the body in document order, each run of
	// white space folded to one space, without the title element.
	Text string
	// Links are the hrefs of all anchors as written, in document order.
	Links []string
	// Bytes of the HTML.
	Bytes int

	text strings.Builder
}

// TextSum is the SHA-256 of the text in lower-case hexadecimal.
func (p *Page) TextSum() string {
	sum := sha256.Sum256([]byte(p.Text))
	return hex.EncodeToString(sum[:])
}

// Page describes the page at path of domain; nil when there is none.
func (g *Generated) Page(domain string, port int, path string) *Page {
	d, ok := domainNumber(domain)
	if !ok || d >= g.options.Domains {
		return nil
	}
	n, ok := g.number(d, path)
	if !ok {
		return nil
	}
	p := &Page{URL: Origin(domain, port) + path, Domain: domain, Path: path}
	g.render(d, n, port, nil, p)
	return p
}

// Pages yields domain and path of every page that exists, domain by domain.
// All are linked from the root of their domain over other pages of it.
func (g *Generated) Pages() iter.Seq2[string, string] {
	return func(yield func(domain, path string) bool) {
		for d := range g.options.Domains {
			domain := DomainAddr(d)
			for n := range g.pages(d) {
				if !yield(domain, g.path(d, n)) {
					return
				}
			}
		}
	}
}

// Denied reports whether the domain's robots.txt denies the path.
func (g *Generated) Denied(domain, path string) bool {
	d, ok := domainNumber(domain)
	return ok && g.hasRobots(d) && strings.HasPrefix(path, deniedPrefix)
}
