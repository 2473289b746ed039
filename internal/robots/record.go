package robots

import (
	"strings"
	"unicode/utf8"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/urls"
)

// The rules of a record are lines, in the order of the file, each once: a sign, "-" to
// disallow and "+" to allow, and a pattern. The pattern is in normal form, except that
// characters which a URI cannot hold are not escaped. So a rule is shorter than its
// line in the file, and the rules of MaxBytes of a file fit into MaxBytes. An octet
// that is not valid UTF-8, which RFC 9309 section 2.3 asks for, is escaped
// nevertheless, because a record holds text.

// signs begin the lines of a record. Earlier versions wrote the lines of a robots.txt.
var signs = []struct {
	text  string
	allow bool
}{
	{"-", false}, {"+", true},
	{"Disallow: ", false}, {"Allow: ", true},
}

// nothingAllowed replaces the rules of a file that do not fit, because the file is not UTF-8 or
// has too many wildcards. With only some of its rules, more would be allowed than the file
// says.
const nothingAllowed = "-/\n" + unheld

// unheld is a line beside them that is not a rule. It tells them from the rules of a
// file that forbids everything.
const unheld = "!unheld\n"

// Unheld tells whether the rules of a record stand for others that it could not
// hold.
func Unheld(r *weftpb.Robots) bool { return r.GetRules() == nothingAllowed }

// maxSearched bounds the rules of a record that must be searched for in a path. Each
// costs a pass over the path, for every URL of the origin. Large files have some
// hundreds. 500 KiB have room for 37,000, which take 50 ms for a long URL.
const maxSearched = 4000

func writeRules(rules []rule) string {
	var b []byte
	written := make(map[rule]bool, len(rules))
	searched := 0
	for _, rule := range rules {
		if written[rule] {
			continue
		}
		written[rule] = true
		if isSearched(rule.pattern) {
			searched++
		}
		sign := byte('-')
		if rule.allow {
			sign = '+'
		}
		b = append(appendPattern(append(b, sign), rule.pattern), '\n')
	}
	if len(b) > MaxBytes || searched > maxSearched {
		return nothingAllowed
	}
	return string(b)
}

// readRule reads a line of a record; false for a line that Parse does not write.
func readRule(line string) (rule, bool) {
	for _, sign := range signs {
		if text, ok := strings.CutPrefix(line, sign.text); ok {
			return rule{normalPattern(text), sign.allow}, true
		}
	}
	return rule{}, false
}

// appendPattern appends a normal pattern with as few escapes as a line can do
// with; normalize puts them back.
func appendPattern(b []byte, normal string) []byte {
	if strings.IndexByte(normal, '%') < 0 {
		return append(b, normal...)
	}
	octets := make([]byte, 0, len(normal))
	for i := 0; i < len(normal); i++ {
		c := normal[i]
		if octet, escaped := urls.Unescape(normal[i:]); escaped && !plain[octet] && octet != '%' && octet != '\n' {
			c = octet
			i += len("%XX") - 1
		}
		octets = append(octets, c)
	}
	for len(octets) > 0 {
		r, size := utf8.DecodeRune(octets)
		if r == utf8.RuneError && size == 1 {
			b = urls.AppendEscape(b, octets[0])
		} else {
			b = append(b, octets[:size]...)
		}
		octets = octets[size:]
	}
	return b
}
