package verify

import "github.com/weftcrawl/weft/codecs/weftpb"

// reasonRobots settles a request for a robots.txt, which is no URL of the crawl.
const reasonRobots = "robots"

// isReferral tells a request for a robots.txt that another domain's redirects
// to. It is no URL of the crawl: nobody found it, it may come more than once,
// and no rules hold for it. It has a place and a delay like any other.
func isReferral(q *weftpb.Request) bool {
	return q.GetTarget().GetVia() == weftpb.Via_VIA_ROBOTS
}
