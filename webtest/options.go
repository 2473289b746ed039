package webtest

import (
	"fmt"
	"time"
)

// Options describe a generated web. The same options make the same web, byte
// for byte, except for the port in links between domains.
type Options struct {
	// Seed of everything that is drawn. Default 1.
	Seed uint64
	// Pages of the whole web, spread evenly over the domains. Default 1,000.
	Pages int
	// Domains, at most 50,000. Default 10.
	Domains int
	// MedianBytes and MeanBytes of a page's HTML; sizes are log-normal.
	// Defaults 15 KiB and 30 KiB, as of technical documentation.
	MedianBytes, MeanBytes int
	// Links of a page of ordinary size, mean. Default 40. Small pages have
	// fewer: no more than one in 150 bytes.
	Links int
	// CrossLinks is the share of links that lead to another domain.
	CrossLinks float64
	// DeniedEvery, ErrorEvery and RedirectEvery: one page in so many links to
	// a URL that robots.txt denies, to one that does not exist (404), or to
	// one that redirects to a page of the same domain. 0: none does.
	DeniedEvery, ErrorEvery, RedirectEvery int
	// NoRobotsEvery: every so manieth domain has no robots.txt (404), and so
	// denies nothing. 0: every domain has one.
	NoRobotsEvery int
	// CrawlDelayEvery: every so manieth robots.txt asks for CrawlDelay.
	CrawlDelayEvery int
	CrawlDelay      time.Duration
}

// WithDefaults returns o with its zero fields set.
func (o Options) WithDefaults() Options {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	def(&o.Pages, 1000)
	def(&o.Domains, 10)
	def(&o.MedianBytes, 15<<10)
	def(&o.MeanBytes, 30<<10)
	def(&o.Links, 40)
	return o
}

// Validate reports options that describe no web.
func (o Options) Validate() error {
	switch {
	case o.Domains < 1 || o.Domains > maxDomains:
		return fmt.Errorf("domains %d: want 1 to %d", o.Domains, maxDomains)
	case o.Pages < o.Domains:
		return fmt.Errorf("pages %d: want at least one for each of %d domains", o.Pages, o.Domains)
	case o.MedianBytes < 1 || o.MeanBytes < o.MedianBytes:
		return fmt.Errorf("page sizes: median %d and mean %d: want 0 < median ≤ mean", o.MedianBytes, o.MeanBytes)
	case o.Links < 1:
		return fmt.Errorf("links %d: want at least 1", o.Links)
	case o.CrossLinks < 0 || o.CrossLinks > 1:
		return fmt.Errorf("cross links %v: want a share between 0 and 1", o.CrossLinks)
	case o.DeniedEvery < 0 || o.ErrorEvery < 0 || o.RedirectEvery < 0 || o.NoRobotsEvery < 0 || o.CrawlDelayEvery < 0:
		return fmt.Errorf("an interval (…Every) is negative")
	case o.CrawlDelay < 0:
		return fmt.Errorf("crawl delay %v is negative", o.CrawlDelay)
	}
	return nil
}
