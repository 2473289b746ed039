package urls

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// endsInNumber is the ends-in-a-number checker
// (https://url.spec.whatwg.org/#ends-in-a-number-checker): such a host is an
// IPv4 address or nothing.
func endsInNumber(name string) bool {
	name = strings.TrimSuffix(name, ".")
	last := name[strings.LastIndexByte(name, '.')+1:]
	if last == "" {
		return false
	}
	if strings.Trim(last, "0123456789") == "" {
		return true
	}
	return strings.HasPrefix(last, "0x") && strings.Trim(last[2:], "0123456789abcdef") == ""
}

// parseIPv4 is the IPv4 parser (https://url.spec.whatwg.org/#concept-ipv4-parser) with its
// serializer: 1 to 4 numbers, decimal, octal or hexadecimal. The last number fills the bytes
// that are left.
func parseIPv4(name string) (string, Refusal) {
	parts := strings.Split(strings.TrimSuffix(name, "."), ".")
	if len(parts) > 4 {
		return "", Malformed
	}
	var address uint64
	for i, part := range parts {
		number, ok := parseIPv4Number(part)
		free := 1 // bytes that the part may fill
		if i == len(parts)-1 {
			free = 5 - len(parts)
		}
		if !ok || number >= 1<<(8*free) {
			return "", Malformed
		}
		address = address<<(8*free) | number
	}
	return netip.AddrFrom4([4]byte{byte(address >> 24), byte(address >> 16), byte(address >> 8), byte(address)}).String(), Accepted
}

func parseIPv4Number(s string) (uint64, bool) {
	radix := 10
	switch {
	case s == "":
		return 0, false
	case strings.HasPrefix(s, "0x"):
		s, radix = s[2:], 16
	case len(s) > 1 && s[0] == '0':
		s, radix = s[1:], 8
	}
	if s == "" {
		return 0, true // "0x" is 0
	}
	if s[0] == '+' || s[0] == '-' {
		return 0, false
	}
	number, err := strconv.ParseUint(s, radix, 64)
	return number, err == nil
}

// parseIPv6 parses an address in brackets
// (https://url.spec.whatwg.org/#concept-ipv6-parser) and writes it as the
// standard does, which never uses the dotted form.
func parseIPv6(s string) (string, Refusal) {
	inner, closed := strings.CutSuffix(s[1:], "]")
	if !closed || strings.IndexByte(inner, '%') >= 0 {
		return "", Malformed
	}
	address, err := netip.ParseAddr(inner)
	if err != nil || !address.Is6() {
		return "", Malformed
	}
	if address.Is4In6() {
		b := address.As16()
		return fmt.Sprintf("[::ffff:%x:%x]", uint(b[12])<<8|uint(b[13]), uint(b[14])<<8|uint(b[15])), Accepted
	}
	return "[" + address.String() + "]", Accepted
}
