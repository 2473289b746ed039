package settings

import (
	"testing"

	"github.com/weftcrawl/weft/processors/fetch/httpclient"
	"github.com/weftcrawl/weft/topics"
)

// Files have a bound of their own unless the crawl says how large bodies may be, and never one
// that the crawl has no place for.
func TestBoundOfFiles(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		maxBody int64
		bodies  string
		want    int64
	}{
		{0, topics.InData, 32 * mib}, {0, "", topics.LargestInRecord}, {5 * mib, topics.InData, 5 * mib}, {64 * mib, topics.InData, 64 * mib},
	} {
		o := ClientOptions(httpclient.DefaultOptions(), topics.Definition{MaxBody: c.maxBody, Bodies: c.bodies})
		if o.FileBytes != c.want {
			t.Errorf("max body %d, bodies in %q: %d", c.maxBody, c.bodies, o.FileBytes)
		}
	}
}
