package urls

import (
	"bytes"
	"strconv"
	"strings"
)

// maxRawBytes bounds the input of the parser. A raw URL may be longer than its canonical
// form because of dot segments and needless escapes, but not much longer.
const maxRawBytes = 2 * MaxBytes

// tabsAndNewlines are removed from anywhere in a URL, by the standard.
var tabsAndNewlines = strings.NewReplacer("\t", "", "\n", "", "\r", "")

// Parse gives the plain form of an absolute URL, or the reason why it is
// refused. White space around it is ignored.
func Parse(raw string) (URL, Refusal) { return (*Form)(nil).Parse(raw) }

// resolve gives the plain form of a trimmed reference. The base is zero when there is none. It
// is the part of the basic URL parser (https://url.spec.whatwg.org/#concept-basic-url-parser)
// that http and https need. For an ordinary link it makes one allocation, the canonical string.
func resolve(base URL, ref string) (URL, Refusal) {
	ref = cutFragment(ref)
	if refusal := refuseScheme(ref); refusal != Accepted {
		return URL{}, refusal
	}
	if len(ref) > maxRawBytes {
		return URL{}, TooLong
	}
	rest := tabsAndNewlines.Replace(strings.TrimSuffix(ref, "#"))
	if refusal := refuseScheme(rest); refusal != Accepted {
		return URL{}, refusal // the scheme was hidden: "java\nscript:"
	}
	scheme, leaves := schemeOf(rest), base.IsZero()
	switch {
	case scheme != "":
		rest = rest[len(scheme)+1:]
		scheme = strings.ToLower(scheme)
		leaves = leaves || scheme != base.Scheme() // "http:a" is relative to an http base
	case leaves:
		return URL{}, NotAbsolute
	default:
		scheme = base.Scheme()
	}
	behind := strings.TrimLeft(rest, `/\`)
	slashes := len(rest) - len(behind)

	var array [MaxBytes + 1]byte
	b, root := array[:0], int(base.pathStart)
	switch {
	case leaves || slashes >= 2:
		var refusal Refusal
		if b, rest, refusal = appendOrigin(b, scheme, behind); refusal != Accepted {
			return URL{}, refusal
		}
		root = len(b)
		b = append(b, '/')
	case rest == "":
		return base, Accepted
	case rest[0] == '?':
		b = append(b, base.canonical[:base.pathEnd()]...)
	case slashes == 1:
		b, rest = append(b, base.canonical[:root+1]...), behind
	default:
		b = append(b, base.Directory()...)
	}
	b, query := appendPath(b, root, rest)
	if query != "" {
		b, _ = appendEscaped(append(b, '?'), query[1:], &queryClass)
	}
	if len(b) > MaxBytes {
		return URL{}, TooLong
	}
	return index(string(b)), Accepted
}

// appendOrigin appends the scheme and the authority that s starts with, without user
// name and password. path is what follows the authority and its slash.
func appendOrigin(b []byte, scheme, s string) (out []byte, path string, refusal Refusal) {
	authority := s
	if end := strings.IndexAny(s, `/\?`); end >= 0 {
		authority, path = s[:end], s[end:]
		if path[0] != '?' {
			path = path[1:]
		}
	}
	authority = authority[strings.LastIndexByte(authority, '@')+1:]
	host, port, refusal := parseAuthority(authority, scheme)
	if refusal != Accepted {
		return nil, "", refusal
	}
	b = append(append(append(b, scheme...), "://"...), host...)
	if port != impliedPort {
		b = strconv.AppendInt(append(b, ':'), int64(port), 10)
	}
	return b, path, Accepted
}

// appendPath appends the segments that s starts with to the path that starts at root and
// ends with "/" (path state), and gives the query that follows. Dot segments, with dots
// that may be escaped, are resolved as it goes.
func appendPath(b []byte, root int, s string) (out []byte, query string) {
	for {
		segment := len(b)
		b, s = appendEscaped(b, s, &pathClass)
		more := s != "" && s[0] != '?'
		switch string(b[segment:]) {
		case ".":
			b = b[:segment]
		case "..":
			b = parent(b[:segment], root)
		default:
			if more {
				b = append(b, '/')
			}
		}
		if !more {
			return b, s
		}
		s = s[1:]
	}
}

// parent removes the last segment of the path b[root:], which ends with "/";
// the root has no parent but itself.
func parent(b []byte, root int) []byte {
	path := b[root:]
	slash := bytes.LastIndexByte(path[:len(path)-1], '/')
	return b[:root+max(slash, 0)+1]
}

// trim removes C0 controls and spaces at both ends, as the standard does.
func trim(s string) string {
	for s != "" && s[0] <= ' ' {
		s = s[1:]
	}
	for s != "" && s[len(s)-1] <= ' ' {
		s = s[:len(s)-1]
	}
	return s
}

// cutFragment removes what follows the first "#". The "#" itself stays: a
// space before it belongs to the path, while a space at the end does not.
func cutFragment(s string) string {
	if i := strings.IndexByte(s, '#'); i >= 0 {
		return s[:i+1]
	}
	return s
}

// schemeOf is the scheme that a reference starts with, as written, without the
// colon; empty if there is none (RFC 3986 section 3.1).
func schemeOf(ref string) string {
	for i := 0; i < len(ref); i++ {
		switch c := ref[i]; {
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
		case c == ':':
			return ref[:i]
		case i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'):
		default:
			return ""
		}
	}
	return ""
}
