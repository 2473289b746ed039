package main

import (
	"strings"
	"testing"

	"github.com/weftcrawl/weft/codecs"
)

// Sitemaps of the command line are seeds of their own, beside URLs or alone.
func TestSitemapSeeds(t *testing.T) {
	for _, c := range []struct {
		urls, sitemaps []string
		want           string
	}{
		{nil, []string{"https://a.example/s.xml", "https://b.example/s.xml"}, "https://a.example/s.xml true, https://b.example/s.xml true"},
		{[]string{"https://a.example/"}, []string{"https://a.example/s.xml"}, "https://a.example/ false, https://a.example/s.xml true"},
		{nil, nil, "https://in.example/ false"},
	} {
		records, err := (&seedCmd{URLs: c.urls, Sitemap: c.sitemaps}).seeds(strings.NewReader("https://in.example/\n"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for record, err := range records {
			if err != nil {
				t.Fatal(err)
			}
			seeds, bad := codecs.DecodeSeeds(record)
			if len(seeds) != 1 || len(bad) > 0 {
				t.Fatalf("%s is %v, %v", record, seeds, bad)
			}
			sitemap := " false"
			if seeds[0].Sitemap {
				sitemap = " true"
			}
			got = append(got, seeds[0].URL+sitemap)
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%v and sitemaps %v: %v", c.urls, c.sitemaps, got)
		}
	}
	if _, err := (&seedCmd{Sitemap: []string{"nonsense"}}).seeds(nil); err == nil {
		t.Error("a sitemap that is no URL is taken")
	}
	crawl := crawlCmd{Sitemap: []string{"https://a.example/s.xml"}}
	if seeds, err := crawl.seeds(nil); err != nil || len(seeds) != 1 || !strings.Contains(string(seeds[0]), `"sitemap":true`) {
		t.Errorf("weft crawl --sitemap seeds %s, %v", seeds, err)
	}
}
