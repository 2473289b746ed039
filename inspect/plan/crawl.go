package plan

import (
	"errors"
	"fmt"
	"time"

	"github.com/weftcrawl/weft/internal/politeness"
)

// Crawl is a crawl to be planned, and its machines.
type Crawl struct {
	// Pages to be fetched from Domains within Days.
	Pages   int64   `json:"pages"`
	Days    float64 `json:"days"`
	Domains int64   `json:"domains"`
	// LargestDomain is the number of its pages; 0: the mean of all domains.
	LargestDomain int64 `json:"largest_domain"`

	// PageBytes is the mean size of a page's body, uncompressed, and Links the mean number
	// of its links.
	PageBytes int64   `json:"page_bytes"`
	Links     float64 `json:"links"`
	// Known is the number of known URLs at the end, for each fetched page; ≥ 1.
	Known float64 `json:"known"`
	// LargeShare is the share of bodies in the object store.
	LargeShare float64 `json:"large_share"`

	// Delay between two requests to a domain, and the mean time of a Response.
	Delay    time.Duration `json:"delay_ns"`
	Response time.Duration `json:"response_ns"`

	// Replication of the topics, and the days for which parsed is kept.
	Replication   int     `json:"replication"`
	RetentionDays float64 `json:"retention_days"`

	// A machine, for stages or a broker: cores, bytes of memory and of disk, and bits per
	// second of network in each direction.
	Cores   int   `json:"cores"`
	Memory  int64 `json:"memory"`
	Disk    int64 `json:"disk"`
	Network int64 `json:"network_bits"`
	// ProcessCores is the number of cores for a process of a stage.
	ProcessCores int `json:"process_cores"`
	// Load is the part of a machine that is used, in (0, 1].
	Load float64 `json:"load"`
}

// DefaultCrawl is a broad crawl. The caller sets Pages, Days and Domains.
func DefaultCrawl() Crawl {
	return Crawl{
		PageBytes: 100 << 10, Links: 60, Known: 4, LargeShare: 0.001,
		Delay: time.Second, Response: 500 * time.Millisecond,
		Replication: 3, RetentionDays: 7,
		Cores: 16, Memory: 64 << 30, Disk: 4 << 40, Network: 10_000_000_000,
		ProcessCores: 4, Load: 0.6,
	}
}

// Validate reports values that no crawl can have.
func (c Crawl) Validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	check(c.Pages >= 1, "%d pages are none", c.Pages)
	check(c.Pages <= maxPages, "%d pages are more than %g", c.Pages, maxPages)
	check(c.Days >= leastDays && c.Days <= maxDays, "%v days are not a second at least and at most %d", c.Days, maxDays)
	check(c.Domains >= 1 && c.Domains <= max(c.Pages, 1), "%d domains are not between 1 and the number of pages", c.Domains)
	check(c.LargestDomain >= 0 && c.LargestDomain <= max(c.Pages, 0), "the largest domain's %d pages are not between 0 and all", c.LargestDomain)
	check(c.PageBytes >= 1, "a page of %d bytes is empty", c.PageBytes)
	check(c.PageBytes <= maxPageBytes, "a page of %d bytes is longer than %d", c.PageBytes, int64(maxPageBytes))
	check(c.Links >= 0 && c.Links <= maxPerPage, "%v links are not between 0 and %v", c.Links, maxPerPage)
	check(c.Known >= 1 && c.Known <= maxPerPage, "%v known URLs a page are not between 1, since what is fetched is known, and %v", c.Known, maxPerPage)
	check(c.LargeShare >= 0 && c.LargeShare <= 1, "a share of %v large bodies is not between 0 and 1", c.LargeShare)
	check(c.Delay >= 0 && c.Delay <= politeness.MaxDelay, "a delay of %v is not between 0 and %v", c.Delay, politeness.MaxDelay)
	check(c.Response > 0 && c.Response <= politeness.MaxDelay, "a response in %v is not above 0 and at most %v", c.Response, politeness.MaxDelay)
	check(c.Replication >= 1 && c.Replication <= maxReplication, "a replication of %d is not between 1 and %d", c.Replication, maxReplication)
	check(c.RetentionDays >= 0 && c.RetentionDays <= maxDays, "a retention of %v days is not between 0 and %d", c.RetentionDays, maxDays)
	check(c.Cores >= 1 && c.Memory >= 1 && c.Disk >= 1 && c.Network >= 1, "a machine has at least one core, and memory, disk and network")
	check(c.ProcessCores >= 1, "a process of %d cores has none", c.ProcessCores)
	check(c.Load >= leastLoad && c.Load <= 1, "a load of %v is not between %v and 1", c.Load, leastLoad)
	return errors.Join(errs...)
}

const (
	secondsOfDay   = 24 * 60 * 60
	leastDays      = 1.0 / secondsOfDay
	maxDays        = 36_500
	maxPages       = 1e12
	maxPageBytes   = 1 << 40
	maxPerPage     = 1e6
	maxReplication = 1000
	leastLoad      = 0.001
)

// seconds that the crawl lasts.
func (c Crawl) seconds() float64 { return c.Days * secondsOfDay }

// robots is the number of requests for the robots.txt of a domain with that number of pages: one,
// and another each day while pages are left.
func (c Crawl) robots(pages float64) float64 { return max(1, min(c.Days, pages)) }

// total is the load of the whole crawl.
func (c Crawl) total() Load {
	pages := float64(c.Pages)
	return Load{
		Pages: pages, Links: pages * c.Links, KiB: pages * float64(c.PageBytes) / 1024,
		Domains: float64(c.Domains) * c.robots(pages/float64(c.Domains)),
		Queued:  pages * (c.Known - 1),
	}
}

// state is the load in the stores at the end: a domain counts once.
func (c Crawl) state() Load {
	l := c.total()
	l.Domains = float64(c.Domains)
	return l
}

// interval between the starts of two requests to a domain, seconds: the response, and the delay
// after it, which is never shorter than the response.
func (c Crawl) interval() float64 {
	return (politeness.Delay(c.Delay, 0, 1, c.Response) + c.Response).Seconds()
}
