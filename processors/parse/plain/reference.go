package plain

import (
	"strings"
	"unicode"

	"golang.org/x/net/html"
)

// destination reads "URL 'title')" and returns how long it is; 0: there is none.
func destination(s string) (url string, n int) {
	rest := strings.TrimLeft(s, " \t\n")
	if strings.HasPrefix(rest, "<") {
		end := strings.IndexAny(rest[:min(len(rest), maxTitle)], ">\n")
		if end < 0 || rest[end] != '>' {
			return "", 0
		}
		url, rest = rest[1:end], rest[end+1:]
	} else {
		open, end := 0, 0
	scan:
		for end < len(rest) && end <= maxURLBytes && rest[end] > ' ' {
			switch rest[end] {
			case '\\':
				end++
			case '(':
				if open++; open > maxBrackets {
					return "", 0
				}
			case ')':
				if open--; open < 0 {
					break scan
				}
			}
			end++
		}
		end = min(end, len(rest))
		url, rest = rest[:end], rest[end:]
	}
	rest = strings.TrimLeft(rest, " \t\n")
	if rest != "" && strings.IndexByte(`"'(`, rest[0]) >= 0 {
		quote := rest[0]
		if quote == '(' {
			quote = ')'
		}
		end := strings.IndexByte(rest[1:min(len(rest), maxTitle)], quote)
		if end < 0 {
			return "", 0
		}
		rest = strings.TrimLeft(rest[end+2:], " \t\n")
	}
	if !strings.HasPrefix(rest, ")") {
		return "", 0
	}
	return unescape(url), len(s) - len(rest) + 1
}

// linked tells whether an open bracket surely becomes a link: it looks for the end of the link
// nearby.
func (p *inline) linked(b bracket) bool {
	near := p.src[b.src:min(len(p.src), b.src+maxLabel)]
	end := strings.IndexByte(near, ']')
	return end >= 0 && (strings.HasPrefix(near[end:], "](") || strings.HasPrefix(near[end:], "]["))
}

// definitions are the URLs of all "[label]: URL".
func definitions(lines []string) map[string]string {
	refs := map[string]string{}
	fence := ""
	for _, line := range lines {
		line = strings.TrimLeft(strings.TrimRight(line, "\r\n"), "> \t")
		if f := isFence(line); f != "" {
			switch {
			case fence == "":
				fence = f
			case f[0] == fence[0] && len(f) >= len(fence):
				fence = ""
			}
			continue
		}
		if d := definition(line); d != nil && fence == "" && len(refs) < maxRefs {
			if _, known := refs[d[0]]; !known {
				refs[d[0]] = d[1]
			}
		}
	}
	return refs
}

// definition reads "[label]: URL"; nil: the line is not a definition.
func definition(line string) []string {
	if !strings.HasPrefix(line, "[") {
		return nil
	}
	label, rest, ok := strings.Cut(line[1:], "]:")
	if !ok || label == "" || len(label) > maxLabel || strings.ContainsAny(label, "[]") || label[0] == '^' {
		return nil
	}
	rest = strings.TrimSpace(rest)
	if strings.HasPrefix(rest, "<") {
		url, _, ok := strings.Cut(rest[1:], ">")
		if !ok {
			return nil
		}
		return []string{labelKey(label), url}
	}
	if end := strings.IndexAny(rest, " \t"); end >= 0 {
		title := strings.TrimSpace(rest[end:])
		if strings.IndexByte(`"'(`, title[0]) < 0 {
			return nil
		}
		rest = rest[:end]
	}
	if rest == "" || len(rest) > maxURLBytes {
		return nil
	}
	return []string{labelKey(label), unescape(rest)}
}

// labelKey folds a label (CommonMark 6.3, "matches").
func labelKey(label string) string { return strings.ToLower(strings.Join(strings.Fields(label), " ")) }

// unescape removes the escapes of a URL.
func unescape(s string) string {
	if strings.IndexByte(s, '&') >= 0 {
		s = html.UnescapeString(s)
	}
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && isPunctuation(s[i+1]) {
			i++
		}
		b = append(b, s[i])
	}
	return string(b)
}

func isPunctuation(c byte) bool { return c > ' ' && c < 0x7f && !isWord(c) }

func isPunct(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

// isAutolink tells whether the text in angle brackets is a URI with a scheme (6.5).
func isAutolink(s string) bool {
	scheme, rest, ok := strings.Cut(s, ":")
	if !ok || len(scheme) < 2 || len(scheme) > 32 || strings.ContainsAny(rest, " \t\n<>") {
		return false
	}
	for i := range len(scheme) {
		if c := scheme[i]; !isWord(c) && (i == 0 || strings.IndexByte("+.-", c) < 0) {
			return false
		}
	}
	return true
}

func isMail(s string) bool {
	at := strings.IndexByte(s, '@')
	return at > 0 && at < len(s)-1 && !strings.ContainsAny(s, " \t\n/:<>\"=")
}
