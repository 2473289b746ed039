package document

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
)

// value decodes the value of an attribute.
func (s *stream) value(raw string) string {
	if s.returns {
		raw = newlines(raw)
	}
	i := strings.IndexByte(raw, '&')
	if i < 0 {
		return raw
	}
	var out bytes.Buffer
	out.Grow(len(raw))
	for i >= 0 {
		decoded, n := characterReference(raw[i:], true)
		if n == 0 {
			decoded, n = "&", 1
		}
		out.WriteString(raw[:i])
		out.WriteString(decoded)
		raw = raw[i+n:]
		i = strings.IndexByte(raw, '&')
	}
	out.WriteString(raw)
	return out.String()
}

// characterReference decodes the character reference at the beginning of s (WHATWG HTML 13.2.5.72 to
// 13.2.5.80). n is its length; 0: the ampersand is text.
func characterReference(s string, inAttribute bool) (decoded string, n int) {
	n = 1
	if n < len(s) && s[n] == '#' {
		n++
	}
	for n < len(s) && (isLetter(s[n]) || '0' <= s[n] && s[n] <= '9') {
		n++
	}
	terminated := n < len(s) && s[n] == ';'
	if terminated {
		n++
	}
	switch name := s[:n]; name {
	case "&", "&#", "&;", "&#;":
		return "", 0
	case "&lt;":
		return "<", n
	case "&gt;":
		return ">", n
	case "&amp;":
		return "&", n
	case "&quot;", "&#34;":
		return `"`, n
	case "&#39;", "&#x27;":
		return "'", n
	case "&nbsp;", "&#160;":
		return "\u00a0", n
	default:
		if inAttribute && name[1] != '#' && !terminated && n < len(s) && s[n] == '=' {
			return "", 0 // for historical reasons
		}
		if decoded = html.UnescapeString(name); decoded == name {
			return "", 0
		}
		if inAttribute && name[1] != '#' && !isWhole(decoded, name, terminated) {
			return "", 0
		}
		return decoded, n
	}
}

// isWhole reports whether a name is a character reference as a whole, given what it decodes to
// in text, where its beginning may be one. In that case its end is left over.
func isWhole(decoded, name string, terminated bool) bool {
	last := decoded[len(decoded)-1]
	if terminated {
		return last != ';' || name == "&semi;"
	}
	return !isLetter(last) && (last < '0' || '9' < last)
}
