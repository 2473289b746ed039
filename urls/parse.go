package urls

import "strings"

// maxRawBytes bounds what is handed to a parser. A raw URL may be longer than
// its canonical form by dot segments and needless escapes, hardly by more.
const maxRawBytes = 2 * MaxBytes

// Parse gives the canonical form of an absolute URL, or the reason why it is
// refused. White space around it is ignored.
func Parse(raw string) (URL, Refusal) {
	raw = trim(raw)
	if raw == "" {
		return URL{}, Empty
	}
	var none Base
	return none.resolve(raw)
}

// Base resolves the references of one document. It is not safe for concurrent
// use.
type Base struct {
	url URL
	// whole is url as the full parser holds it, made when first needed.
	whole *whole
}

// NewBase returns a base for references in a document at u, or below its base
// element's URL.
func NewBase(u URL) *Base { return &Base{url: u} }

// URL is the base itself.
func (b *Base) URL() URL { return b.url }

// Resolve gives the canonical form of a reference as a document spells it:
// absolute, or relative to the base. White space around it is ignored; an
// empty reference, or one of a fragment only, is the base itself.
func (b *Base) Resolve(ref string) (URL, Refusal) { return b.resolve(trim(ref)) }

// resolve takes a trimmed reference.
func (b *Base) resolve(ref string) (URL, Refusal) {
	ref = cutFragment(ref)
	if refusal := refuseScheme(ref); refusal != Accepted {
		return URL{}, refusal
	}
	if len(ref) > maxRawBytes {
		return URL{}, TooLong
	}
	if u, refusal, ok := fast(b.url, ref); ok {
		return u, refusal
	}
	return b.full(ref)
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

// refuseScheme refuses a reference that names another scheme than http and
// https. One that names none is accepted.
func refuseScheme(ref string) Refusal {
	scheme := schemeOf(ref)
	if scheme == "" || strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https") {
		return Accepted
	}
	return NotCrawlable
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
