package topics

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// DefaultCrawl is the name of a crawl that was not given one.
const DefaultCrawl = "weft"

var crawlName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,99}$`)

// CheckCrawl says what is wrong with a crawl's name, if anything: lower case
// letters, digits and hyphens, at most 100. Dots and underscores would collide
// in the metric names of Kafka, and the dot separates name and topic.
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

// Stage is a consumer of the loop.
type Stage string

// The stages, in the order of the loop, and the writers of files behind it.
const (
	Normalize Stage = "normalize"
	Dedupe    Stage = "dedupe"
	Schedule  Stage = "schedule"
	Fetch     Stage = "fetch"
	Parse     Stage = "parse"
	// Pages writes the records of parsed to files.
	Pages Stage = "pages"
	// WARC writes the records of fetched to WARC files.
	WARC Stage = "warc"
)

// Stages are the stages of the loop itself, in its order.
func Stages() []Stage { return []Stage{Normalize, Dedupe, Schedule, Fetch, Parse} }

// Group returns the consumer group of a stage. The group of dedupe and schedule
// is the name of their ledger: goka calls a group's table topic by the group's
// name plus a suffix, which is set to nothing (goka.SetTableSuffix).
func (n Names) Group(s Stage) string {
	switch s {
	case Dedupe:
		return n.Deduped
	case Schedule:
		return n.Scheduled
	default:
		return n.Crawl + "." + string(s)
	}
}

// Troubles is a group without members, in which stages tell what keeps them from
// working (package trouble).
func (n Names) Troubles() string { return n.Crawl + ".troubles" }

// IsSeeds tells whether a topic has the name of a crawl's seeds.
func IsSeeds(topic string) bool {
	crawl, _, ok := strings.Cut(topic, ".")
	return ok && CheckCrawl(crawl) == nil && topic == Loop(crawl).Seeds
}

// IsGroup tells whether a group has the name of one of a crawl's own.
func IsGroup(group string) bool {
	crawl, _, ok := strings.Cut(group, ".")
	if !ok || CheckCrawl(crawl) != nil {
		return false
	}
	names := Loop(crawl)
	return group == names.Troubles() || slices.ContainsFunc(append(Stages(), Pages, WARC), func(s Stage) bool { return group == names.Group(s) })
}

// Inputs returns the topics that a stage reads.
func (n Names) Inputs(s Stage) []string {
	switch s {
	case Normalize:
		return []string{n.Seeds, n.Discovered}
	case Dedupe:
		return []string{n.Normalized}
	case Schedule:
		return []string{n.Deduped, n.Visited}
	case Fetch:
		return []string{n.Scheduled}
	case Parse, WARC:
		return []string{n.Fetched}
	case Pages:
		return []string{n.Parsed}
	}
	panic(fmt.Sprintf("topics: no stage %q", s))
}
