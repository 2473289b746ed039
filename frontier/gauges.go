package frontier

import (
	"github.com/weftcrawl/weft/codecs/weftpb"
)

// gauges count what the partition holds; see weftpb.Gauges. With them is kept
// what else is known of the partition as a whole.
type gauges struct {
	queued, out, visits     int64
	domains, domainsOut     int64
	fetched, failed, refuse int64
	// decidedMS is the latest time of a decision about a domain.
	decidedMS int64
}

func (g gauges) record() *weftpb.Gauges {
	return &weftpb.Gauges{
		Pending:    g.queued + g.out,
		Queued:     g.queued,
		Out:        g.out,
		Visits:     g.visits,
		Domains:    g.domains,
		DomainsOut: g.domainsOut,
		Fetched:    g.fetched,
		Failed:     g.failed,
		Refused:    g.refuse,
	}
}

// matches tells whether an event's gauges are these.
func (g gauges) matches(r *weftpb.Gauges) bool {
	return r.GetPending() == g.queued+g.out && r.GetQueued() == g.queued && r.GetOut() == g.out &&
		r.GetVisits() == g.visits && r.GetDomains() == g.domains && r.GetDomainsOut() == g.domainsOut &&
		r.GetFetched() == g.fetched && r.GetFailed() == g.failed && r.GetRefused() == g.refuse
}

// settle counts the end of a URL.
func (g *gauges) settle(reason string) {
	switch reason {
	case ReasonFetched, ReasonNotModified:
		g.fetched++
	case ReasonDisallowed, ReasonUnreachable, ReasonTooManyOrigins:
		g.refuse++
	default:
		g.failed++
	}
}

func (g gauges) encode() []byte {
	w := make(writer, 0, 40)
	for _, n := range []int64{g.queued, g.out, g.visits, g.domains, g.domainsOut, g.fetched, g.failed, g.refuse, g.decidedMS} {
		w.int(n)
	}
	return w
}

func decodeGauges(b []byte) (gauges, error) {
	var g gauges
	if b == nil {
		return g, nil
	}
	r := reader{rest: b}
	for _, n := range []*int64{&g.queued, &g.out, &g.visits, &g.domains, &g.domainsOut, &g.fetched, &g.failed, &g.refuse, &g.decidedMS} {
		*n = r.int()
	}
	return g, r.err()
}

// Reasons with which the frontier itself settles URLs. The others are the
// reasons of politeness.Judge and, with "gave_up_" in front, of its retries.
const (
	// ReasonFetched: there was a response.
	ReasonFetched = "fetched"
	// ReasonNotModified: there was a response without a body, 304.
	ReasonNotModified = "not_modified"
	// ReasonDisallowed: robots.txt forbids it.
	ReasonDisallowed = "robots_disallowed"
	// ReasonUnreachable: robots.txt could not be had, so everything is
	// forbidden (RFC 9309 section 2.3.1.4).
	ReasonUnreachable = "robots_unreachable"
	// ReasonTooManyOrigins: the domain has more origins than allowed.
	ReasonTooManyOrigins = "too_many_origins"
	// ReasonBreaker: the domain's breaker opened too often.
	ReasonBreaker = "gave_up_breaker"
	// ReasonRobots: it was a request for a robots.txt, which is no URL of the
	// crawl and is not counted.
	ReasonRobots = "robots"
	// ReasonInvalidURL: not an absolute URL.
	ReasonInvalidURL = "invalid_url"
)
