package topics

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
)

// Crawls returns the names of the crawls on a cluster, sorted: of those whose
// topics are all there. Other topics are none of ours, whatever they are called.
func Crawls(ctx context.Context, admin *kadm.Client) ([]string, error) {
	listed, err := admin.ListTopics(ctx)
	if err != nil {
		return nil, fmt.Errorf("list topics: %w", err)
	}
	var crawls []string
	for _, name := range listed.Names() {
		crawl, ok := strings.CutSuffix(name, Loop("").Config)
		if !ok || CheckCrawl(crawl) != nil {
			continue
		}
		if !slices.ContainsFunc(Loop(crawl).Topics(), func(t Topic) bool { return !listed.Has(t.Name) }) {
			crawls = append(crawls, crawl)
		}
	}
	slices.Sort(crawls) // "-" is before the dot in topics' names, and not in theirs
	return crawls, nil
}
