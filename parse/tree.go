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
	var muting *html.Node // the outermost
	for n := root; ; {
		if muting == nil && n.Type == html.ElementNode && c.mutes(n.DataAtom, n.Attr) {
			muting, c.muted = n, true
		}
		if c.enter(n) && n.FirstChild != nil {
			n = n.FirstChild
			continue
		}
		for {
			if n == root {
				return true
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

// enter reports whether the children of n are to be visited.
func (c *collector) enter(n *html.Node) bool {
	switch n.Type {
	case html.TextNode:
		c.text(n.Data)
		return false
	case html.ElementNode:
		return c.open(n.DataAtom, roleOf(n.DataAtom), n.Attr)
	case html.DocumentNode:
		return true
	}
	return false
}
