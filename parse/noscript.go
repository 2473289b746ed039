package parse

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// noscript lists what a noscript element names. Its contents are read as a browser
// does that runs scripts, which takes them for text up to the first end tag: so the
// element ends where readers of the page see it end, in a table and in the head, too.
// Within it, elements mean what they mean to a browser that runs no scripts (WHATWG
// HTML, the noscript element). The text is left out, but for that of its links; so are
// scripts, templates, and what a frame shows those who see no frames.
func (c *collector) noscript(contents string) {
	anchor, link := c.anchor, c.link
	c.anchor, c.link = prose{limit: c.opts.MaxAnchorBytes, oneLine: true}, -1
	c.inNoscript = true
	c.noscriptTokens(html.NewTokenizer(strings.NewReader(contents)))
	c.endAnchor()
	c.anchor, c.link = anchor, link
	c.inNoscript = false
}

func (c *collector) noscriptTokens(z *html.Tokenizer) {
	var skip skipper
	var attrs []html.Attribute
	for {
		switch z.Next() {
		case html.ErrorToken:
			return

		case html.TextToken:
			if c.link >= 0 && !skip.active() {
				c.anchor.fold(string(z.Text()))
			}

		case html.StartTagToken, html.SelfClosingTagToken:
			tag, more := z.TagName()
			name := atom.Lookup(tag)
			if name == atom.Noscript {
				z.NextIsNotRawText()
			}
			if skip.active() {
				skip.start(name)
				continue
			}
			role := roleOf(name)
			attrs = appendAttributes(attrs[:0], z, more, role.readsAttributes())
			switch role {
			case blockRole, cellRole, breakRole, headingRole, preRole:
				c.anchor.space()
			case skippedRole, scriptRole:
				skip.start(name)
			case frameRole:
				c.frame(name, attrs)
				if name == atom.Iframe {
					skip.start(name)
				}
			default:
				c.reference(name, role, attrs)
			}

		case html.EndTagToken:
			tag, _ := z.TagName()
			switch name := atom.Lookup(tag); {
			case skip.active():
				skip.end(name)
			case name == atom.A:
				c.endAnchor()
			}
		}
	}
}
