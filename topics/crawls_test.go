package topics_test

import (
	"slices"
	"testing"

	"github.com/weftcrawl/weft/topics"
)

func TestCrawls(t *testing.T) {
	admin, _ := cluster(t)
	ctx := deadline(t)
	if crawls, err := topics.Crawls(ctx, admin); err != nil || len(crawls) > 0 {
		t.Fatalf("on an empty cluster: %q, %v", crawls, err)
	}
	for _, crawl := range []string{"weft", "news", "news-2"} {
		if _, err := topics.Create(ctx, admin, topics.Spec{Crawl: crawl, Partitions: 1, Replication: 1}); err != nil {
			t.Fatal(err)
		}
	}
	// Other programs have topics with such names, too.
	for _, name := range []string{"theirs.config", "Shop.config", ".config", "a.b.config"} {
		if _, err := admin.CreateTopic(ctx, 1, 1, nil, name); err != nil {
			t.Fatal(err)
		}
	}
	crawls, err := topics.Crawls(ctx, admin)
	if want := []string{"news", "news-2", "weft"}; err != nil || !slices.Equal(crawls, want) {
		t.Errorf("%q, %v; want %q", crawls, err, want)
	}
}
