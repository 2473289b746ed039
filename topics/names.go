package topics

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
)

// DefaultCrawl is the name of a crawl to which the user gives none.
const DefaultCrawl = "weft"

var crawlName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,99}$`)

// CheckCrawl says what is wrong with a crawl's name, if anything: lower case
// letters, digits and hyphens, at most 100. Dots and underscores would be the same
// in Kafka's metric names, and the dot separates the crawl's name from the topic's.
func CheckCrawl(crawl string) error {
	if !crawlName.MatchString(crawl) {
		return fmt.Errorf("crawl name %q is not made of a to z, 0 to 9 and hyphens, at most 100", crawl)
	}
	return nil
}

// Names are the full names of one crawl's topics.
type Names struct {
	Crawl string

	Config     string
	Seeds      string
	Discovered string
	Normalized string
	Deduped    string
	Scheduled  string
	Fetched    string
	Visited    string
	Parsed     string
	Rejected   string
}

// Loop returns the topic names of a crawl. crawl is valid by CheckCrawl.
func Loop(crawl string) Names {
	return Names{
		Crawl:      crawl,
		Config:     crawl + ".config",
		Seeds:      crawl + ".seeds",
		Discovered: crawl + ".discovered",
		Normalized: crawl + ".normalized",
		Deduped:    crawl + ".deduped",
		Scheduled:  crawl + ".scheduled",
		Fetched:    crawl + ".fetched",
		Visited:    crawl + ".visited",
		Parsed:     crawl + ".parsed",
		Rejected:   crawl + ".rejected",
	}
}

// Group returns the consumer group of a stage. The group of a stage with a ledger
// is the name of its ledger: goka calls a group's table topic by the group's
// name plus a suffix, which is set to nothing (goka.SetTableSuffix).
func (n Names) Group(s Stage) string { return n.groupOf(n.step(s)) }

func (n Names) groupOf(s Step) string {
	if s.Kind == Ledger {
		return s.Outputs[0]
	}
	return n.Crawl + "." + string(s.Stage)
}

// Troubles is a group without members. Stages write to its commits what keeps them
// from working (package trouble).
func (n Names) Troubles() string { return n.Crawl + ".troubles" }

// IsSeeds tells whether a topic has the name of a crawl's seeds.
func IsSeeds(topic string) bool {
	crawl, _, ok := strings.Cut(topic, ".")
	return ok && CheckCrawl(crawl) == nil && topic == Loop(crawl).Seeds
}

// IsGroup tells whether a group has the name of a group of a crawl.
func IsGroup(group string) bool {
	crawl, _, ok := strings.Cut(group, ".")
	if !ok || CheckCrawl(crawl) != nil {
		return false
	}
	names := Loop(crawl)
	return group == names.Troubles() || group == crawl+"."+string(FormerWARC) || slices.ContainsFunc(names.Steps(), func(s Step) bool { return group == names.groupOf(s) })
}

// Crawls returns the names of the crawls on a cluster, sorted. A crawl has all its
// topics; other topics with such names belong to other programs.
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
	slices.Sort(crawls) // they are sorted as topics: with "-" before the dot that follows the name
	return crawls, nil
}
