package urls

import "strings"

// maxRawBytes bounds what is handed to a parser. A raw URL may be longer than
// its canonical form by dot segments and needless escapes, hardly by more.
const maxRawBytes = 2 * MaxBytes

// Parse gives the plain form of an absolute URL, or the reason why it is
// refused. White space around it is ignored.
func Parse(raw string) (URL, Refusal) { return (*Form)(nil).Parse(raw) }

// resolve gives the plain form of a trimmed reference. The base is zero when
// there is none.
func resolve(base URL, ref string) (URL, Refusal) {
	ref = cutFragment(ref)
	if refusal := refuseScheme(ref); refusal != Accepted {
		return URL{}, refusal
	}
	if len(ref) > maxRawBytes {
		return URL{}, TooLong
	}
	if u, refusal, ok := fast(base, ref); ok {
		return u, refusal
	}
	return full(base, ref)
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
