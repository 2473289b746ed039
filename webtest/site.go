package webtest

import (
	"fmt"
	"net/netip"
)

// Site answers for every domain of a web. It is called concurrently.
type Site interface {
	// Domains lists the addresses that the site answers for, without a port.
	Domains() []string
	// Answer returns the response to a GET of path (with its query) at
	// domain. The body may be appended to buf, which belongs to the call.
	Answer(domain string, port int, path string, buf []byte) Response
}

// Response is what a Site says.
type Response struct {
	Status int
	// Type is the Content-Type.
	Type string
	// Location of a redirect, absolute path or URL.
	Location string
	Body     []byte
}

// maxDomains is how many addresses DomainAddr has.
const maxDomains = 50_000

// DomainAddr is the address of domain number n: 127.1.0.1, 127.1.0.2, … The
// last byte is 1 to 250, so that no address looks like a network's own.
func DomainAddr(n int) string {
	return netip.AddrFrom4([4]byte{127, 1, byte(n / 250), byte(n%250 + 1)}).String()
}

// domainNumber is the inverse of DomainAddr.
func domainNumber(addr string) (int, bool) {
	ip, err := netip.ParseAddr(addr)
	if err != nil || !ip.Is4() {
		return 0, false
	}
	b := ip.As4()
	if b[0] != 127 || b[1] != 1 || b[3] == 0 || b[3] > 250 {
		return 0, false
	}
	return int(b[2])*250 + int(b[3]) - 1, true
}

// Origin is the root URL of a domain, without a trailing slash.
func Origin(domain string, port int) string {
	return fmt.Sprintf("http://%s:%d", domain, port)
}
