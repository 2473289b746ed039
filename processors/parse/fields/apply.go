package fields

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"golang.org/x/net/html"

	"github.com/weftcrawl/weft/processors/parse/document"
	"github.com/weftcrawl/weft/processors/parse/extract"
)

// Bounds of what a page gives.
const (
	maxItems  = 1000      // of a list
	maxBytes  = 256 << 10 // of all fields, as JSON
	maxErrors = 32
	maxQuoted = 120 // bytes of a value in an Error
	// maxSteps is how many nodes selectors look at, by the worst case: a second or two.
	// All fields of a page share them.
	maxSteps = 400_000_000
	maxDepth = 400
)

// Outcomes of an Error, beside not_number, not_integer, not_date, not_url and not_money.
const (
	Missing   = "missing"    // a required field is not there
	NoMatch   = "no_match"   // the regular expression matches nothing
	TooMany   = "too_many"   // a list ends at its bound
	TooLarge  = "too_large"  // there is no room for the value
	TooCostly = "too_costly" // the selectors would take too long
	TooDeep   = "too_deep"   // so would any selector
	Failed    = "failed"     // a selector panicked, which is a defect
)

// Error is a field that a page does not have as its rule says.
type Error struct {
	// Path is the field with the numbers of items, from 0: offers[1].price. Field is without
	// the numbers.
	Path, Field string
	Outcome     string
	// Value is what is there instead, or its beginning.
	Value string
}

// Match is what a field selected.
type Match struct {
	Field, Selector string
	// Nodes that are selected, and the first of them as HTML.
	Nodes int
	First string
}

// Result is what a rule takes out of a page.
type Result struct {
	// JSON is an object with the fields in the order of the rule.
	JSON    []byte
	Errors  []Error
	Matches []Match
}

// taker takes fields out of a page.
type taker struct {
	shape   document.Shape
	resolve func(string) (string, bool)
	out     Result
	matches bool
	// spent is a bound of the steps so far. Those of a field in records count once, for all
	// records: charged has their selectors.
	spent   float64
	charged map[*selector]bool
}

// Apply takes the fields of a rule out of a page. resolve makes a reference of the page absolute.
// matches: the result says what was selected, for people.
func (r *Rule) Apply(tree *html.Node, resolve func(string) (string, bool), matches bool) (result Result) {
	t := taker{shape: document.ShapeOf(tree), resolve: resolve, matches: matches, charged: map[*selector]bool{}}
	defer func() {
		if recover() != nil {
			result = Result{JSON: []byte("{}"), Errors: []Error{{Outcome: Failed}}}
		}
	}()
	if t.shape.Depth > maxDepth {
		t.fail("", "", TooDeep, "")
		t.out.JSON = []byte("{}")
		return t.out
	}
	t.out.JSON = t.record(nil, r.fields, tree, "", 0)
	return t.out
}

func (t *taker) fail(path, field, outcome, value string) {
	if len(t.out.Errors) < maxErrors {
		t.out.Errors = append(t.out.Errors, Error{Path: path, Field: field, Outcome: outcome, Value: extract.Bound(value, maxQuoted)})
	}
}

// record writes an object with those of fields that are there.
func (t *taker) record(dst []byte, fields []*field, root *html.Node, around string, nested int) []byte {
	dst = append(dst, '{')
	empty := true
	for _, f := range fields {
		from := len(dst)
		if !empty {
			dst = append(dst, ',')
		}
		dst = append(appendText(dst, f.name), ':')
		begin := len(dst)
		dst = t.field(dst, f, root, around+f.name, nested)
		switch {
		case len(dst) == begin:
			dst = dst[:from]
		case len(dst) > maxBytes:
			dst = dst[:from]
			t.fail(around+f.name, f.path, TooLarge, "")
		default:
			empty = false
		}
	}
	return append(dst, '}')
}

