package urls

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// parseAuthority parses a host and port without user name (host state and port
// state). The port comes with its colon, and is empty when the scheme implies it.
func parseAuthority(s, scheme string) (host, port string, refusal Refusal) {
	host = s
	if colon := strings.IndexByte(s[bracketsEnd(s):], ':'); colon >= 0 {
		colon += bracketsEnd(s)
		host = s[:colon]
		if port, refusal = parsePort(s[colon+1:], scheme); refusal != Accepted {
			return "", "", refusal
		}
	}
	switch {
	case host == "":
		return "", "", NoHost
	case len(host) > maxHostBytes:
		return "", "", TooLong
	}
	host, refusal = parseHost(host)
	return host, port, refusal
}

// maxHostBytes bounds what a hostile page can cost: punycode takes time in the
// square of a label's length. A host name has at most 253 bytes, three times as
// many when escaped.
const maxHostBytes = 1024

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

// parsePort gives ":port" of the digits of a port, "" for none and for the
// default one.
func parsePort(digits, scheme string) (string, Refusal) {
	number := 0
	for _, c := range []byte(digits) {
		if c < '0' || c > '9' {
			return "", Malformed
		}
		if number = number*10 + int(c-'0'); number > 65535 {
			return "", Malformed
		}
	}
	if digits == "" || scheme == "http" && number == 80 || scheme == "https" && number == 443 {
		return "", Accepted
	}
	return ":" + strconv.Itoa(number), Accepted
}

// parseHost is the host parser (https://url.spec.whatwg.org/#host-parsing) for
// hosts that are not empty.
func parseHost(s string) (string, Refusal) {
	if s[0] == '[' {
		return parseIPv6(s)
	}
	domain := s
	if strings.IndexByte(s, '%') >= 0 {
		domain = percentDecode(s)
	}
	name, ok := toASCII(domain)
	if !ok || name == "" || strings.ContainsFunc(name, forbiddenInDomain) {
		return "", Malformed
	}
	if endsInNumber(name) {
		return parseIPv4(name)
	}
	return name, Accepted
}

// toASCII is "domain to ASCII" (https://url.spec.whatwg.org/#idna), not strict.
// Names in ASCII are lower-cased and not judged further, however invalid their
// punycode: enough sites have such names (whatwg/url#914, June 2026).
func toASCII(domain string) (string, bool) {
	if isASCII(domain) {
		return strings.ToLower(domain), true
	}
	if !utf8.ValidString(domain) {
		return "", false // U+FFFD is disallowed
	}
	name, err := uts46.ToASCII(strings.Map(mapSince15, domain))
	return name, err == nil
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

// mapSince15 maps the characters whose mapping has changed between Unicode 15.0,
// of which the tables of x/net are with Go 1.26, and 16.0: capitals that were
// disallowed until 15.0 because they were once mapped otherwise, characters that
// are ignored now, and five corrected ideographs (UTS #46, modifications of
// revisions 31 and 33).
func mapSince15(r rune) rune {
	switch {
	case r < 0x4C0:
		return r
	case 0x10A0 <= r && r <= 0x10C5, r == 0x10C7, r == 0x10CD:
		return r - 0x10A0 + 0x2D00
	case 0x1D173 <= r && r <= 0x1D17A:
		return -1
	}
	switch r {
	case 'Ӏ':
		return 'ӏ'
	case 'ẞ':
		return 'ß'
	case 'Ⅎ':
		return 'ⅎ'
	case 'Ↄ':
		return 'ↄ'
	case 0x115F, 0x1160, 0xFFA0, 0x17B4, 0x17B5:
		return -1
	case 0x2F868:
		return '㛼'
	case 0x2F874:
		return '当'
	case 0x2F91F:
		return '𤎫'
	case 0x2F95F:
		return '竮'
	case 0x2F9BF:
		return '䗗'
	}
	return r
}

// forbiddenInDomain is a forbidden domain code point.
func forbiddenInDomain(r rune) bool {
	return r <= ' ' || r == 0x7f || strings.ContainsRune("#%/:<>?@[\\]^|", r)
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
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c, ok := unescape(s[i:])
		if !ok {
			b = append(b, s[i])
			continue
		}
		b = append(b, c)
		i += 2
	}
	return string(b)
}
