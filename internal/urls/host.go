package urls

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// parseAuthority parses a host and port without user name (host state and port
// state).
func parseAuthority(s, scheme string) (host string, port int, refusal Refusal) {
	host, port = s, impliedPort
	if colon := strings.IndexByte(s[bracketsEnd(s):], ':'); colon >= 0 {
		colon += bracketsEnd(s)
		host = s[:colon]
		if port, refusal = parsePort(s[colon+1:], scheme); refusal != Accepted {
			return "", 0, refusal
		}
	}
	switch {
	case host == "":
		return "", 0, NoHost
	case len(host) > maxHostBytes:
		return "", 0, TooLong
	}
	host, refusal = parseHost(host)
	return host, port, refusal
}

// maxHostBytes bounds the time that a hostile page can cost: punycode takes time in the
// square of a label's length. A host name has at most 253 bytes, and three times as
// many when escaped.
const maxHostBytes = 1024

// impliedPort is the port of a URL without a port.
const impliedPort = -1

// bracketsEnd is where the brackets of an IPv6 address end, in which colons
// start no port: 0 when there are none, len(s) when they are left open.
func bracketsEnd(s string) int {
	open := strings.IndexByte(s, '[')
	colon := strings.IndexByte(s, ':')
	switch {
	case open < 0, colon >= 0 && colon < open:
		return 0
	case strings.IndexByte(s[open:], ']') < 0:
		return len(s)
	}
	return open + strings.IndexByte(s[open:], ']')
}

// parsePort gives the number of a port, impliedPort for the default one and for none.
func parsePort(digits, scheme string) (int, Refusal) {
	number, err := strconv.ParseUint(digits, 10, 16)
	switch {
	case digits == "", scheme == "http" && number == 80, scheme == "https" && number == 443:
		return impliedPort, Accepted
	case err != nil:
		return 0, Malformed
	}
	return int(number), Accepted
}

// parseHost is the host parser (https://url.spec.whatwg.org/#host-parsing) for
// hosts that are not empty.
func parseHost(s string) (string, Refusal) {
	if s[0] == '[' {
		return parseIPv6(s)
	}
	name := s
	if !isName(name) {
		name = toASCII(percentDecode(s))
	}
	if !isName(name) {
		return "", Malformed
	}
	if endsInNumber(name) {
		return parseIPv4(name)
	}
	return withoutFinalDot(name), Accepted
}

// withoutFinalDot is the name without the dot that says that it is complete. A crawler
// completes no name.
func withoutFinalDot(name string) string {
	if without := strings.TrimSuffix(name, "."); without != "" && !strings.HasSuffix(without, ".") {
		return without
	}
	return name
}

// toASCII is "domain to ASCII" (https://url.spec.whatwg.org/#idna), not strict.
// Names in ASCII become lower case, and their punycode is not checked: enough sites have
// invalid names (whatwg/url#914, June 2026). It is empty if domain has no such form.
func toASCII(domain string) string {
	if isASCII(domain) {
		return strings.ToLower(domain)
	}
	if !utf8.ValidString(domain) {
		return "" // U+FFFD is disallowed
	}
	name, err := uts46.ToASCII(strings.Map(mapSince15, domain))
	if err != nil {
		return ""
	}
	return name
}

// uts46 is Unicode ToASCII (https://www.unicode.org/reports/tr46/#ToASCII) with
// the flags that the URL Standard sets.
var uts46 = idna.New(
	idna.MapForLookup(),
	idna.ValidateLabels(true),
	idna.BidiRule(),
	idna.CheckJoiners(true),
	idna.CheckHyphens(false),
	idna.StrictDomainName(false),
	idna.Transitional(false),
	idna.VerifyDNSLength(false),
)

// mapSince15 maps the characters whose mapping has changed between Unicode 15.0
// and 16.0. With Go 1.26 the tables of x/net are of 15.0. The characters are
// capitals that were disallowed until 15.0 because they were once mapped
// otherwise, characters that are ignored now, and five corrected ideographs (UTS
// #46, modifications of revisions 31 and 33).
func mapSince15(r rune) rune {
	switch {
	case r < 0x4C0:
		return r
	case 0x10A0 <= r && r <= 0x10C5, r == 0x10C7, r == 0x10CD:
		return r - 0x10A0 + 0x2D00
	case 0x1D173 <= r && r <= 0x1D17A:
		return -1
	}
	if mapped, changed := changedSince15[r]; changed {
		return mapped
	}
	return r
}

var changedSince15 = map[rune]rune{
	'Ӏ': 'ӏ', 'ẞ': 'ß', 'Ⅎ': 'ⅎ', 'Ↄ': 'ↄ',
	0x115F: -1, 0x1160: -1, 0xFFA0: -1, 0x17B4: -1, 0x17B5: -1,
	0x2F868: '㛼', 0x2F874: '当', 0x2F91F: '𤎫', 0x2F95F: '竮', 0x2F9BF: '䗗',
}

// isName reports whether s is not empty and has no upper case and no forbidden domain code
// point.
func isName(s string) bool {
	for i := range len(s) {
		if hostClass[s[i]] != keep {
			return false
		}
	}
	return s != ""
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func percentDecode(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for s != "" {
		c, ok := Unescape(s)
		if ok {
			s = s[len("%XX"):]
		} else {
			c, s = s[0], s[1:]
		}
		b = append(b, c)
	}
	return string(b)
}
