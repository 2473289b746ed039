package robots

import (
	"strings"
	"unicode/utf8"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// The rules of a record are lines, in the order of the file, each once: a sign,
// "-" to disallow and "+" to allow, and a pattern. It is in normal form, but that
// what cannot stand in a URI is not escaped. So a rule is shorter than its line in
// the file, and the rules of MaxBytes of a file fit into MaxBytes. An octet that
// is no part of UTF-8, which a robots.txt has to be (RFC 9309 section 2.3), is
// escaped all the same: a record holds text.

// signs tell what a line of a record does. Earlier versions wrote the lines of a
// robots.txt.
var signs = []struct {
	text  string
	allow bool
}{
	{"-", false}, {"+", true},
	{"Disallow: ", false}, {"Allow: ", true},
}

// nothingAllowed are the rules of a file whose own do not fit, because it is no
// UTF-8 or has too many wildcards: with some of them missing, more would be
// allowed than it says.
const nothingAllowed = "-/\n" + unheld

// unheld is a line beside them, which is no rule: it tells them from those of a
// file that forbids everything.
const unheld = "!unheld\n"

// Unheld tells whether the rules of a record stand for others that it could not
// hold.
func Unheld(r *weftpb.Robots) bool { return r.GetRules() == nothingAllowed }

// maxSearched is how many rules of a record may have to be searched for in a
// path: each costs a pass over it, for every URL of the origin. Large files have
// some hundreds. 500 KiB have room for 37,000, which take 50 ms for a long URL.
const maxSearched = 4000

// writeRules writes the rules of a record.
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

// readRule reads a line of a record; false for one that Parse does not write.
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
		if c == '%' && i+2 < len(normal) && isHex(normal[i+1]) && isHex(normal[i+2]) {
			if octet := unhex(normal[i+1])<<4 | unhex(normal[i+2]); !plain[octet] && octet != '%' && octet != '\n' {
				c = octet
				i += 2
			}
		}
		octets = append(octets, c)
	}
	for len(octets) > 0 {
		r, size := utf8.DecodeRune(octets)
		if r == utf8.RuneError && size == 1 {
			b = append(b, '%', hexDigits[octets[0]>>4], hexDigits[octets[0]&15])
		} else {
			b = append(b, octets[:size]...)
		}
		octets = octets[size:]
	}
	return b
}
