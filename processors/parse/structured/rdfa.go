package structured

import (
	"maps"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/weftcrawl/weft/codecs"
)

// rdf reads the RDFa of a page (RDFa Core 1.1 section 7.5, with the rules of HTML+RDFa 1.1).
type rdf struct {
	p *page
	// subjects are the things that something is said about, by their ids, and order has them, and
	// those without an id, in document order.
	subjects map[string]*subject
	order    []*subject
}

// subject is a thing.
type subject struct {
	id   string // empty: it has none
	item codecs.ParsedItem
	said bool // something is said about it
	// in is the thing that has it as the value of a property; nil: none has it in its place.
	in *subject
}

// scope is the evaluation context of an element.
type scope struct {
	parent, object *subject
	vocab          string
	prefixes       map[string]string
	// incomplete are relations of parent whose object is still to come.
	incomplete []string
}

// maxNodeDepth bounds elements in elements: a tree may be deeper than the parser's stack.
const maxNodeDepth = 1024

func (p *page) rdfa() {
	r := &rdf{p: p, subjects: map[string]*subject{}}
	document := r.subject(p.absolute(RDFa, ""))
	r.children(p.Tree, scope{parent: document, object: document}, 0)
	for _, s := range r.order {
		if s.said && s.in == nil {
			s.item.Source = RDFa
			p.data.Items = append(p.data.Items, s.item)
		}
	}
}

func (r *rdf) children(n *html.Node, s scope, depth int) {
	if depth == maxNodeDepth {
		r.p.over(RDFa, TooDeep, "")
	}
	if n.DataAtom == atom.Template {
		return
	}
	for c := n.FirstChild; c != nil && r.p.step(RDFa, 1); c = c.NextSibling {
		if c.Type == html.ElementNode {
			r.element(c, s, depth+1)
		}
	}
}

// subject is the thing with an id.
func (r *rdf) subject(id string) *subject {
	if s := r.subjects[id]; s != nil {
		return s
	}
	s := r.blank()
	s.id, s.item.ID = id, id
	r.subjects[id] = s
	return s
}

// blank is a new thing without an id.
func (r *rdf) blank() *subject {
	s := &subject{}
	r.order = append(r.order, s)
	return s
}

// say notes that something is said about a thing, and reports whether there is room for that.
func (r *rdf) say(s *subject) bool {
	if !s.said {
		s.said = r.p.newItem(RDFa, s.id) && r.p.room(RDFa, len(s.id))
	}
	return s.said
}

// element runs the steps of section 7.5 for an element.
func (r *rdf) element(n *html.Node, s scope, depth int) {
	e := &rdfElement{r: r, n: n, scope: &s}
	e.read()
	e.establish()
	e.types()
	inner := scope{vocab: s.vocab, prefixes: s.prefixes}
	for _, name := range e.relations {
		if e.object != nil {
			r.relate(e.subject, name, e.object, !e.refers)
		} else {
			inner.incomplete = append(inner.incomplete, name)
		}
	}
	if e.object == nil && len(e.relations) > 0 {
		e.object = r.blank()
	}
	e.properties()
	if e.subject != nil {
		for _, name := range s.incomplete {
			r.relate(s.parent, name, e.subject, true)
		}
	}
	if e.subject == nil {
		r.children(n, s, depth)
		return
	}
	inner.parent, inner.object = e.subject, e.subject
	if e.object != nil {
		inner.object = e.object
	}
	r.children(n, inner, depth)
}

// relate gives a thing a property whose value is a thing. If in is set, the value stands in its place.
func (r *rdf) relate(from *subject, name string, to *subject, in bool) {
	if from == nil || !r.say(from) {
		return
	}
	if in && to.in == nil && to != from && !from.isIn(to) {
		if from.depth() >= r.p.opts.MaxDepth {
			r.p.problem(RDFa, TooDeep, name)
			return
		} else {
			if r.say(to) {
				to.in = from
				r.p.add(RDFa, &from.item, name, codecs.ParsedValue{Item: &to.item})
			}
			return
		}
	}
	if to.id == "" { // there is no way to refer to it
		r.p.problem(RDFa, Repeated, name)
		return
	}
	r.p.add(RDFa, &from.item, name, codecs.ParsedValue{Item: &codecs.ParsedItem{ID: to.id}})
}

