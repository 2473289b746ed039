package frontier

import (
	"fmt"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
)

// gauges count the URLs, domains and visits of the partition; see weftpb.Gauges. The record of
// the gauges also has the other facts about the whole partition.
type gauges struct {
	queued, out, visits      int64
	domains, domainsOut      int64
	fetched, failed, refused int64
	withdrawn, down          int64
	blocked                  int64
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
		Refused:    g.refused,
		Withdrawn:  g.withdrawn,
		Down:       g.down,
		Blocked:    g.blocked,
	}
}

// matches tells whether an event has the same gauges. Events of earlier versions do not count
// URLs of hosts that are down.
func (g gauges) matches(r *weftpb.Gauges) bool {
	return r.GetPending() == g.queued+g.out && r.GetQueued() == g.queued && r.GetOut() == g.out &&
		r.GetVisits() == g.visits && r.GetDomains() == g.domains && r.GetDomainsOut() == g.domainsOut &&
		r.GetFetched() == g.fetched && r.GetFailed() == g.failed && r.GetRefused() == g.refused && r.GetWithdrawn() == g.withdrawn &&
		(r.GetDown() == g.down || r.GetDown() == 0) && r.GetBlocked() == g.blocked
}

// settle counts the end of a URL.
func (g *gauges) settle(reason string) {
	switch EndOf(reason) {
	case EndFetched:
		g.fetched++
	case EndRefused:
		g.refused++
	default:
		g.failed++
	}
}

// End is how a URL ended: with a response, without a request, or failed.
type End string

// The ends of URLs, as the gauges count them.
const (
	EndFetched End = "fetched"
	EndRefused End = "refused"
	EndFailed  End = "failed"
)

// EndOf returns how a URL ended that was settled with a reason.
func EndOf(reason string) End {
	switch reason {
	case ReasonFetched, ReasonNotModified:
		return EndFetched
	case ReasonDisallowed, ReasonTooManyRules, ReasonUnreachable, ReasonTooManyOrigins:
		return EndRefused
	}
	return EndFailed
}

// byOrigin is in front of the gauges of a store in which URLs wait in queues of their origins.
// Stores of earlier versions have another number there; see migrate.go.
const byOrigin = -2

// withBlocked is there instead if domains are blocked.
const withBlocked = -3

func (g *gauges) fields(f *kv.Fields) {
	format := int64(byOrigin)
	if g.blocked != 0 {
		format = withBlocked
	}
	f.Int(&format)
	f.Require(format == byOrigin || format == withBlocked)
	if format == withBlocked {
		f.Int(&g.blocked)
		f.Require(g.blocked != 0)
	}
	for _, n := range []*int64{
		&g.withdrawn, &g.down, &g.queued, &g.out, &g.visits, &g.domains, &g.domainsOut, &g.fetched, &g.failed, &g.refused, &g.decidedMS,
	} {
		f.Int(n)
	}
}

func (g gauges) encode() []byte { return kv.Encode(40, g.fields) }

func readGauges(store kv.Store) (gauges, error) {
	g, err := decodeGauges(store.Get([]byte{gaugesKey}))
	if err != nil {
		err = fmt.Errorf("read gauges: %w", err)
	}
	return g, err
}

func decodeGauges(b []byte) (g gauges, err error) {
	if b != nil {
		err = kv.Decode(b, g.fields)
	}
	return g, err
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
	// ReasonTooManyRules: robots.txt has more rules than are kept, or is not UTF-8. So
	// everything is forbidden.
	ReasonTooManyRules = "robots_too_many_rules"
	// ReasonUnreachable: robots.txt could not be fetched, so everything is
	// forbidden (RFC 9309 section 2.3.1.4).
	ReasonUnreachable = "robots_unreachable"
	// ReasonMissing: the name of its host does not exist.
	ReasonMissing = "dns_not_found"
	// ReasonTooManyOrigins: the domain has more origins than allowed.
	ReasonTooManyOrigins = "too_many_origins"
	// ReasonBreaker: its host was down for longer than Options.GiveUpAfter.
	ReasonBreaker = "gave_up_breaker"
	// ReasonRobots: it was a request for a robots.txt, which is not a URL of the
	// crawl and is not counted.
	ReasonRobots = "robots"
	// ReasonCheck: it was a check, a request for a page that was fetched before. It is not
	// counted either.
	ReasonCheck = "check"
	// ReasonInvalidURL: not an absolute URL.
	ReasonInvalidURL = "invalid_url"
	// ReasonWithdrawn: other URLs are fetched instead, unless the group comes back. It is
	// not the end of a URL: Outcomes has the number of URLs that are withdrawn now.
	ReasonWithdrawn = "withdrawn"
)
