package document

import (
	"bytes"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"

	"github.com/weftcrawl/weft/internal/mediatype"
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
	body, _ := markup(in, mediatype.Of(in.ContentType))
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

// Shape is what decides how long it takes to go over a tree in a way that is not one walk.
type Shape struct {
	Nodes int
	// Depth is that of the deepest node.
	Depth int
	// Within is the number of pairs of a node and a node that contains it. A node of text
	// counts once more for each 8 bytes.
	Within int
	// Beside is the number of pairs of a node and a node in front of it with the same parent.
	Beside int
}

// ShapeOf looks at the tree below root.
func ShapeOf(root *html.Node) (s Shape) {
	depth := 0
	for n := root; ; {
		s.Nodes++
		s.Depth = max(s.Depth, depth)
		s.Within += depth
		if n.Type == html.TextNode {
			s.Within += depth * (len(n.Data) / 8)
		}
		if n.FirstChild != nil {
			children := 0
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				s.Beside += children
				children++
			}
			n = n.FirstChild
			depth++
			continue
		}
		for n != root && n.NextSibling == nil {
			n = n.Parent
			depth--
		}
		if n == root {
			return s
		}
		n = n.NextSibling
	}
}
