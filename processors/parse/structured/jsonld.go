package structured

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/codecs"
)

// ld reads one script of JSON-LD.
type ld struct {
	p      *page
	script int // its number, from 1
	path   []string
}

// jsonLD reads the scripts of a page.
func (p *page) jsonLD() {
	for i, script := range p.Page.JSONLD {
		l := &ld{p: p, script: i + 1}
		read, wrong, where := values(script)
		if wrong != "" {
			l.problem(wrong, where)
		}
		for _, value := range read {
			l.top(&context{}, value, p.opts.MaxDepth)
		}
	}
	if p.Page.JSONLDOmitted > 0 {
		p.problem(JSONLD, TooLarge, fmt.Sprintf("%d scripts", p.Page.JSONLDOmitted))
	}
}

// where is a place in the script.
func (l *ld) where(what string) string {
	path := strings.Join(l.path, ".")
	if path != "" && what != "" {
		path += "."
	}
	return strings.TrimSuffix(fmt.Sprintf("script %d: %s", l.script, path+what), ": ")
}

func (l *ld) problem(problem, what string) { l.p.problem(JSONLD, problem, l.where(what)) }

// at does something at a place below.
func (l *ld) at(place string, do func()) {
	l.path = append(l.path, place)
	do()
	l.path = l.path[:len(l.path)-1]
}

// top reads a value that is not within an item.
func (l *ld) top(c *context, value any, depth int) {
	if depth == 0 {
		l.problem(TooDeep, "")
		return
	}
	switch value := value.(type) {
	case []any:
		for i, one := range value {
			if l.p.full != "" {
				return
			}
			l.at(fmt.Sprint(i), func() { l.top(c, one, depth-1) })
		}
	case map[string]any:
		l.topObject(c, value, depth)
	default:
		l.problem(WrongType, "")
	}
}

func (l *ld) topObject(c *context, object map[string]any, depth int) {
	if given, ok := object["@context"]; ok {
		c = c.with(l, given, l.p.opts.MaxDepth)
	}
	// An object with a graph, and perhaps its name, is not an item (JSON-LD 1.1 section 4.9).
	described := false
	for _, name := range slices.Sorted(maps.Keys(object)) {
		switch c.name(name) {
		case "@graph":
			l.at(name, func() { l.top(c, object[name], depth-1) })
		case "@context", "@id", "":
		default:
			described = true
		}
	}
	if !described {
		return
	}
	if !c.given {
		l.problem(NoContext, "")
		c = &context{vocab: schemaOrg, given: true}
	}
	if item := l.item(c, object, depth); item != nil {
		item.Source = JSONLD
		l.p.data.Items = append(l.p.data.Items, *item)
	}
}

// item reads a node object (JSON-LD 1.1 section 9.2); nil: a bound ends reading.
func (l *ld) item(c *context, object map[string]any, depth int) *codecs.ParsedItem {
	if depth == 0 {
		l.problem(TooDeep, "")
		return nil
	}
	if !l.p.newItem(JSONLD, l.where("")) {
		return nil
	}
	item := &codecs.ParsedItem{}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if l.p.full != "" {
			break
		}
		expanded := c.name(name)
		if strings.HasPrefix(expanded, "@") {
			l.keyword(c, item, name, expanded, object[name])
			continue
		}
		if expanded == "" {
			continue
		}
		t := c.terms[name]
		if t.kind == "" && urlProperties[short(expanded)] && (c.vocab == schemaOrg || short(expanded) != expanded) {
			t.kind = "@id"
		}
		l.at(name, func() {
			for _, value := range l.values(c, t, object[name], depth-1) {
				l.p.add(JSONLD, item, short(expanded), value)
			}
		})
	}
	return item
}

// keyword reads a member of an item that is not a property.
func (l *ld) keyword(c *context, item *codecs.ParsedItem, name, keyword string, value any) {
	switch keyword {
	case "@id":
		id, ok := value.(string)
		if !ok {
			l.problem(WrongType, name)
			return
		}
		if id = l.id(c, id); l.p.room(JSONLD, len(id)) {
			item.ID = id
		}
	case "@type":
		types, ok := value.([]any)
		if !ok {
			types = []any{value}
		}
		for _, one := range types {
			text, ok := one.(string)
			if !ok {
				l.problem(WrongType, name)
			} else if text = l.p.bounded(JSONLD, short(c.name(strings.TrimSpace(text)))); text != "" && l.p.room(JSONLD, len(text)) {
				item.Types = append(item.Types, text)
			}
		}
	case "@context", "@index", "@graph", "@value", "@language":
	default: // @reverse, @nest, @included
		l.problem(Unsupported, name)
	}
}

