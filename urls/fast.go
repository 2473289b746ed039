package urls

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// fast resolves a plain reference exactly as full does, or declines it with
// ok false. It takes it trimmed, with its fragment cut to "#", and with no
// scheme but http and https. The base is zero when there is none.
//
// Plain is: a lower-case scheme if any; a host of ASCII labels, none empty;
// valid UTF-8 without controls; every "%" the start of an escape. It makes one
// allocation, the canonical string.
func fast(base URL, ref string) (u URL, refusal Refusal, ok bool) {
	if ref == "" || ref[0] == '#' {
		return base, Accepted, !base.IsZero()
	}
	if !utf8.ValidString(ref) {
		return URL{}, Accepted, false
	}
	var array [MaxBytes + 1]byte
	b, root, rest, ok := appendStart(array[:0], base, ref)
	if !ok {
		return URL{}, Accepted, false
	}
	if b, rest, ok = appendPath(b, root, rest); !ok {
		return URL{}, Accepted, false
	}
	if strings.HasPrefix(rest, "?") {
		if b, _, ok = appendBytes(append(b, '?'), rest[1:], &queryClass); !ok {
			return URL{}, Accepted, false
		}
	}
	if len(b) > MaxBytes {
		return URL{}, TooLong, true
	}
	return index(string(b)), Accepted, true
}

// appendStart appends everything before what ref says of the path. The path
// so far starts at root and ends with "/", unless ref has no path at all.
func appendStart(b []byte, base URL, ref string) (out []byte, root int, rest string, ok bool) {
	switch {
	case strings.HasPrefix(ref, "https://"):
		return appendAuthority(append(b, "https://"...), ref[len("https://"):], "443")
	case strings.HasPrefix(ref, "http://"):
		return appendAuthority(append(b, "http://"...), ref[len("http://"):], "80")
	case base.IsZero() || schemeOf(ref) != "":
		return nil, 0, "", false
	case strings.HasPrefix(ref, "//"):
		return appendAuthority(append(b, base.canonical[:base.hostStart()]...), ref[len("//"):], base.defaultPort())
	case ref[0] == '/':
		return append(b, base.canonical[:base.pathStart+1]...), int(base.pathStart), ref[1:], true
	case ref[0] == '?':
		return append(b, base.canonical[:base.pathEnd()]...), int(base.pathStart), ref, true
	default:
		return append(b, base.Directory()...), int(base.pathStart), ref, true
	}
}

// appendAuthority appends a host and port and the "/" after them. It declines
// whatever the standard gives a meaning beyond lower case: names that could be
// IPv4 addresses, escapes, user names.
func appendAuthority(b []byte, s, defaultPort string) (out []byte, root int, rest string, ok bool) {
	if len(s) > maxNameBytes && !strings.ContainsAny(s[:maxNameBytes+1], "/?#") {
		return nil, 0, "", false
	}
	label := len(b)
	i := 0
scan:
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-', c == '_':
			b = append(b, c)
		case 'A' <= c && c <= 'Z':
			b = append(b, c+'a'-'A')
		case c == '.':
			if label == len(b) {
				return nil, 0, "", false
			}
			b = append(b, '.')
			label = len(b)
		case c == '/', c == '?', c == '#', c == ':':
			break scan
		default:
			return nil, 0, "", false
		}
	}
	if last := b[label:]; len(last) == 0 || '0' <= last[0] && last[0] <= '9' {
		return nil, 0, "", false
	}
	rest = s[i:]
	if strings.HasPrefix(rest, ":") {
		end := strings.IndexAny(rest, "/?#")
		if end < 0 {
			end = len(rest)
		}
		port := rest[1:end]
		if !plainPort(port) {
			return nil, 0, "", false
		}
		if port != defaultPort {
			b = append(append(b, ':'), port...)
		}
		rest = rest[end:]
	}
	return append(b, '/'), len(b), strings.TrimPrefix(rest, "/"), true
}

// maxNameBytes is the longest host name and port that fast takes.
const maxNameBytes = 253

// plainPort reports whether port is a number of at most four digits, or of
// five that cannot exceed 65535, without leading zeros.
func plainPort(port string) bool {
	if port == "" || len(port) > 5 || len(port) == 5 && port > "65535" || port[0] == '0' {
		return false
	}
	for i := range len(port) {
		if port[i] < '0' || port[i] > '9' {
			return false
		}
	}
	return true
}

// appendPath appends the segments of s to the path that starts at root, and
// resolves dot segments as it goes. It stops before "?" or "#".
func appendPath(b []byte, root int, s string) (out []byte, rest string, ok bool) {
	for {
		segment := len(b)
		b, s, ok = appendBytes(b, s, &pathClass)
		if !ok {
			return nil, "", false
		}
		more := strings.HasPrefix(s, "/")
		switch string(b[segment:]) {
		case ".":
			b = b[:segment]
		case "..":
			b = parent(b[:segment], root)
		default:
			if more {
				b = append(b, '/')
			}
		}
		if !more {
			return b, s, true
		}
		s = s[1:]
	}
}

// parent removes the last segment of the path b[root:], which ends with "/";
// the root has no parent but itself.
func parent(b []byte, root int) []byte {
	path := b[root:]
	slash := bytes.LastIndexByte(path[:len(path)-1], '/')
	return b[:root+max(slash, 0)+1]
}

// appendBytes appends what stands before the first stop of s, escaped as the
// table says, and gives the rest of s from the stop on.
func appendBytes(b []byte, s string, table *[256]class) (out []byte, rest string, ok bool) {
	kept := 0 // s[kept:i] is waiting to be appended as it is
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch table[c] {
		case keep:
			continue
		case stop:
			return append(b, s[kept:i]...), s[i:], true
		case escape:
			b = appendEscape(append(b, s[kept:i]...), c)
		case percent:
			c, ok := unescape(s[i:])
			if !ok {
				return nil, "", false
			}
			b = append(b, s[kept:i]...)
			if isUnreserved(c) {
				b = append(b, c)
			} else {
				b = appendEscape(b, c)
			}
			i += 2
		case odd:
			return nil, "", false
		}
		kept = i + 1
	}
	return append(b, s[kept:]...), "", true
}
