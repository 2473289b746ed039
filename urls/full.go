package urls

import (
	"strings"

	"github.com/nlnwa/whatwg-url/errors"
	whatwg "github.com/nlnwa/whatwg-url/url"
)

// whole is a URL as the full parser holds it.
type whole = whatwg.Url

// tabsAndNewlines are removed from anywhere in a URL, by the standard.
var tabsAndNewlines = strings.NewReplacer("\t", "", "\n", "", "\r", "")

// full resolves any reference. It takes it trimmed, at most maxRawBytes long.
func (b *Base) full(ref string) (URL, Refusal) {
	if strings.ContainsAny(ref, "\t\n\r") {
		ref = tabsAndNewlines.Replace(ref)
		// The scheme may have been hidden: "java\nscript:".
		if refusal := refuseScheme(ref); refusal != Accepted {
			return URL{}, refusal
		}
	}
	if len(authorityOf(ref)) > maxAuthorityBytes {
		return URL{}, TooLong
	}
	parsed, err := b.parseWhole(ref)
	if err != nil {
		return URL{}, refusalOf(err)
	}
	parsed.SetUsername("")
	parsed.SetPassword("")
	const withoutFragment = true
	href := parsed.Href(withoutFragment)
	path := strings.IndexByte(href[len("https://"):], '/') + len("https://")
	canonical := href[:path] + normalizeEscapes(href[path:])
	if len(canonical) > MaxBytes {
		return URL{}, TooLong
	}
	return index(canonical), Accepted
}

// maxAuthorityBytes bounds what a hostile page can cost: the full parser takes
// time in the square of the length of a user name, 90 ms for one of 8 kB. A
// host name has at most 253 bytes, three times as many when escaped.
const maxAuthorityBytes = 1024

// authorityOf is the user name, host and port of a reference that may name
// them: it has a scheme, or starts with two slashes of either kind.
func authorityOf(ref string) string {
	scheme := schemeOf(ref)
	if scheme == "" && strings.IndexFunc(ref, notSlash) < 2 {
		return ""
	}
	authority := strings.TrimLeft(ref[len(scheme):], ":/\\")
	if end := strings.IndexAny(authority, "/\\?#"); end >= 0 {
		return authority[:end]
	}
	return authority
}

func notSlash(r rune) bool { return r != '/' && r != '\\' }

// parseWhole parses ref against the base if there is one.
func (b *Base) parseWhole(ref string) (*whole, error) {
	if b.url.IsZero() {
		return whatwg.Parse(ref)
	}
	if b.whole == nil {
		parsed, err := whatwg.Parse(b.url.String())
		if err != nil {
			return nil, err
		}
		b.whole = parsed
	}
	return b.whole.Parse(ref)
}

func refusalOf(err error) Refusal {
	switch errors.Type(err) {
	case errors.HostMissing:
		return NoHost
	case errors.MissingSchemeNonRelativeURL:
		return NotAbsolute
	default:
		return Malformed
	}
}

// normalizeEscapes decodes the escapes of unreserved characters in a path and
// query and writes the others in upper case (RFC 3986 section 6.2.2).
//
// A "%" that starts no escape stays as it is. What follows it is not decoded
// for two bytes: "%%36%31" would become "%61", an escape that was not there,
// and the next parse would read it as "a".
func normalizeEscapes(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	bare := -3 // where in b the last "%" without an escape stands
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
		case isUnreserved(c) && len(b)-bare > 2:
			b = append(b, c)
		default:
			b = appendEscape(b, c)
		}
		i += 2
	}
	return string(b)
}
