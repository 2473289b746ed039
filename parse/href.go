package parse

import "strings"

// Outcomes of looking at a reference.
type hrefVerdict int

const (
	hrefOutlink hrefVerdict = iota
	hrefSelf
	// hrefBase is that of the document's base, which is the page itself in most.
	hrefBase
	hrefScheme
	hrefLong
)

// judgeHref says whether a trimmed reference on the page self may lead
// anywhere. It looks no further than is cheap: what it lets pass is resolved
// and judged again by normalize.
func judgeHref(href, self string, opts *Options) hrefVerdict {
	target := opts.withoutFragment(href)
	switch {
	case otherScheme(href):
		return hrefScheme
	case len(href) > opts.MaxHrefBytes:
		return hrefLong
	case target == "":
		return hrefBase
	case target == self:
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

// withoutFragment returns what of an href names a page.
func (o *Options) withoutFragment(href string) string {
	page, fragment, _ := strings.Cut(href, "#")
	if o.HashBang && strings.HasPrefix(fragment, "!") {
		return href
	}
	return page
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
