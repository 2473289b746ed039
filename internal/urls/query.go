package urls

import (
	"slices"
	"strings"
)

// query is the form of a query, without "?". It is empty if all parameters were
// removed. If anything is changed, empty parameters are removed, too.
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

// byName orders parameters. Those of one name keep their order, which may matter to
// the server.
func byName(a, b string) int { return strings.Compare(nameOf(a), nameOf(b)) }

// nameOf is the name of a parameter "name=value".
func nameOf(parameter string) string {
	name, _, _ := strings.Cut(parameter, "=")
	return name
}

// names are the names of the parameters of a query; nil has no names. The query is
// read once, when the first rule needs them: there may be a thousand parameters.
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

// escapedFragment is a parameter. A server that knows the scheme answers with the page
// that its script would show for the fragment
// (https://developers.google.com/search/docs/ajax-crawling/docs/specification).
const escapedFragment = "_escaped_fragment_"

// withHashBang returns u with what follows "!" in its fragment as a parameter at the end
// of its query, and without others of that name; u itself when the fragment starts
// otherwise.
func (u URL) withHashBang(fragment string) (URL, Refusal) {
	state, is := strings.CutPrefix(fragment, "!")
	if !is {
		return u, Accepted
	}
	if len(state) > MaxBytes {
		return URL{}, TooLong
	}
	path, query, _ := strings.Cut(u.canonical, "?")
	kept := slices.DeleteFunc(strings.Split(query, "&"), func(parameter string) bool {
		return parameter == "" || nameOf(parameter) == escapedFragment
	})
	value, _ := appendEscaped(nil, state, &valueClass)
	u.canonical = path + "?" + strings.Join(append(kept, escapedFragment+"="+string(value)), "&")
	if len(u.canonical) > MaxBytes {
		return URL{}, TooLong
	}
	return u, Accepted
}
