package parse

import (
	"bytes"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
)

// tree feeds the collector from a parse tree. It reports false, having fed
// nothing, when the parser refuses the document.
func (c *collector) tree(body []byte) bool {
	doc, err := goquery.NewDocumentFromReader(bytes.NewReader(body))
	if err != nil {
		return false
	}
	// One walk for everything: a selector for each thing wanted would go over
	// all nodes every time. Trees are followed by their pointers, not by
	// recursion: adoption can nest them deeper than the parser's own stack.
	root := doc.Nodes[0]
	for n := root; ; {
		if c.enter(n) && n.FirstChild != nil {
			n = n.FirstChild
			continue
		}
		for {
			if n == root {
				return true
			}
			if n.Type == html.ElementNode {
				if mutes(n.DataAtom, n.Attr) {
					c.muted = max(c.muted-1, 0)
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

// enter reports whether the children of n are to be visited.
func (c *collector) enter(n *html.Node) bool {
	switch n.Type {
	case html.TextNode:
		c.text(n.Data)
		return false
	case html.ElementNode:
		inside := c.open(n.DataAtom, roleOf(n.DataAtom), n.Attr)
		if mutes(n.DataAtom, n.Attr) {
			c.muted++
		}
		return inside
	case html.DocumentNode:
		return true
	}
	return false
}
