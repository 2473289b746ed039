package document

import (
	"bytes"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
)

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
