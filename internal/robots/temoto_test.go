package robots_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/temoto/robotstxt"
	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/robots"
)

// On plain files, without wildcards, rules that compete, or lines that are no
// records, temoto/robotstxt is right, and we say the same: what a status means,
// sitemaps, Crawl-delay, and verdicts by prefix.
func TestAgreesWithTemotoOnPlainFiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var file strings.Builder
		var sitemaps []string
		agents := []string{"weft", "other", "*"}
		for _, agent := range rapid.SliceOfNDistinct(rapid.SampledFrom(agents), 1, 3, rapid.ID[string]).Draw(t, "groups") {
			fmt.Fprintf(&file, "User-agent: %s\n", agent)
			for _, dir := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"/a/", "/b/", "/c/d/", "/e"}), 1, 3, rapid.ID[string]).Draw(t, "disallowed") {
				fmt.Fprintf(&file, "Disallow: %s\n", dir)
			}
			if delay := rapid.IntRange(0, 20).Draw(t, "delay"); delay > 0 {
				fmt.Fprintf(&file, "Crawl-delay: %d\n", delay)
			}
			file.WriteString("\n")
		}
		for n := range rapid.IntRange(0, 2).Draw(t, "sitemaps") {
			sitemaps = append(sitemaps, fmt.Sprintf("https://example.org/sitemap-%d.xml", n))
			fmt.Fprintf(&file, "Sitemap: %s\n", sitemaps[n])
		}
		status := rapid.SampledFrom([]int{200, 404, 410, 500, 503}).Draw(t, "status")

		theirs, err := robotstxt.FromStatusAndBytes(status, []byte(file.String()))
		if err != nil {
			t.Fatal(err)
		}
		ours := robots.Parse(status, []byte(file.String()), "weft")
		rules := robots.Compile(ours)
		for _, path := range []string{"/", "/a/", "/a/x.html", "/b", "/b/y?z=1", "/c/", "/c/d/e", "/e", "/exit"} {
			if got, want := rules.Allowed(path), theirs.TestAgent(path, "weft"); got != want {
				t.Errorf("status %d, %s: allowed %v, want %v, by\n%s", status, path, got, want, file.String())
			}
		}
		if ours.Access != weftpb.Robots_ACCESS_RULES {
			return
		}
		if delay := time.Duration(ours.CrawlDelayMs) * time.Millisecond; delay != theirs.FindGroup("weft").CrawlDelay {
			t.Errorf("Crawl-delay %v, want %v, by\n%s", delay, theirs.FindGroup("weft").CrawlDelay, file.String())
		}
		if !slices.Equal(ours.Sitemaps, theirs.Sitemaps) {
			t.Errorf("sitemaps %q, want %q", ours.Sitemaps, theirs.Sitemaps)
		}
	})
}
