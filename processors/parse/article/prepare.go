package article

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Bounds of what Markdown is made of.
const (
	// maxQuotes is how many lists and quotations are marked that are in one another: each puts
	// a mark in front of each line.
	maxQuotes = 24
	// maxSpan is the largest number of columns or rows of a cell.
	maxSpan = 50
	// maxCells is the size of a table as a rectangle, which all rows are filled up to.
	maxCells = 50_000
)

// prepare makes an article ready for text and Markdown: without comments and permanent links of
// headings, links absolute, the language of code where the converter looks for it, and nothing
// that Markdown would blow up.
func prepare(root *html.Node, base *url.URL) {
	p := preparer{base: base}
	name(root)
	p.element(root, 0, "")
}

type preparer struct{ base *url.URL }

// element prepares what is below n, which is not deeper than Options.MaxDepth. quotes is the
// number of lists and quotations around it, language that of the code in it.
func (p *preparer) element(n *html.Node, quotes int, language string) {
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		switch {
		case c.Type == html.CommentNode, isPermanentLink(c):
			n.RemoveChild(c)
		case c.Type == html.TextNode:
			next = joined(c)
		case c.Type == html.ElementNode:
			p.one(c, quotes, language)
		}
		c = next
	}
}

func (p *preparer) one(n *html.Node, quotes int, language string) {
	name(n)
	switch n.DataAtom {
	case atom.A:
		p.link(n, "href", "mailto")
		drop(n, "title") // a tooltip
	case atom.Img:
		if p.link(n, "src"); attribute(n, "src") == "" {
			rename(n, atom.Span)
		}
	case atom.Ul, atom.Ol, atom.Blockquote:
		if quotes++; quotes > maxQuotes {
			rename(n, atom.Div)
		}
	case atom.Table:
		if !isModest(n) {
			flatten(n)
		}
	case atom.Pre, atom.Code:
		if language != "" && !strings.Contains(attribute(n, "class"), "lang") {
			set(n, "class", "language-"+language)
		}
	}
	if of := languageIn(attribute(n, "class")); of != "" {
		language = of
	}
	p.element(n, quotes, language)
}

// joined makes one node of a text and the texts behind it, and returns the node behind them.
func joined(n *html.Node) *html.Node {
	next := n.NextSibling
	if next == nil || next.Type != html.TextNode && next.Type != html.CommentNode {
		return next
	}
	var all strings.Builder
	all.WriteString(n.Data)
	for next != nil && (next.Type == html.TextNode || next.Type == html.CommentNode) {
		if next.Type == html.TextNode {
			all.WriteString(next.Data)
		}
		behind := next.NextSibling
		n.Parent.RemoveChild(next)
		next = behind
	}
	n.Data = all.String()
	return next
}

// isPermanentLink tells whether n is a link beside a heading that leads to the heading.
func isPermanentLink(n *html.Node) bool {
	if n.DataAtom != atom.A || !strings.HasPrefix(attribute(n, "href"), "#") {
		return false
	}
	switch c := n.FirstChild; {
	case c == nil:
		return false // it may be a target
	case c.Type == html.TextNode && c.NextSibling == nil:
		return slices.Contains([]string{"¶", "#", "§", "🔗"}, strings.TrimSpace(c.Data))
	}
	return false
}

// link makes a reference absolute. One of another scheme than http, https and others is removed.
func (p *preparer) link(n *html.Node, name string, others ...string) {
	written := strings.TrimSpace(attribute(n, name))
	if written == "" {
		return
	}
	ref, err := p.base.Parse(written)
	if err != nil || ref.Scheme != "http" && ref.Scheme != "https" && !slices.Contains(others, ref.Scheme) {
		drop(n, name)
		return
	}
	set(n, name, ref.String())
}

func drop(n *html.Node, name string) {
	n.Attr = slices.DeleteFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
}

// languageIn is the language of code that a class names, as Sphinx, GitHub and Pandoc do:
// highlight-python3, highlight-source-go, sourceCode ruby.
func languageIn(class string) string {
	names := strings.Fields(class)
	for i, name := range names {
		if rest, ok := strings.CutPrefix(name, "highlight-"); ok {
			rest = strings.TrimPrefix(strings.TrimPrefix(rest, "source-"), "text-")
			if rest != "default" && rest != "none" && rest != "notranslate" {
				return rest
			}
		}
		if name == "sourceCode" && i+1 < len(names) {
			return names[i+1]
		}
	}
	return ""
}

// isModest tells whether a table may be one in Markdown, where each row has all columns. It
// makes large spans small.
func isModest(table *html.Node) bool {
	var rows []int // the number of columns of each row
	row, columns := -1, 0
	for n := range table.Descendants() {
		switch n.DataAtom {
		case atom.Tr:
			row++
		case atom.Td, atom.Th:
			across, down := span(n, "colspan"), span(n, "rowspan")
			for at := max(row, 0); at < max(row, 0)+down; at++ {
				for at >= len(rows) {
					rows = append(rows, 0)
				}
				rows[at] += across
				columns = max(columns, rows[at])
			}
		}
	}
	return max(row+1, len(rows))*columns <= maxCells
}

func span(cell *html.Node, name string) int {
	written := attribute(cell, name)
	if written == "" {
		return 1
	}
	size, err := strconv.Atoi(written)
	if err != nil || size < 1 {
		size = 1
	}
	if size > maxSpan {
		size = maxSpan
	}
	set(cell, name, strconv.Itoa(size))
	return size
}

// flatten makes a table one of blocks.
func flatten(table *html.Node) {
	rename(table, atom.Div)
	for n := range table.Descendants() {
		switch n.DataAtom {
		case atom.Table, atom.Tr, atom.Thead, atom.Tbody, atom.Tfoot, atom.Caption:
			rename(n, atom.Div)
		case atom.Td, atom.Th:
			rename(n, atom.Span)
		}
	}
}

// maxLookahead is how many bytes the converter may look at to see whether brackets are closed.
const maxLookahead = 100 << 20

// isBracketed tells whether the converter would look at too many bytes: behind each "[" of the
// text it looks for "]" up to the end of the line.
func isBracketed(root *html.Node) bool {
	at, open, sum, looked := 0, 0, 0, 0
	end := func() {
		looked += open*at - sum
		open, sum = 0, 0
	}
	for n := range root.Descendants() {
		switch n.Type {
		case html.ElementNode:
			switch n.DataAtom {
			case atom.P, atom.Div, atom.Li, atom.Br, atom.Tr, atom.Td, atom.H2, atom.H3:
				end()
			}
		case html.TextNode:
			for i := range len(n.Data) {
				switch n.Data[i] {
				case '[':
					open, sum = open+1, sum+at+i
				case ']':
					at += i
					end()
					at -= i
				}
			}
			at += len(n.Data)
		}
	}
	end()
	return looked > maxLookahead
}

// name gives an element the atom of its name. Readability makes paragraphs, of lines and of div elements, without
// one, so that their texts would be one line.
func name(n *html.Node) { n.DataAtom = atom.Lookup([]byte(n.Data)) }

func rename(n *html.Node, to atom.Atom) { n.DataAtom, n.Data = to, to.String() }

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func set(n *html.Node, name, value string) {
	for i := range n.Attr {
		if n.Attr[i].Key == name {
			n.Attr[i].Val = value
			return
		}
	}
	n.Attr = append(n.Attr, html.Attribute{Key: name, Val: value})
}
