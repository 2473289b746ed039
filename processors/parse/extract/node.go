package extract

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// TextOf returns the text in a node, without scripts and styles, with blanks where lines and cells
// begin and end. It ends behind the node with which it is longer than most bytes. visited is the number
// of nodes that were looked at.
func TextOf(root *html.Node, most int) (text string, visited int) {
	var b strings.Builder
	for n := range root.Descendants() {
		visited++
		switch {
		case b.Len() > most:
			return b.String(), visited
		case n.Type == html.TextNode:
			switch n.Parent.DataAtom {
			case atom.Script, atom.Style, atom.Noscript, atom.Noframes, atom.Noembed, atom.Iframe, atom.Template:
				continue
			}
			b.WriteString(n.Data)
		case n.Type == html.ElementNode && !isInline(n.DataAtom):
			b.WriteByte(' ')
		}
		for m := n; n.FirstChild == nil && m != root && m.NextSibling == nil; m = m.Parent { // the ends of elements
			if p := m.Parent; p != root && !isInline(p.DataAtom) {
				b.WriteByte(' ')
			}
		}
	}
	return b.String(), visited
}

func isInline(a atom.Atom) bool {
	switch a {
	case atom.A, atom.Abbr, atom.B, atom.Bdi, atom.Bdo, atom.Big, atom.Cite, atom.Code, atom.Data, atom.Del, atom.Dfn, atom.Em, atom.Font,
		atom.I, atom.Ins, atom.Kbd, atom.Mark, atom.Q, atom.S, atom.Samp, atom.Small, atom.Span, atom.Strong, atom.Sub, atom.Sup, atom.Time,
		atom.Tt, atom.U, atom.Var, atom.Wbr, 0:
		return true
	}
	return false
}
