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
	withdrawn               int64
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
		Withdrawn:  g.withdrawn,
	}
}

// matches tells whether an event's gauges are these.
func (g gauges) matches(r *weftpb.Gauges) bool {
	return r.GetPending() == g.queued+g.out && r.GetQueued() == g.queued && r.GetOut() == g.out &&
		r.GetVisits() == g.visits && r.GetDomains() == g.domains && r.GetDomainsOut() == g.domainsOut &&
		r.GetFetched() == g.fetched && r.GetFailed() == g.failed && r.GetRefused() == g.refuse && r.GetWithdrawn() == g.withdrawn
}

// settle counts the end of a URL.
func (g *gauges) settle(reason string) {
	switch reason {
	case ReasonFetched, ReasonNotModified:
		g.fetched++
	case ReasonDisallowed, ReasonTooManyRules, ReasonUnreachable, ReasonTooManyOrigins:
		g.refuse++
	default:
		g.failed++
	}
}

func (g gauges) encode() []byte {
	w := make(writer, 0, 40)
	if g.withdrawn != 0 {
		w.int(withWithdrawn)
		w.int(g.withdrawn)
	}
	for _, n := range []int64{g.queued, g.out, g.visits, g.domains, g.domainsOut, g.fetched, g.failed, g.refuse, g.decidedMS} {
		w.int(n)
	}
	return w
}

// withWithdrawn is in front of gauges that begin with what is withdrawn, where
// others have the number of what is queued: without, they are written as they were
// before there were groups.
const withWithdrawn = -1

func decodeGauges(b []byte) (gauges, error) {
	var g gauges
	if b == nil {
		return g, nil
	}
	r := reader{rest: b}
	if first := (&reader{rest: b}); first.int() == withWithdrawn {
		r.int()
		g.withdrawn = r.int()
		r.bad = g.withdrawn == 0
	}
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
	// ReasonTooManyRules: robots.txt has more rules than are held, or is no UTF-8,
	// so that everything is forbidden.
	ReasonTooManyRules = "robots_too_many_rules"
	// ReasonUnreachable: robots.txt could not be had, so everything is
	// forbidden (RFC 9309 section 2.3.1.4).
	ReasonUnreachable = "robots_unreachable"
	// ReasonMissing: the name of its host does not exist.
	ReasonMissing = "dns_not_found"
	// ReasonTooManyOrigins: the domain has more origins than allowed.
	ReasonTooManyOrigins = "too_many_origins"
	// ReasonBreaker: the domain's breaker opened too often.
	ReasonBreaker = "gave_up_breaker"
	// ReasonRobots: it was a request for a robots.txt, which is no URL of the
	// crawl and is not counted.
	ReasonRobots = "robots"
	// ReasonInvalidURL: not an absolute URL.
	ReasonInvalidURL = "invalid_url"
	// ReasonWithdrawn: other URLs are fetched instead, unless their group comes
	// back. It ends no URL: Outcomes has the number of those that are withdrawn.
	ReasonWithdrawn = "withdrawn"
)
