package traps

import (
	"slices"
	"strings"
)

// The placeholders of templates.
const (
	number    = "{n}"      // digits
	year      = "{year}"   // 1900 to 2199
	date      = "{date}"   // 2024-05-01, 2024-05, 20240501
	hash      = "{hash}"   // identifiers: hexadecimal, UUIDs, long random text
	word      = "{word}"   // a name, or several
	wordDigit = "{word-n}" // a name with a number in it
)

const (
	// literals is how many directories of a path may keep their names. Deeper ones are
	// replaced by their kind.
	literals = 2
	// longestName is the longest name of a directory, or of a parameter, in
	// bytes, that is kept.
	longestName = 32
	// mostParams is how many names of parameters are kept.
	mostParams = 16
	// anyQuery stands for the names of parameters in the template that holds all
	// queries of a path.
	anyQuery = "?*"
)

// Of returns the host of a canonical URL (with the port, unless that is the default one)
// and its template, "/path" or "/path?names". In the path, placeholders replace numbers,
// dates, identifiers and names. The first two directories keep their names, and so does
// a page in the root with a query. A placeholder that is there several times in a row
// has a plus. Of a query only the names of parameters are left, each once, in order. All
// is in lower case, because some servers answer to every spelling of a name.
func Of(url string) (host, template string) {
	host, path, query := split(url)
	return host, templateOf(path, query, literals)
}

// templateOf is the template in which the first named directories keep their names.
func templateOf(path, query string, named int) string {
	b := appendPath(nil, path, named, query != "")
	if query != "" {
		b = appendQuery(b, query)
	}
	return strings.ToLower(string(b))
}

// split cuts a canonical URL into its host, path and query. It also cuts any other text.
func split(url string) (host, path, query string) {
	if _, rest, found := strings.Cut(url, "://"); found {
		url = rest
	}
	url, _, _ = strings.Cut(url, "#")
	url, query, _ = strings.Cut(url, "?")
	if i := strings.IndexByte(url, '/'); i >= 0 {
		return url[:i], url[i:], query
	}
	return url, "/", query
}

// appendPath appends the template of a path that begins with a slash. A page that is asked
// with a query may be a program, and keeps its name like a directory.
func appendPath(dst []byte, path string, named int, asked bool) []byte {
	last, rest, more := "", path[1:], true
	for depth := 0; more; depth++ {
		var segment string
		segment, rest, more = strings.Cut(rest, "/")
		leaf, from := !more, len(dst)
		keeps := depth < named && (!leaf || depth == 0 && asked)
		dst = appendSegment(append(dst, '/'), segment, keeps, leaf)
		// A run of one placeholder counts once, whatever its length.
		switch now := string(dst[from:]); {
		case !strings.HasSuffix(now, "}"):
			last = ""
		case now == last:
			dst = dst[:from]
			if dst[len(dst)-1] != '+' {
				dst = append(dst, '+')
			}
		default:
			last = now
		}
	}
	return dst
}

// appendSegment appends the template of a segment. If named, a plain name is kept. leaf:
// it is the last of its path.
func appendSegment(dst []byte, segment string, named, leaf bool) []byte {
	// Parameters of a segment (RFC 3986 section 3.3): /page;jsessionid=1
	segment, params, hasParams := strings.Cut(segment, ";")
	name, extension := segment, ""
	if leaf {
		name, extension = cutExtension(segment)
	}
	switch {
	case name == "":
	case strings.IndexByte(name, '=') > 0: // /page=2/
		key, value, _ := strings.Cut(name, "=")
		dst = append(append(dst, kept(key)...), '=')
		if value != "" {
			dst = append(dst, kindOf(value)...)
		}
	default:
		kind := kindOf(name)
		switch {
		case kind == word && named && isPlain(name):
			dst = append(dst, name...)
		case kind == wordDigit && pager(name) != "":
			dst = append(append(dst, pager(name)...), number...)
		default:
			dst = append(dst, kind...)
		}
	}
	dst = append(dst, extension...)
	if hasParams {
		key, _, _ := strings.Cut(params, "=")
		dst = append(append(dst, ';'), kept(key)...)
	}
	return dst
}

// cutExtension cuts an extension such as ".html" off the name of a file.
func cutExtension(segment string) (name, extension string) {
	dot := strings.LastIndexByte(segment, '.')
	if dot <= 0 || len(segment)-dot < 2 || len(segment)-dot > 6 {
		return segment, ""
	}
	letters := 0
	for _, c := range []byte(segment[dot+1:]) {
		switch {
		case isLetter(c):
			letters++
		case c < '0' || c > '9':
			return segment, ""
		}
	}
	if letters == 0 {
		return segment, ""
	}
	return segment[:dot], segment[dot:]
}

func appendQuery(dst []byte, query string) []byte {
	var room [mostParams]string
	names := room[:0]
	for query != "" && len(names) < mostParams {
		var param string
		param, query, _ = strings.Cut(query, "&")
		if param == "" {
			continue
		}
		name, _, _ := strings.Cut(param, "=") // a value without a name is told by its kind: ?4711
		names = append(names, strings.ToLower(kept(name)))
	}
	slices.Sort(names)
	for i, name := range slices.Compact(names) {
		if i == 0 {
			dst = append(dst, '?')
		} else {
			dst = append(dst, '&')
		}
		dst = append(dst, name...)
	}
	return dst
}

// kept is a name as templates have it: the name itself if it is plain, otherwise its kind.
func kept(name string) string {
	for i := range len(name) {
		if c := name[i]; !isLetter(c) && c != '_' && c != '-' && c != '.' && c != '[' && c != ']' {
			return kindOf(name)
		}
	}
	if len(name) > longestName {
		return word
	}
	return name
}

// isPlain tells whether a name of letters is short enough to be kept.
func isPlain(name string) bool {
	return len(name) <= longestName && !strings.Contains(name, "%")
}
