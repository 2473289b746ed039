package urls

import (
	"strings"

	"golang.org/x/net/publicsuffix"
)

// Suffixes is a version of the public suffix list (https://publicsuffix.org), with
// private suffixes. A crawl uses one version: with another, hosts would change their
// domain and their partition. It is safe for concurrent use.
type Suffixes struct {
	list interface {
		PublicSuffix(hostname string) string
		String() string
	}
}

// BundledSuffixes is the list that is compiled in.
func BundledSuffixes() *Suffixes { return &Suffixes{list: publicsuffix.List} }

// Version names the list, for people and for comparison.
func (s *Suffixes) Version() string { return s.list.String() }

// Domain is the registrable domain of a canonical host name without port: the
// public suffix and one label more. An IP address, a single label and a public suffix
// are their own domain. A final dot, which names the same host, is ignored, unless the
// dot is all. The result shares memory with hostname.
func (s *Suffixes) Domain(hostname string) string {
	if len(hostname) > 1 {
		hostname = strings.TrimSuffix(hostname, ".")
	}
	if isAddress(hostname) {
		return hostname
	}
	suffix := s.list.PublicSuffix(hostname)
	if len(suffix) >= len(hostname) {
		return hostname
	}
	// hostname ends with "." + suffix.
	before := hostname[:len(hostname)-len(suffix)-1]
	return hostname[strings.LastIndexByte(before, '.')+1:]
}

// isAddress reports whether a canonical host is an IP address. The parser
// turns every name whose last label is a number into an IPv4 address or
// refuses it (https://url.spec.whatwg.org/#ends-in-a-number-checker).
func isAddress(hostname string) bool {
	if strings.HasPrefix(hostname, "[") {
		return true
	}
	last := hostname[strings.LastIndexByte(hostname, '.')+1:]
	return last != "" && strings.Trim(last, "0123456789") == ""
}

// DomainOf returns the registrable domain of a canonical URL or an origin, by the
// bundled suffixes. It is empty for any other text.
func DomainOf(url string) string {
	u, refusal := Parse(url)
	if refusal != Accepted {
		return ""
	}
	return BundledSuffixes().Domain(u.Hostname())
}

// HostOf returns the host of a canonical absolute URL, or of an origin, without its port.
func HostOf(url string) string { return WithoutPort(AuthorityOf(url)) }

// AuthorityOf returns the host of a canonical absolute URL, or of an origin, with its port if it is
// not the default one.
func AuthorityOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	return rest
}

// WithoutPort cuts the port off a host. An IPv6 address keeps its brackets.
func WithoutPort(host string) string {
	if port := strings.LastIndexByte(host, ':'); port > strings.LastIndexByte(host, ']') {
		return host[:port]
	}
	return host
}

// SameHost tells whether two hosts are the same, with or without "www." in front.
func SameHost(a, b string) bool {
	return strings.TrimPrefix(a, "www.") == strings.TrimPrefix(b, "www.")
}

// IsBelow tells whether a host name is a domain, or a name below it.
func IsBelow(name, domain string) bool {
	above, ok := strings.CutSuffix(name, domain)
	return ok && (above == "" || strings.HasSuffix(above, "."))
}

// IsAbsolute tells whether a reference is a URL of the web with its scheme: http or https, in any case.
func IsAbsolute(ref string) bool {
	for _, scheme := range []string{"http://", "https://"} {
		if len(ref) > len(scheme) && strings.EqualFold(ref[:len(scheme)], scheme) {
			return true
		}
	}
	return false
}