// isIn tells whether a thing is in another one.
func (s *subject) isIn(other *subject) bool {
	for s = s.in; s != nil; s = s.in {
		if s == other {
			return true
		}
	}
	return false
}

// depth is the number of things around a thing.
func (s *subject) depth() (depth int) {
	for ; s.in != nil; s = s.in {
		depth++
	}
	return depth
}

// rdfElement is one element.
type rdfElement struct {
	r     *rdf
	n     *html.Node
	scope *scope

	about, resource, link string // link: href or src
	isAbout, isResource   bool
	isLink, isTyped       bool
	isProperty            bool
	content               string
	isContent, isDatatype bool
	relations             []string

	// subject is what the element is about; nil: it says nothing of its own. object is what it
	// relates that to, and typed what its types are for. refers: object is named elsewhere.
	subject, object, typed *subject
	refers                 bool
}

// read takes the attributes.
func (e *rdfElement) read() {
	for i := range e.n.Attr {
		a := &e.n.Attr[i]
		switch a.Key {
		case "vocab":
			if e.scope.vocab = strings.TrimSpace(a.Val); isSchema(e.scope.vocab) {
				e.scope.vocab = schemaOrg
			}
		case "prefix":
			e.prefix(a.Val)
		case "about":
			e.about, e.isAbout = a.Val, true
		case "resource":
			e.resource, e.isResource = a.Val, true
		case "href", "src":
			if !e.isLink || a.Key == "href" {
				e.link, e.isLink = a.Val, true
			}
		case "typeof":
			e.isTyped = true
		case "property":
			e.isProperty = e.n.DataAtom != atom.Meta || !isOpenGraph(strings.TrimSpace(a.Val))
		case "content":
			e.content, e.isContent = a.Val, true
		case "datatype":
			e.isDatatype = true
		default:
			if name, ok := strings.CutPrefix(a.Key, "xmlns:"); ok {
				e.declare(name, a.Val)
			}
		}
	}
	for _, name := range e.r.p.words(RDFa, e.n, "rel") {
		if strings.Contains(name, ":") {
			if name = e.name(name); name != "" {
				e.relations = append(e.relations, name)
			}
		}
	}
	if !e.isContent {
		if text, ok := plainValue(e.n); ok && e.n.DataAtom != atom.Meter {
			e.content, e.isContent = text, true
		}
	}
}

// prefix reads pairs such as "og: http://ogp.me/ns#".
func (e *rdfElement) prefix(value string) {
	fields := strings.Fields(value)
	for i := 0; i+1 < len(fields); i += 2 {
		if name, ok := strings.CutSuffix(fields[i], ":"); ok {
			e.declare(name, fields[i+1])
		}
	}
}

func (e *rdfElement) declare(name, url string) {
	if !e.r.p.step(RDFa, 1+len(e.scope.prefixes)) || len(url) > maxURLBytes {
		return
	}
	e.scope.prefixes = maps.Clone(e.scope.prefixes)
	if e.scope.prefixes == nil {
		e.scope.prefixes = map[string]string{}
	}
	e.scope.prefixes[strings.ToLower(name)] = strings.TrimSpace(url)
}

// compact expands a compact IRI with a prefix that is known.
func (e *rdfElement) compact(name string) (string, bool) {
	prefix, rest, ok := strings.Cut(name, ":")
	if !ok || strings.HasPrefix(rest, "//") || prefix == "_" {
		return "", false
	}
	prefix = strings.ToLower(prefix)
	to, ok := e.scope.prefixes[prefix]
	if !ok {
		to, ok = prefixes[prefix]
	}
	return to + rest, ok
}

// name expands the name of a property or a type; empty: it is in no vocabulary.
func (e *rdfElement) name(name string) string {
	if expanded, ok := e.compact(name); ok {
		return short(expanded)
	}
	if strings.Contains(name, ":") {
		return short(name)
	}
	if e.scope.vocab == "" {
		return ""
	}
	return short(e.scope.vocab + name)
}

