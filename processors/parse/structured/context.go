package structured

import (
	"maps"
	"net/url"
	"slices"
	"strings"
)

// context is what names mean in a part of JSON-LD (JSON-LD 1.1 section 3.1). It does not change.
type context struct {
	// vocab is in front of names that are not terms; empty: there is no such vocabulary.
	vocab string
	terms map[string]term
	base  *url.URL // nil: that of the document
	// given: there was a context.
	given bool
}

// term is the definition of a name.
type term struct {
	// id is what it stands for: a URL or a keyword; empty: it is ignored.
	id string
	// kind is the type of its values: @id, @vocab, or another one, which does not matter.
	kind string
	// container is @language, or another one, which does not matter.
	container string
	language  string
}

// with is the context changed by a value of @context.
func (c *context) with(l *ld, value any, depth int) *context {
	switch value := value.(type) {
	case nil:
		return &context{given: true}
	case string:
		next := *c
		next.given = true
		if isSchema(value) {
			next.vocab = schemaOrg
		} else {
			l.problem(UnknownContext, value)
		}
		return &next
	case []any:
		if depth == 0 {
			l.problem(TooDeep, "@context")
			return c
		}
		for _, one := range value {
			c = c.with(l, one, depth-1)
		}
		return c
	case map[string]any:
		return c.defined(l, value)
	}
	l.problem(WrongType, "@context")
	return c
}

// defined is the context changed by an object of definitions.
func (c *context) defined(l *ld, definitions map[string]any) *context {
	names := slices.Sorted(maps.Keys(definitions))
	if !l.p.step(JSONLD, len(names)+len(c.terms)) {
		return c
	}
	next := &context{vocab: c.vocab, base: c.base, given: true, terms: maps.Clone(c.terms)}
	if next.terms == nil {
		next.terms = make(map[string]term, len(definitions))
	}
	if base, ok := definitions["@base"].(string); ok {
		if u, err := url.Parse(base); err == nil && u.IsAbs() {
			next.base = u
		}
	}
	if vocab, ok := definitions["@vocab"]; ok {
		switch vocab := vocab.(type) {
		case nil:
			next.vocab = ""
		case string:
			if next.vocab = vocab; isSchema(vocab) {
				next.vocab = schemaOrg
			}
		default:
			l.problem(WrongType, "@vocab")
		}
	}
	for _, name := range names {
		if strings.HasPrefix(name, "@") {
			if name == "@import" || name == "@propagate" {
				l.problem(Unsupported, name)
			}
			continue
		}
		switch definition := definitions[name].(type) {
		case nil:
			next.terms[name] = term{}
		case string:
			next.terms[name] = term{id: next.definition(definition, definitions)}
		case map[string]any:
			next.terms[name] = next.expanded(name, definition, definitions)
			if definition["@reverse"] != nil || definition["@context"] != nil {
				l.problem(Unsupported, name)
			}
		default:
			l.problem(WrongType, "@context."+name)
		}
		if len(next.terms[name].id) > maxURLBytes {
			l.problem(TooLarge, "@context")
			delete(next.terms, name)
		}
	}
	return next
}

// expanded is an expanded term definition (JSON-LD 1.1 section 9.15.1).
func (c *context) expanded(name string, definition, all map[string]any) (t term) {
	t.id = c.definition(name, nil)
	if id, ok := definition["@id"].(string); ok {
		t.id = c.definition(id, all)
	}
	t.kind, _ = definition["@type"].(string)
	t.container, _ = definition["@container"].(string)
	t.language, _ = definition["@language"].(string)
	return t
}

// definition is what a name in a definition stands for. It may be defined beside it.
func (c *context) definition(name string, beside map[string]any) string {
	if strings.HasPrefix(name, "@") {
		return name
	}
	prefix, rest, ok := strings.Cut(name, ":")
	if ok && !strings.HasPrefix(rest, "//") {
		switch of := beside[prefix].(type) {
		case string:
			if strings.Contains(of, "://") {
				return of + rest
			}
		case map[string]any:
			if id, _ := of["@id"].(string); strings.Contains(id, "://") {
				return id + rest
			}
		}
	}
	return c.name(name)
}

// name expands the name of a property or a type: to a keyword, a URL, or the name as written; empty: it
// is to be ignored.
func (c *context) name(name string) string {
	if strings.HasPrefix(name, "@") {
		return name
	}
	if t, ok := c.terms[name]; ok {
		return t.id
	}
	if expanded, ok := c.compact(name); ok {
		return expanded
	}
	if strings.Contains(name, ":") {
		return name
	}
	return c.vocab + name
}

// compact expands a compact IRI with a prefix that is known.
func (c *context) compact(name string) (string, bool) {
	prefix, rest, ok := strings.Cut(name, ":")
	if !ok || strings.HasPrefix(rest, "//") || prefix == "_" {
		return "", false
	}
	if t, ok := c.terms[prefix]; ok && t.id != "" && !strings.HasPrefix(t.id, "@") {
		return t.id + rest, true
	}
	if prefix == "schema" && c.vocab == schemaOrg {
		return schemaOrg + rest, true
	}
	return "", false
}
