package webserver

import (
	"crypto/sha256"
	"encoding/hex"
	"html"
	"iter"
	"strings"
)

// Page is what a correct parser must find in a page of a generated web.
type Page struct {
	URL, Domain, Path string
	Title             string
	// Text is everything visible in the body, in document order and without the title
	// element. Each run of white space is one space.
	Text string
	// Links are the hrefs of all anchors as written, in document order.
	Links []string
	// Bytes of the HTML.
	Bytes int
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
	markup, links := g.render(d, n, port, nil)
	p := &Page{URL: Origin(domain, port) + path, Domain: domain, Path: path, Title: g.title(d, n), Text: visible(string(markup)), Bytes: len(markup)}
	for _, l := range links {
		p.Links = append(p.Links, l.href)
	}
	return p
}

// visible is the text of a page, in whose body each < that is not escaped begins a tag.
func visible(markup string) string {
	_, body, _ := strings.Cut(markup, "<body>")
	var text strings.Builder
	for part := range strings.SplitSeq(body, "<") {
		_, after, _ := strings.Cut(part, ">")
		text.WriteString(after)
	}
	return strings.Join(strings.Fields(html.UnescapeString(text.String())), " ")
}

// Pages yields domain and path of every page that exists, domain by domain.
// All are linked from the root of their domain over other pages of it.
func (g *Generated) Pages() iter.Seq2[string, string] {
	return func(yield func(domain, path string) bool) {
		for d, domain := range g.Domains() {
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