// id is an absolute identifier.
func (l *ld) id(c *context, id string) string {
	id = strings.TrimSpace(id)
	if strings.HasPrefix(id, "_:") {
		return l.p.bounded(JSONLD, id)
	}
	if expanded, ok := c.compact(id); ok {
		id = expanded
	} else if c.base != nil && len(id) <= maxURLBytes {
		if u, err := c.base.Parse(id); err == nil {
			id = u.String()
		}
	}
	return l.p.absolute(JSONLD, id)
}

// values reads the value of a property, which may be a list.
func (l *ld) values(c *context, t term, value any, depth int) (found []codecs.ParsedValue) {
	if depth <= 0 {
		l.problem(TooDeep, "")
		return nil
	}
	switch value := value.(type) {
	case []any:
		for i, one := range value {
			if l.p.full != "" || i > l.p.opts.MaxValues {
				break
			}
			l.at(fmt.Sprint(i), func() { found = append(found, l.values(c, t, one, depth-1)...) })
		}
	case string:
		if v := l.text(c, t, strings.TrimSpace(value)); v != (codecs.ParsedValue{}) {
			found = append(found, v)
		}
	case json.Number:
		if len(value) <= maxNumberBytes {
			return []codecs.ParsedValue{{Number: value}}
		}
		l.problem(TooLarge, "")
	case bool:
		return []codecs.ParsedValue{{Bool: &value}}
	case map[string]any:
		return l.object(c, t, value, depth)
	}
	return found
}

// maxNumberBytes bounds a number as written.
const maxNumberBytes = 64

// text is a string as the value of a property.
func (l *ld) text(c *context, t term, text string) codecs.ParsedValue {
	switch {
	case text == "":
		return codecs.ParsedValue{}
	case t.kind == "@vocab":
		return l.p.url(JSONLD, c.name(text))
	case t.kind == "@id" && !strings.ContainsAny(text, " \t\n\r\f"):
		return codecs.ParsedValue{URL: l.id(c, text)}
	}
	v := l.p.text(JSONLD, text)
	if v.Text != "" {
		v.Language = l.p.bounded(JSONLD, t.language)
	}
	return v
}

// object reads an object as the value of a property: a value object, a list, a set, a map of languages,
// or an item.
func (l *ld) object(c *context, t term, object map[string]any, depth int) (found []codecs.ParsedValue) {
	if given, ok := object["@context"]; ok {
		c = c.with(l, given, l.p.opts.MaxDepth)
	}
	keywords := map[string]any{}
	for name, value := range object {
		if expanded := c.name(name); strings.HasPrefix(expanded, "@") {
			keywords[expanded] = value
		}
	}
	for _, list := range []string{"@list", "@set"} {
		if inner, ok := keywords[list]; ok {
			return l.values(c, t, inner, depth-1)
		}
	}
	if inner, ok := keywords["@value"]; ok {
		return l.valueObject(c, t, keywords, inner, depth)
	}
	if t.container == "@language" && len(keywords) == 0 {
		for _, language := range slices.Sorted(maps.Keys(object)) {
			t := term{language: language}
			l.at(language, func() { found = append(found, l.values(c, t, object[language], depth-1)...) })
		}
		return found
	}
	if item := l.item(c, object, depth); item != nil && (len(item.Types)+len(item.Properties) > 0 || item.ID != "") {
		return []codecs.ParsedValue{{Item: item}}
	}
	return nil
}

// valueObject reads a value object (JSON-LD 1.1 section 9.5).
func (l *ld) valueObject(c *context, t term, keywords map[string]any, inner any, depth int) []codecs.ParsedValue {
	if keywords["@type"] == "@json" {
		text, _ := json.Marshal(inner) // it was JSON
		return []codecs.ParsedValue{{Text: l.p.bounded(JSONLD, string(text))}}
	}
	switch inner.(type) {
	case map[string]any, []any:
		l.problem(WrongType, "@value")
		return nil
	}
	t = term{language: t.language}
	if language, ok := keywords["@language"].(string); ok {
		t.language = language
	}
	return l.values(c, t, inner, depth)
}
