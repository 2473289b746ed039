package document

import (
	"bytes"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
)

// Tree makes the tree of an HTML document that was read as page, for readers that need more of
// it than page has. There is none if page is of another format or has no contents. There is
// none either, and why says so, if the document was read by its tokens (Page.Fallback).
func (p *Parser) Tree(in Input, page *Page) (tree *goquery.Document, why string) {
	if kindOfMedia(page.MediaType) != mediaHTML || page.Unparsed != "" {
		return nil, ""
	}
	if page.Fallback != "" {
		return nil, page.Fallback
	}
	body, _ := markup(in, typeOf(in))
	doc, err := goquery.NewDocumentFromReader(bytes.NewReader(withEnds(body)))
	if err != nil {
		return nil, TooDeep
	}
	return doc, ""
}

// Text returns what Page.Text is of a part of a document, root included.
func (p *Parser) Text(root *html.Node) (text string, truncated bool) {
	c := p.collectors.Get().(*collector)
	page := &Page{}
	c.begin(page, "")
	c.walk(root)
	c.finish()
	p.collectors.Put(c)
	return page.Text, page.TextTruncated
}

// tree gives the elements of a parse tree to the collector. It returns false, and gives
// nothing, if the parser refuses the document.
func (c *collector) tree(body []byte) bool {
	doc, err := goquery.NewDocumentFromReader(bytes.NewReader(body))
	if err != nil {
		return false
	}
	c.walk(doc.Nodes[0])
	return true
}

// walk gives the elements below root to the collector, and root itself.
//
// There is one walk for everything. A selector goes over all nodes: one query for the
// title and for scripts with data took 5 % of the time of a whole page. The walk follows
// pointers and does not recurse: adoption can nest trees deeper than the parser's stack.
func (c *collector) walk(root *html.Node) {
	var muting *html.Node // the outermost
	for n := root; ; {
		inside := n.Type == html.DocumentNode
		switch n.Type {
		case html.TextNode:
			c.text(n.Data)
		case html.ElementNode:
			if muting == nil && c.mutes(n.DataAtom, n.Attr) {
				muting, c.muted = n, true
			}
			inside = c.open(n.DataAtom, roleOf(n.DataAtom), n.Attr)
		}
		if inside && n.FirstChild != nil {
			n = n.FirstChild
			continue
		}
		for {
			if n == root {
				return
			}
			if n.Type == html.ElementNode {
				if n == muting {
					muting, c.muted = nil, false
				}
				c.close(roleOf(n.DataAtom))
			}
			if n.NextSibling != nil {
				n = n.NextSibling
				break
			}
			n = n.Parent
		}
	}
}
