package urls

import (
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"
)

// MaxBytes is the length of the longest canonical URL. It bounds the records
// that carry URLs; longer URLs are nearly always traps or inlined data.
const MaxBytes = 2048

// URL is a canonical absolute http or https URL: "scheme://host[:port]/path"
// and, where there is one, "?query". It is comparable, and equal exactly when
// its String is. The zero value is no URL.
type URL struct {
	canonical string
	// Ends of the scheme, the host name and the authority in canonical.
	schemeEnd, nameEnd, pathStart uint16
}

// index finds the parts of a canonical URL.
func index(canonical string) URL {
	u := URL{canonical: canonical}
	u.schemeEnd = uint16(strings.IndexByte(canonical, ':'))
	host := int(u.schemeEnd) + len("://")
	u.pathStart = uint16(host + strings.IndexByte(canonical[host:], '/'))
	u.nameEnd = u.pathStart
	authority := canonical[host:u.pathStart]
	// The last colon starts a port unless it stands inside an IPv6 address.
	if colon := strings.LastIndexByte(authority, ':'); colon > strings.LastIndexByte(authority, ']') {
		u.nameEnd = uint16(host + colon)
	}
	return u
}

// IsZero reports whether u is no URL.
func (u URL) IsZero() bool { return u.canonical == "" }

// String is the canonical URL.
func (u URL) String() string { return u.canonical }

// Scheme is "http" or "https".
func (u URL) Scheme() string { return u.canonical[:u.schemeEnd] }

// Hostname is the host without its port: a lower-case ASCII name, an IPv4
// address, or an IPv6 address in brackets.
func (u URL) Hostname() string { return u.canonical[u.hostStart():u.nameEnd] }

// Host is "name" or, when the port is not the default one, "name:port".
func (u URL) Host() string { return u.canonical[u.hostStart():u.pathStart] }

// Origin is "scheme://host", with the port when it is not the default one.
func (u URL) Origin() string { return u.canonical[:u.pathStart] }

// PathAndQuery is what a request line carries: "/path" with "?query" if there
// is one.
func (u URL) PathAndQuery() string { return u.canonical[u.pathStart:] }

// Path is the path without the query; it starts with "/".
func (u URL) Path() string { return u.canonical[u.pathStart:u.pathEnd()] }

// Directory is the URL up to and including the last "/" of its path. Every URL
// in the same directory or below starts with it.
func (u URL) Directory() string {
	return u.canonical[:strings.LastIndexByte(u.canonical[:u.pathEnd()], '/')+1]
}

func (u URL) hostStart() int {
	if u.IsZero() {
		return 0
	}
	return int(u.schemeEnd) + len("://")
}

func (u URL) pathEnd() int {
	if query := strings.IndexByte(u.canonical, '?'); query >= 0 {
		return query
	}
	return len(u.canonical)
}

// Fingerprint is the 128-bit XXH3 hash of a canonical URL, in canonical
// (big-endian) byte order. Among 10^10 URLs two share one with a probability
// of about 10^-19.
func Fingerprint(canonical string) [16]byte {
	return xxh3.HashString128(canonical).Bytes()
}

// PageID names a page: the round-th fetch of a URL, counted from 0. It is 32
// hexadecimal digits, the same for every repeat of the same fetch.
func PageID(canonical string, round uint32) string {
	var array [MaxBytes + 16]byte
	// "#" occurs in no canonical URL, so no two pairs read the same.
	b := append(append(array[:0], canonical...), '#')
	id := xxh3.Hash128(strconv.AppendUint(b, uint64(round), 10)).Bytes()
	return hex.EncodeToString(id[:])
}
