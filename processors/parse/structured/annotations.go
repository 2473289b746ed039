package structured

import (
	"iter"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/weftcrawl/weft/processors/parse/extract"
)

// annotations reads microdata and RDFa of the tree.
func (p *page) annotations() {
	if p.Tree == nil {
		if p.Page.Annotated && p.NoTree != "" {
			p.problem(HTML, p.NoTree, "")
		}
		return
	}
	items, rdfa := p.look()
	if len(items) > 0 {
		p.microdata(items)
	}
	if rdfa {
		p.rdfa()
	}
}

// look finds what there is in the tree: items of microdata that are not in another one, whether there is
// RDFa, and the elements with the date of publication.
func (p *page) look() (items []*html.Node, rdfa bool) {
	for n := range elements(p.Tree) {
		if !p.step(HTML, 1) {
			return items, false
		}
		for i := range n.Attr {
			switch n.Attr[i].Key {
			case "itemscope":
				if _, ok := attribute(n, "itemprop"); !ok {
					items = append(items, n)
				}
			case "typeof":
				rdfa = true
			case "property":
				rdfa = rdfa || n.DataAtom != atom.Meta
			case "pubdate":
				if n.DataAtom == atom.Time && len(p.times) < p.opts.MaxEntries {
					p.times = append(p.times, n)
				}
			}
		}
	}
	return items, rdfa
}

// elements are the elements in a node, in document order, without what is in a template.
func elements(root *html.Node) iter.Seq[*html.Node] {
	return func(yield func(*html.Node) bool) {
		for n := next(root, root, true); n != nil; n = next(n, root, n.DataAtom != atom.Template) {
			if n.Type == html.ElementNode && !yield(n) {
				return
			}
		}
	}
}

// next is the node behind n in document order, within root; nil: there is none. inside: children of n
// come first.
func next(n, root *html.Node, inside bool) *html.Node {
	if inside && n.FirstChild != nil {
		return n.FirstChild
	}
	for n != root {
		if n.NextSibling != nil {
			return n.NextSibling
		}
		n = n.Parent
	}
	return nil
}

// attribute is the value of an attribute, and whether there is one.
func attribute(n *html.Node, key string) (string, bool) {
	for i := range n.Attr {
		if n.Attr[i].Key == key && n.Attr[i].Namespace == "" {
			return n.Attr[i].Val, true
		}
	}
	return "", false
}

// words are the parts of an attribute that has several.
func (p *page) words(source string, n *html.Node, key string) []string {
	value, _ := attribute(n, key)
	if value == "" || !p.step(source, len(value)/bytesPerStep) {
		return nil
	}
	return strings.Fields(value)
}

// textOf is the text of an element, on one line.
func (p *page) textOf(source string, n *html.Node) string {
	text, visited := extract.TextOf(n, 2*p.opts.MaxValueBytes)
	if !p.step(source, visited) {
		return ""
	}
	return p.line(source, text)
}

// bytesPerStep is how many bytes of a text are as much work as a node.
const bytesPerStep = 16

// line is a text on one line, and not much longer than the bound of a value. A page may have a text that
// is read for many values.
func (p *page) line(source, text string) string {
	if !p.step(source, len(text)/bytesPerStep) {
		return ""
	}
	return extract.OneLine(text[:min(len(text), 4*p.opts.MaxValueBytes)], p.opts.MaxValueBytes+1)
}
