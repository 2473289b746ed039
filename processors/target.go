package processors

import (
	"strings"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// ofDomain tells whether every target is a URL of domain, as it is in each record
// that normalize wrote. A record of another type may decode as a Normalized of
// targets without a URL, which no frontier can hold.
func ofDomain(domain string, targets []*weftpb.Target) bool {
	for _, t := range targets {
		if !isOf(domain, t.GetUrl()) {
			return false
		}
	}
	return true
}

// isOf tells whether a canonical URL is of a registrable domain. It looks at the
// host alone: dedupe sees millions of URLs.
func isOf(domain, url string) bool {
	rest, found := strings.CutPrefix(url, "http://")
	if !found {
		rest, found = strings.CutPrefix(url, "https://")
	}
	host, _, path := strings.Cut(rest, "/")
	if port := strings.LastIndexByte(host, ':'); port > strings.LastIndexByte(host, ']') {
		host = host[:port]
	}
	if len(host) > 1 {
		host = strings.TrimSuffix(host, ".") // see urls.Suffixes.Domain
	}
	before, same := strings.CutSuffix(host, domain)
	return found && path && same && (before == "" || before[len(before)-1] == '.')
}
