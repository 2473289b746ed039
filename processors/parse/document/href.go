package document

import "strings"

// Outcomes of looking at a reference.
type hrefVerdict int

const (
	hrefOutlink hrefVerdict = iota
	hrefSelf
	// hrefBase: it names the document's base, which is the page itself in most documents.
	hrefBase
	hrefScheme
	hrefLong
)

// judgeHref says whether a trimmed reference on the page self may lead to another page. It makes
// cheap checks only: normalize resolves the references that pass, and judges them again.
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

// withoutFragment returns the part of an href that names a page.
func (o *Options) withoutFragment(href string) string {
	page, fragment, _ := strings.Cut(href, "#")
	if o.HashBang && strings.HasPrefix(fragment, "!") {
		return href
	}
	return page
}

// htmlSpace is ASCII whitespace (WHATWG Infra).
const htmlSpace = " \t\n\f\r"

func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f'
}

func trimSpace(s string) string { return strings.Trim(s, htmlSpace) }

func trimLeftSpace(s string) string { return strings.TrimLeft(s, htmlSpace) }

// hasToken reports whether a list of words that ASCII whitespace separates, as rel is, has a
// word, without case.
func hasToken(list, token string) bool {
	for i := 0; i < len(list); i++ {
		from := i
		for i < len(list) && !isSpace(list[i]) {
			i++
		}
		if from < i && strings.EqualFold(list[from:i], token) {
			return true
		}
	}
	return false
}
