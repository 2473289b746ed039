package frontier

import (
	"errors"
	"fmt"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/politeness"
)

// Options of one partition's frontier. All but Partition may change between
// two runs of a crawl: decisions depend on them, the fold does not.
type Options struct {
	// Partition is the number of the partition; it is part of visit ids.
	Partition int32
	// Delay is the least time between the end of a response and the next
	// request to the same domain, 0 to politeness.MaxDelay.
	Delay time.Duration
	// ResponseFactor: the delay is also at least this factor times the time of the last
	// response. It is ignored when Delay is 0. 0: off.
	ResponseFactor float64
	// PerDomain is how many visits of a domain may be out at once.
	PerDomain int
	// Window is how many visits of the partition may be out at once, so that
	// releases never run far ahead of the fetchers.
	Window int
	// MaxOrigins bounds the origins of a domain; URLs of further ones are
	// refused.
	MaxOrigins int
	// BreakerFailures is the number of failures in a row that open the breaker of a host, or
	// of an origin to which no connection can be made. Then only probes go out.
	BreakerFailures uint32
	// GiveUpAfter is how long a host may be down before its URLs are given up.
	GiveUpAfter time.Duration
	// PerDay is the largest number of requests to a domain in a day (UTC). CrawlPerDay is the
	// budget of the crawl, which is divided among the domains (see Share). 0: no limit.
	PerDay, CrawlPerDay int64
	// SitemapRefresh is the time after which a sitemap is fetched again; 0: never.
	SitemapRefresh time.Duration
	// AgentSinceMS is when the User-Agent changed last, Unix time in milliseconds. Rules of robots.txt that were
	// fetched before do not hold: they are those for another agent. 0: it never changed.
	AgentSinceMS int64
	// ErrorBlock: if more than half of at least 100 answers of a domain in a day were errors, the
	// domain is blocked for a day. Dead links (404 and 410) are not among these answers. A page
	// that is tried again and fails is still one error.
	ErrorBlock bool
	// Setting returns the setting of a domain, nil if it has no setting. A nil Setting: no
	// domain has one.
	Setting func(domain string) *weftpb.DomainSetting
	// Allowed tells whether rules allow our agent to fetch the canonical url. rules are the
	// rules in force for its origin. The same rules come as the same pointer as long as they
	// are cached.
	Allowed func(rules *weftpb.Robots, url string) bool
	// Unheld tells whether rules forbid everything because the file has more rules than Weft
	// keeps. Nil: this never happens.
	Unheld func(rules *weftpb.Robots) bool
	// Usage is what rules say about the use of the page with a url; nil: they say nothing.
	Usage func(rules *weftpb.Robots, url string) string
	// SomeDomains says that only the events of some domains are folded. The gauges then count
	// only these domains. They are not compared with the gauges of the events, which count the
	// whole partition.
	SomeDomains bool
}

// DefaultOptions returns what a polite crawl uses. Allowed must be set.
func DefaultOptions() Options {
	return Options{
		Delay:           time.Second,
		ResponseFactor:  1,
		PerDomain:       1,
		Window:          512,
		MaxOrigins:      250_000,
		BreakerFailures: 5,
		GiveUpAfter:     7 * 24 * time.Hour,
		SitemapRefresh:  24 * time.Hour,
		ErrorBlock:      true,
	}
}

// Validate reports the first option that cannot work.
func (o Options) Validate() error {
	switch {
	case o.Partition < 0:
		return fmt.Errorf("frontier: partition %d is negative", o.Partition)
	case o.Delay < 0 || o.Delay > politeness.MaxDelay:
		return fmt.Errorf("frontier: delay %v is not within 0 and %v", o.Delay, politeness.MaxDelay)
	case !(o.ResponseFactor >= 0 && o.ResponseFactor <= 1000):
		return fmt.Errorf("frontier: response factor %v is not within 0 and 1000", o.ResponseFactor)
	case o.PerDomain < 1 || o.PerDomain > maxPerDomain:
		return fmt.Errorf("frontier: %d visits per domain are not within 1 and %d", o.PerDomain, maxPerDomain)
	case o.Window < 1:
		return fmt.Errorf("frontier: a window of %d visits is not positive", o.Window)
	case o.MaxOrigins < 1:
		return fmt.Errorf("frontier: a limit of %d origins per domain is not positive", o.MaxOrigins)
	case o.BreakerFailures < 1:
		return errors.New("frontier: a breaker needs at least one failure")
	case o.GiveUpAfter < 0:
		return fmt.Errorf("frontier: the time after which hosts are given up, %v, is negative", o.GiveUpAfter)
	case o.SitemapRefresh < 0:
		return fmt.Errorf("frontier: the time after which sitemaps are fetched again, %v, is negative", o.SitemapRefresh)
	case o.PerDay < 0 || o.CrawlPerDay < 0:
		return fmt.Errorf("frontier: %d requests a day per domain, %d per crawl", o.PerDay, o.CrawlPerDay)
	case o.Allowed == nil:
		return errors.New("frontier: the option for robots rules is missing")
	}
	return nil
}

// maxPerDomain keeps a domain's record small.
const maxPerDomain = 64
