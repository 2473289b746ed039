package urls

import (
	"slices"
	"strings"
)

// query is the form of a query, without "?". One from which everything was
// removed is empty; what is between "&" and "&" and empty goes with the rest
// once anything is changed.
func (f *Form) query(host, query string) (_ string, changed bool) {
	var array [32]string
	kept := array[:0]
	beside := names{query: query}
	stripped := false
	for rest, more := query, true; more; {
		var parameter string
		parameter, rest, more = strings.Cut(rest, "&")
		switch {
		case parameter == "":
		case f.rules != nil && f.rules.strips(host, parameter, &beside):
			stripped = true
		default:
			kept = append(kept, parameter)
		}
	}
	unsorted := f.sorted && !slices.IsSortedFunc(kept, byName)
	if !stripped && !unsorted {
		return query, false
	}
	if unsorted {
		slices.SortStableFunc(kept, byName)
	}
	return strings.Join(kept, "&"), true
}

// byName orders parameters. Those of one name keep their order, which a server
// may give a meaning.
func byName(a, b string) int { return strings.Compare(nameOf(a), nameOf(b)) }

// nameOf is the name of a parameter "name=value".
func nameOf(parameter string) string {
	name, _, _ := strings.Cut(parameter, "=")
	return name
}

// names are the names of the parameters of a query; nil are none. They are read
// when the first rule asks for one, and once: a query may have a thousand that make
// a rule ask.
type names struct {
	query string
	known map[string]bool // in lower case; nil before the query is read
}

func (n *names) has(name string) bool {
	if n == nil {
		return false
	}
	if n.known == nil {
		n.known = map[string]bool{}
		for parameter := range strings.SplitSeq(n.query, "&") {
			n.known[strings.ToLower(nameOf(parameter))] = true
		}
	}
	return n.known[name]
}

// withParameter returns u with a parameter at the end of its query, instead of
// any others of its name.
func (u URL) withParameter(name, value string) (URL, Refusal) {
	path, query, _ := strings.Cut(u.canonical, "?")
	var b strings.Builder
	b.WriteString(path)
	b.WriteByte('?')
	for parameter := range strings.SplitSeq(query, "&") {
		if parameter != "" && nameOf(parameter) != name {
			b.WriteString(parameter)
			b.WriteByte('&')
		}
	}
	b.WriteString(name)
	b.WriteByte('=')
	b.WriteString(value)
	if b.Len() > MaxBytes {
		return URL{}, TooLong
	}
	u.canonical = b.String()
	return u, Accepted
}
