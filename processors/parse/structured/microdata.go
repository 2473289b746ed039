package structured

import (
	"cmp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/weftcrawl/weft/codecs"
)

// md reads the microdata of a page (WHATWG HTML section 5, Microdata).
type md struct {
	p *page
	// ids finds elements, and places has the numbers of elements in document order. They are made
	// when an item refers to elements elsewhere.
	ids    map[string]*html.Node
	places map[*html.Node]int
	// within are the items around the one that is read.
	within []*html.Node
}

func (p *page) microdata(items []*html.Node) {
	m := &md{p: p}
	for _, n := range items {
		item := m.item(n)
		if p.full != "" && (item == nil || len(item.Properties) == 0) {
			return
		}
		if item != nil {
			item.Source = Microdata
			p.data.Items = append(p.data.Items, *item)
		}
	}
}

// item is "get the object" of section 5.5.2 (converting to JSON); nil: it is beyond a bound.
func (m *md) item(n *html.Node) *codecs.ParsedItem {
	where := strings.Join(m.p.words(Microdata, n, "itemtype"), " ")
	if len(m.within) == m.p.opts.MaxDepth {
		m.p.problem(Microdata, TooDeep, where)
		return nil
	}
	if !m.p.newItem(Microdata, where) {
		return nil
	}
	item := &codecs.ParsedItem{}
	for _, name := range m.p.words(Microdata, n, "itemtype") {
		if !strings.Contains(name, ":") { // types are absolute URLs
			m.p.problem(Microdata, WrongType, name)
		}
		if name = m.p.bounded(Microdata, short(name)); m.p.room(Microdata, len(name)) {
			item.Types = append(item.Types, name)
		}
	}
	if id, ok := attribute(n, "itemid"); ok {
		if id = m.p.absolute(Microdata, id); m.p.room(Microdata, len(id)) {
			item.ID = id
		}
	}
	m.within = append(m.within, n)
	for _, property := range m.properties(n, where) {
		if m.p.full != "" {
			break
		}
		value, ok := m.value(property)
		if !ok {
			continue
		}
		for i, name := range m.p.words(Microdata, property, "itemprop") {
			if i > 0 && value.Item != nil && !m.p.again(Microdata, value.Item) {
				break
			}
			m.p.add(Microdata, item, short(name), value)
		}
	}
	m.within = m.within[:len(m.within)-1]
	return item
}

// properties are the elements with the properties of an item, in document order (section 5.2.5,
// associating names with items).
func (m *md) properties(root *html.Node, where string) (found []*html.Node) {
	refs := m.p.words(Microdata, root, "itemref")
	var seen map[*html.Node]bool
	if len(refs) > 0 {
		seen = map[*html.Node]bool{}
	}
	crawl := func(from *html.Node, self bool) {
		inside := true
		if self {
			if seen[from] || from == root {
				m.p.problem(Microdata, m.again(from, root), where)
				return
			}
			found, inside = m.see(found, from)
		}
		for n := next(from, from, inside); n != nil && m.p.step(Microdata, 1); n = next(n, from, inside) {
			if inside = n.Type != html.ElementNode; inside {
				continue
			}
			if n == root || seen[n] {
				m.p.problem(Microdata, m.again(n, root), where)
				continue
			}
			if seen != nil {
				seen[n] = true
			}
			found, inside = m.see(found, n)
		}
		if self {
			seen[from] = true
		}
	}
	crawl(root, false)
	if len(refs) == 0 {
		return found
	}
	m.index()
	for _, ref := range refs {
		if n := m.ids[ref]; n != nil {
			crawl(n, true)
		} else {
			m.p.problem(Microdata, MissingReference, ref)
		}
	}
	slices.SortFunc(found, func(a, b *html.Node) int { return cmp.Compare(m.places[a], m.places[b]) })
	return found
}

// again is what is wrong when an item would get an element again.
func (m *md) again(n, root *html.Node) string {
	if n == root {
		return Cycle
	}
	return Repeated
}

// see takes an element that belongs to an item. inside: so do the elements in it.
func (m *md) see(found []*html.Node, n *html.Node) (_ []*html.Node, inside bool) {
	if _, ok := attribute(n, "itemprop"); ok {
		found = append(found, n)
	}
	_, scope := attribute(n, "itemscope")
	return found, !scope && n.DataAtom != atom.Template
}

// index makes ids and places.
func (m *md) index() {
	if m.ids != nil {
		return
	}
	m.ids, m.places = map[string]*html.Node{}, map[*html.Node]int{}
	for n := range elements(m.p.Tree) {
		m.places[n] = len(m.places)
		if id, ok := attribute(n, "id"); ok && m.ids[id] == nil {
			m.ids[id] = n
		}
	}
}

// value is the value of a property (section 5.2.4, values), if there is one.
func (m *md) value(n *html.Node) (v codecs.ParsedValue, ok bool) {
	if _, ok := attribute(n, "itemscope"); ok {
		if slices.Contains(m.within, n) {
			m.p.problem(Microdata, Cycle, strings.Join(m.p.words(Microdata, n, "itemprop"), " "))
			return v, false
		}
		item := m.item(n)
		return codecs.ParsedValue{Item: item}, item != nil
	}
	from := ""
	switch n.DataAtom {
	case atom.Audio, atom.Embed, atom.Iframe, atom.Img, atom.Source, atom.Track, atom.Video:
		from = "src"
	case atom.A, atom.Area, atom.Link:
		from = "href"
	case atom.Object:
		from = "data"
	}
	if ref, ok := attribute(n, from); ok && from != "" {
		return m.p.url(Microdata, ref), true
	}
	text, ok := plainValue(n)
	if !ok && from == "" && n.DataAtom != atom.Meta {
		text = m.p.textOf(Microdata, n)
	}
	return m.p.text(Microdata, m.p.line(Microdata, text)), true
}

// plainValue is the text that an attribute of an element has for programs, if it has one.
func plainValue(n *html.Node) (string, bool) {
	if text, ok := attribute(n, "content"); ok {
		return text, true
	}
	switch n.DataAtom {
	case atom.Data, atom.Meter:
		return attribute(n, "value")
	case atom.Time:
		return attribute(n, "datetime")
	}
	return "", false
}
