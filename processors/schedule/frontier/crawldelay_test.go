package frontier

import (
	"testing"

	"github.com/weftcrawl/weft/internal/politeness"
	"github.com/weftcrawl/weft/internal/robots"
)

// Records of robots.txt have the longest Crawl-delay that is honoured, and no shorter one.
func TestMaxCrawlDelay(t *testing.T) {
	if robots.MaxCrawlDelay != politeness.MaxCrawlDelay {
		t.Errorf("robots cuts a Crawl-delay at %v, politeness at %v", robots.MaxCrawlDelay, politeness.MaxCrawlDelay)
	}
}
