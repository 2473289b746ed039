package urls

import "strings"

// tabsAndNewlines are removed from anywhere in a URL, by the standard.
var tabsAndNewlines = strings.NewReplacer("\t", "", "\n", "", "\r", "")

// full resolves any reference as the basic URL parser does
// (https://url.spec.whatwg.org/#concept-basic-url-parser), of which schemes but
// http and https need a small part only. It takes it trimmed, with its fragment
// cut to "#", and at most maxRawBytes long. The base is zero when there is none.
func full(base URL, ref string) (URL, Refusal) {
	if strings.ContainsAny(ref, "\t\n\r") {
		ref = tabsAndNewlines.Replace(ref)
		// The scheme may have been hidden: "java\nscript:".
		if refusal := refuseScheme(ref); refusal != Accepted {
			return URL{}, refusal
		}
	}
	ref = strings.TrimSuffix(ref, "#")
	scheme := schemeOf(ref)
	if scheme == "" && base.IsZero() {
		return URL{}, NotAbsolute
	}
	rest := ref
	if scheme != "" {
		rest = ref[len(scheme)+1:]
		scheme = strings.ToLower(scheme)
		if base.IsZero() || scheme != base.Scheme() {
			// Special authority slashes state.
			return absolute(scheme, trimSlashes(rest))
		}
		// "http:a" is relative to an http base.
	}
	if slashes(rest) >= 2 {
		return absolute(base.Scheme(), trimSlashes(rest))
	}
	b := make([]byte, 0, len(base.canonical)+len(rest)+16)
	root := int(base.pathStart)
	switch {
	case rest == "":
		return base, Accepted
	case rest[0] == '?':
		return finish(append(b, base.canonical[:base.pathEnd()]...), root, rest)
	case slashes(rest) == 1:
		b = append(b, base.canonical[:root+1]...)
		rest = rest[1:]
	default:
		b = append(b, base.Directory()...)
	}
	b, rest = appendSegments(b, root, rest)
	return finish(b, root, rest)
}

// absolute parses what follows the scheme and its slashes.
func absolute(scheme, s string) (URL, Refusal) {
	end := strings.IndexAny(s, "/\\?")
	if end < 0 {
		end = len(s)
	}
	authority, rest := s[:end], s[end:]
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		authority = authority[at+1:] // nobody's name and password
	}
	host, port, refusal := parseAuthority(authority, scheme)
	if refusal != Accepted {
		return URL{}, refusal
	}
	b := make([]byte, 0, len(scheme)+len(host)+len(port)+len(rest)+16)
	b = append(append(b, scheme...), "://"...)
	b = append(append(b, host...), port...)
	root := len(b)
	b = append(b, '/')
	if slashes(rest) > 0 {
		rest = rest[1:]
	}
	b, rest = appendSegments(b, root, rest)
	return finish(b, root, rest)
}

// appendSegments appends the path that s starts with to the one that starts at
// root and ends with "/" (path state), and gives the query that follows.
func appendSegments(b []byte, root int, s string) (out []byte, query string) {
	path := s
	if q := strings.IndexByte(s, '?'); q >= 0 {
		path, query = s[:q], s[q:]
	}
	for {
		end := strings.IndexAny(path, "/\\")
		last := end < 0
		if last {
			end = len(path)
		}
		switch dots(path[:end]) {
		case 1:
		case 2:
			b = parent(b, root)
		default:
			b = appendEncoded(b, path[:end], &pathClass)
			if !last {
				b = append(b, '/')
			}
		}
		if last {
			return b, query
		}
		path = path[end+1:]
	}
}

// dots is how many dots a dot segment stands for: 1, 2, or 0 if it is none
// (single-dot and double-dot URL path segments).
func dots(segment string) int {
	n := 0
	for segment != "" && n < 3 {
		switch {
		case segment[0] == '.':
			segment = segment[1:]
		case len(segment) >= 3 && strings.EqualFold(segment[:3], "%2e"):
			segment = segment[3:]
		default:
			return 0
		}
		n++
	}
	if n == 3 {
		return 0
	}
	return n
}

// finish appends a query, which starts with "?" if there is one, to a URL whose
// path starts at root, and makes its escapes canonical.
func finish(b []byte, root int, query string) (URL, Refusal) {
	if query != "" {
		b = appendEncoded(append(b, '?'), query[1:], &queryClass)
	}
	canonical := string(b[:root]) + normalizeEscapes(string(b[root:]))
	if len(canonical) > MaxBytes {
		return URL{}, TooLong
	}
	return index(canonical), Accepted
}

// appendEncoded appends s with the bytes that the table escapes escaped. Bytes
// that are not UTF-8 become U+FFFD, one each.
func appendEncoded(b []byte, s string, table *[256]class) []byte {
	for _, r := range s {
		if r < 0x80 && (table[byte(r)] == keep || table[byte(r)] == percent) {
			b = append(b, byte(r))
			continue
		}
		for _, c := range []byte(string(r)) {
			b = appendEscape(b, c)
		}
	}
	return b
}

// slashes is how many slashes of either kind s starts with.
func slashes(s string) int { return len(s) - len(trimSlashes(s)) }

func trimSlashes(s string) string { return strings.TrimLeft(s, "/\\") }

// normalizeEscapes decodes the escapes of unreserved characters in a path and
// query and writes the others in upper case (RFC 3986 section 6.2.2).
//
// A "%" that starts no escape stays as it is, and decoding makes none of it:
// "%%36%31" does not become "%61", an escape that was not there, and that the
// next parse would read as "a".
func normalizeEscapes(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	bare := 0 // where in b the last "%" without an escape stands
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b = append(b, s[i])
			continue
		}
		c, ok := unescape(s[i:])
		switch {
		case !ok:
			bare = len(b)
			b = append(b, '%')
			continue
		case isUnreserved(c) && !(hexDigit(c) < 16 && mayBecomeEscape(b[bare:])):
			b = append(b, c)
		default:
			b = appendEscape(b, c)
		}
		i += 2
	}
	return string(b)
}

// mayBecomeEscape reports whether s is "%" and at most one hexadecimal digit.
func mayBecomeEscape(s []byte) bool {
	return len(s) > 0 && s[0] == '%' && (len(s) == 1 || len(s) == 2 && hexDigit(s[1]) < 16)
}