// names are the names in an attribute. A meta element with Open Graph properties is read elsewhere.
func (e *rdfElement) names(key string) (names []string) {
	for _, name := range e.r.p.words(RDFa, e.n, key) {
		if e.n.DataAtom == atom.Meta && isOpenGraph(name) {
			continue
		}
		if name = e.name(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// thing is what about or resource names.
func (e *rdfElement) thing(ref string) *subject {
	ref = strings.TrimSpace(ref)
	if inner, ok := strings.CutPrefix(ref, "["); ok {
		if ref, ok = strings.CutSuffix(inner, "]"); !ok || ref == "" {
			return nil
		}
	}
	if strings.HasPrefix(ref, "_:") {
		return e.r.subject(ref)
	}
	if expanded, ok := e.compact(ref); ok {
		ref = expanded
	}
	return e.r.subject(e.r.p.absolute(RDFa, ref))
}

// named is the thing that resource or a link names; nil: they name none.
func (e *rdfElement) named() *subject {
	if e.isResource {
		if s := e.thing(e.resource); s != nil {
			return s
		}
	}
	if e.isLink {
		return e.r.subject(e.r.p.absolute(RDFa, e.link))
	}
	return nil
}

// aboutOr is what about names, or at the root the document, or else other.
func (e *rdfElement) aboutOr(other *subject) *subject {
	if e.isAbout {
		if s := e.thing(e.about); s != nil {
			return s
		}
	}
	return other
}

// isPart tells whether the element stands for the document: html, head and body.
func (e *rdfElement) isPart() bool {
	return e.n.DataAtom == atom.Html || e.n.DataAtom == atom.Head || e.n.DataAtom == atom.Body
}

// establish finds the subject, the object and the thing with types (steps 5 and 6).
func (e *rdfElement) establish() {
	parent := e.scope.object
	switch {
	case len(e.relations) > 0:
		e.subject = e.aboutOr(parent)
		if e.object = e.named(); e.object == nil && e.isTyped && !e.isAbout {
			e.object = e.r.blank()
		}
		e.refers = e.object != nil && e.object.id != "" && !e.isTyped
		if e.isTyped {
			e.typed = e.object
			if e.isAbout {
				e.typed = e.subject
			}
		}
	case e.isProperty && !e.isContent && !e.isDatatype:
		e.subject = e.aboutOr(parent)
		if e.isTyped {
			e.typed = e.typedObject(parent)
			e.object = e.typed
		}
	case e.isAbout, e.isResource, e.isLink:
		e.subject = e.aboutOr(nil)
		if e.subject == nil {
			e.subject = e.named()
		}
		if e.isTyped {
			e.typed = e.subject
		}
	case e.isTyped:
		e.subject = e.r.blankOr(e.isPart(), parent)
		e.typed = e.subject
	case e.isProperty:
		e.subject = parent
	}
}

func (r *rdf) blankOr(known bool, s *subject) *subject {
	if known {
		return s
	}
	return r.blank()
}

// typedObject is the thing with types of an element with a property.
func (e *rdfElement) typedObject(parent *subject) *subject {
	if e.isAbout {
		return e.subject
	}
	if named := e.named(); named != nil {
		return named
	}
	return e.r.blankOr(e.isPart(), parent)
}

// types gives the thing its types (step 7).
func (e *rdfElement) types() {
	if e.typed == nil {
		return
	}
	for _, name := range e.names("typeof") {
		if name = e.r.p.bounded(RDFa, name); e.r.say(e.typed) && e.r.p.room(RDFa, len(name)) && !slices.Contains(e.typed.item.Types, name) {
			e.typed.item.Types = append(e.typed.item.Types, name)
		}
	}
}

// properties gives the subject its properties (step 11).
func (e *rdfElement) properties() {
	if !e.isProperty || e.subject == nil {
		return
	}
	p := e.r.p
	for _, name := range e.names("property") {
		if !e.r.say(e.subject) {
			return
		}
		plain := !e.isContent && !e.isDatatype && len(e.relations) == 0
		switch {
		case plain && e.isTyped && !e.isAbout:
			e.r.relate(e.subject, name, e.typed, true)
		case plain && e.isResource:
			if to := e.thing(e.resource); to != nil {
				e.r.relate(e.subject, name, to, false)
			}
		case plain && e.isLink:
			p.add(RDFa, &e.subject.item, name, p.url(RDFa, e.link))
		case e.isContent:
			p.add(RDFa, &e.subject.item, name, p.text(RDFa, p.line(RDFa, e.content)))
		default:
			p.add(RDFa, &e.subject.item, name, p.text(RDFa, p.textOf(RDFa, e.n)))
		}
	}
}
