package fetch

import (
	"context"
	"strings"
)

// MaxRobotsRedirects is how many redirects in a row are followed from a
// robots.txt (RFC 9309 section 2.3.1.2).
const MaxRobotsRedirects = 5

// Robots fetches a robots.txt, or what one redirects to, following up to five
// redirects, also to other hosts. It returns every exchange in order, at least
// one; the last one is the answer. An answer that is still a redirect led to
// more than five, to no http URL, or where hop did not permit.
//
// hop is asked before each redirect is followed, with its absolute target. The
// target may be of another domain, which another fetcher may own; that is the
// caller's to decide, and it may wait in hop for the domain's delay. Nil: none
// is followed.
func (c *Client) Robots(ctx context.Context, url string, permit func() bool, hop func(next string) bool) []*Exchange {
	next := url
	var list []*Exchange
	for {
		x := c.Do(ctx, Request{URL: next, Kind: KindRobots, Permit: permit})
		list = append(list, x)
		next = x.Location
		if x.Class != ClassNone || !isHTTP(next) || len(list) > MaxRobotsRedirects || hop == nil || !hop(next) {
			return list
		}
	}
}

func isHTTP(url string) bool {
	return strings.HasPrefix(url, "http://") || strings.HasPrefix(url, "https://")
}
