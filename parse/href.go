package parse

import "strings"

// Outcomes of looking at a reference.
type hrefVerdict int

const (
	hrefOutlink hrefVerdict = iota
	hrefSelf
	hrefScheme
	hrefLong
)

// judgeHref says whether a trimmed reference on the page self may lead
// anywhere. It looks no further than is cheap: what it lets pass is resolved
// and judged again by normalize.
func judgeHref(href, self string, maxBytes int) hrefVerdict {
	switch {
	case href == "" || href[0] == '#':
		return hrefSelf
	case otherScheme(href):
		return hrefScheme
	case len(href) > maxBytes:
		return hrefLong
	case len(href) >= len(self) && withoutFragment(href) == self:
		return hrefSelf
	}
	return hrefOutlink
}

// otherScheme reports whether href begins with a scheme (RFC 3986 section 3.1)
// that is neither http nor https.
func otherScheme(href string) bool {
	for i := 0; i < len(href); i++ {
		switch c := href[i] | 0x20; {
		case 'a' <= c && c <= 'z':
		case href[i] == ':':
			return i > 0 && !strings.EqualFold(href[:i], "http") && !strings.EqualFold(href[:i], "https")
		case i > 0 && ('0' <= href[i] && href[i] <= '9' || href[i] == '+' || href[i] == '-' || href[i] == '.'):
		default:
			return false
		}
	}
	return false
}

func withoutFragment(href string) string {
	if i := strings.IndexByte(href, '#'); i >= 0 {
		return href[:i]
	}
	return href
}

// trimSpace removes ASCII whitespace (WHATWG Infra) at both ends.
func trimSpace(s string) string {
	for s != "" && isSpace(s[0]) {
		s = s[1:]
	}
	for s != "" && isSpace(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

// htmlSpace is ASCII whitespace, and isSpace reports whether c is of it.
const htmlSpace = " \t\n\f\r"

func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f'
}

// hasToken reports whether a list parted by ASCII whitespace, as rel is, holds
// a token, without case.
func hasToken(list, token string) bool {
	for len(list) >= len(token) {
		end := 0
		for end < len(list) && !isSpace(list[end]) {
			end++
		}
		if end == len(token) && strings.EqualFold(list[:end], token) {
			return true
		}
		list = list[min(end+1, len(list)):]
	}
	return false
}