// field writes the value of a field, or nothing.
func (t *taker) field(dst []byte, f *field, root *html.Node, path string, nested int) []byte {
	nodes, ok := t.selected(f, root, path, nested)
	if !ok {
		return dst
	}
	from, before := len(dst), len(t.out.Errors)
	switch {
	case f.kind == exists:
		return fmt.Appendf(dst, "%v", len(nodes) > 0)
	case !f.list:
		for _, n := range nodes[:min(len(nodes), 1)] {
			dst = t.value(dst, f, n, path, nested)
		}
	case len(nodes) > 0:
		dst = append(dst, '[')
		for i, n := range nodes {
			if i == maxItems || len(dst) > maxBytes {
				t.fail(path, f.path, TooMany, "")
				break
			}
			item := len(dst)
			if item > from+1 {
				dst = append(dst, ',')
			}
			begin := len(dst)
			if dst = t.value(dst, f, n, fmt.Sprintf("%s[%d]", path, i), nested); len(dst) == begin {
				dst = dst[:item]
			}
		}
		if dst = append(dst, ']'); len(dst) == from+2 {
			dst = dst[:from]
		}
	}
	if len(dst) == from && f.required && len(t.out.Errors) == before {
		t.fail(path, f.path, Missing, "")
	}
	return dst
}

// selected are the nodes of a field: those of its first selector that has some.
func (t *taker) selected(f *field, root *html.Node, path string, nested int) (nodes []*html.Node, ok bool) {
	if len(f.selects) == 0 {
		return []*html.Node{root}, true
	}
	for i := range f.selects {
		s := &f.selects[i]
		if !t.charged[s] {
			if steps := t.steps(s, nested); t.spent+steps > maxSteps {
				t.fail(path, f.path, TooCostly, s.text)
				return nil, false
			} else {
				t.spent += steps
			}
			t.charged[s] = true
		}
		if nodes = s.match.MatchAll(root); len(nodes) > 0 {
			t.note(f, s, nodes)
			return nodes, true
		}
	}
	t.note(f, &f.selects[0], nil)
	return nil, true
}

// steps is a bound of the nodes that a selector looks at in a page, as a part of records that
// are nested so deep.
func (t *taker) steps(s *selector, nested int) float64 {
	steps, depth := float64(t.shape.Nodes), float64(t.shape.Depth)
	if s.descendants > 0 {
		steps = float64(t.shape.Within)
		for i := 2; i <= s.descendants; i++ {
			steps *= depth / float64(i)
		}
	}
	if s.beside {
		steps += 2 * float64(t.shape.Beside)
	}
	if s.below {
		steps += 16 * float64(t.shape.Within)
	}
	for range nested {
		steps *= depth // each node is part of as many records at most
	}
	return steps
}

func (t *taker) note(f *field, s *selector, nodes []*html.Node) {
	if !t.matches {
		return
	}
	m := Match{Field: f.path, Selector: s.text, Nodes: len(nodes)}
	if len(nodes) > 0 {
		var b bytes.Buffer
		if html.Render(&b, nodes[0]) == nil {
			m.First = extract.OneLine(b.String(), maxQuoted)
		}
	}
	t.out.Matches = append(t.out.Matches, m)
}

// value writes the value of one node, or nothing.
func (t *taker) value(dst []byte, f *field, n *html.Node, path string, nested int) []byte {
	if len(f.fields) > 0 {
		from := len(dst)
		if dst = t.record(dst, f.fields, n, path+".", nested+1); len(dst) == from+2 {
			return dst[:from]
		}
		return dst
	}
	raw, ok := f.raw(n)
	if ok && f.regex != nil {
		found := f.regex.FindStringSubmatch(raw)
		if found == nil {
			t.fail(path, f.path, NoMatch, raw)
			return dst
		}
		raw = strings.TrimSpace(found[min(len(found)-1, 1)])
	}
	if !ok || raw == "" {
		return dst
	}
	dst, wrong := f.typed(dst, raw, t.resolve)
	if wrong != "" {
		t.fail(path, f.path, wrong, raw)
	}
	return dst
}

// appendText writes a text as JSON.
func appendText(dst []byte, s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil {
		return append(dst, `""`...) // not reached: s is a string
	}
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}
