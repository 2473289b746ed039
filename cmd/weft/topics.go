package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/processors"
	"github.com/weftcrawl/weft/progress"
	"github.com/weftcrawl/weft/topics"
)

type topicsCmd struct {
	Show   topicsShowCmd   `cmd:"" default:"withargs" help:"Show the loop with partitions, offsets and lag."`
	Create topicsCreateCmd `cmd:"" help:"Create the topics that do not exist, and define the crawl."`
	ACLs   topicsACLsCmd   `cmd:"" name:"acls" help:"Print the commands that grant each stage, and those who use a crawl, what they need and no more."`
}

type topicsShowCmd struct {
	reachFlags
}

// Run is called by kong.
func (c *topicsShowCmd) Run(ctx context.Context, std streams) error {
	release, err := c.look(ctx, std)
	if err != nil {
		return err
	}
	defer release()
	admin, err := c.admin(ctx)
	if err != nil {
		return err
	}
	defer admin.Close()
	names := topics.Loop(c.Crawl)
	if err := c.exists(ctx, names.Config); err != nil {
		return err
	}
	lags, err := readLags(ctx, admin, names)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TOPIC\tPARTITIONS\tSTART\tEND\tREADERS (LAG)")
	for _, topic := range names.Topics() {
		sizes, ok := lags.sizes[topic.Name]
		if !ok {
			fmt.Fprintf(table, "%s\tmissing\t\t\t\n", topic.Name)
			continue
		}
		fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%s\n", topic.Name, sizes.partitions,
			progress.Count(sizes.start), progress.Count(sizes.end), strings.Join(lags.readers[topic.Name], ", "))
	}
	return table.Flush()
}

// loopLags is the loop's topics with their sizes and readers.
type loopLags struct {
	sizes   map[string]topicSize
	readers map[string][]string // by topic: "stage (lag)"
}

// topicSize sums the offsets of a topic's partitions.
type topicSize struct {
	partitions int
	start, end int64
}

func readLags(ctx context.Context, admin *kadm.Client, names topics.Names) (loopLags, error) {
	var all []string
	for _, topic := range names.Topics() {
		all = append(all, topic.Name)
	}
	lags := loopLags{sizes: map[string]topicSize{}, readers: map[string][]string{}}
	starts, err := admin.ListStartOffsets(ctx, all...)
	if err != nil {
		return lags, fmt.Errorf("log starts of %s: %w", names.Crawl, err)
	}
	ends, err := admin.ListEndOffsets(ctx, all...)
	if err != nil {
		return lags, fmt.Errorf("log ends of %s: %w", names.Crawl, err)
	}
	ends.Each(func(end kadm.ListedOffset) {
		if start, ok := starts.Lookup(end.Topic, end.Partition); ok && end.Err == nil {
			size := lags.sizes[end.Topic]
			size.partitions++
			size.start += start.Offset
			size.end += end.Offset
			lags.sizes[end.Topic] = size
		}
	})
	for _, stage := range append(topics.Stages(), topics.WARC) {
		commits, err := admin.FetchOffsets(ctx, names.Group(stage))
		if err != nil && !errors.Is(err, kerr.GroupIDNotFound) { // nobody has read yet
			return lags, fmt.Errorf("commits of %s: %w", names.Group(stage), err)
		}
		if stage == topics.WARC && len(commits) == 0 {
			continue // files are written by some crawls only
		}
		for _, topic := range names.Inputs(stage) {
			behind := int64(0)
			for partition, end := range ends[topic] {
				start, _ := starts.Lookup(topic, partition)
				next := start.Offset
				if commit, ok := commits.Lookup(topic, partition); ok {
					next = max(next, commit.At)
				}
				behind += end.Offset - next
			}
			lags.readers[topic] = append(lags.readers[topic], fmt.Sprintf("%s (%s)", stage, progress.Count(behind)))
		}
	}
	return lags, nil
}

type topicsCreateCmd struct {
	clusterFlags
	definitionFlags
	Replication int16 `placeholder:"N" default:"-1" help:"Copies of each partition; -1 leaves it to the brokers."`
	Alter       bool  `help:"Set the configuration of topics that exist as it would be in new ones."`
}

// Run is called by kong.
func (c *topicsCreateCmd) Run(ctx context.Context, std streams) error {
	if err := errors.Join(c.checkRemote(), c.definitionFlags.check()); err != nil {
		return err
	}
	admin, err := c.admin(ctx)
	if err != nil {
		return err
	}
	defer admin.Close()
	definition, err := c.definition(ctx)
	if err != nil {
		return err
	}
	spec := topics.Spec{Crawl: c.Crawl, Partitions: definition.Partitions, Replication: c.Replication}
	if err := errors.Join(spec.Validate(), processors.CheckDefinition(definition)); err != nil {
		return usageError{err}
	}
	if c.Bodies != nil {
		if _, err := crawl.OpenStore(ctx, "large bodies", definition.Bodies); err != nil {
			return err
		}
	}
	created, err := topics.Create(ctx, admin, spec)
	if err != nil {
		return err
	}
	for _, name := range created.Topics {
		fmt.Fprintf(std.out, "created %s\n", name)
	}
	if err := c.settle(ctx, admin, created.Differs, std.out); err != nil {
		return err
	}
	if err := topics.Check(ctx, admin, topics.Loop(c.Crawl), definition.Partitions); err != nil {
		return err
	}
	if err := topics.WriteDefinition(ctx, definition, c.client()...); err != nil {
		return err
	}
	_, err = fmt.Fprintf(std.out, "crawl %s has %d partitions\n", c.Crawl, definition.Partitions)
	return err
}

// settle says what differs from the design, and alters it if that is asked for.
func (c *topicsCreateCmd) settle(ctx context.Context, admin *kadm.Client, differs []topics.Difference, out io.Writer) error {
	left := differs
	if c.Alter {
		var err error
		if left, err = topics.Alter(ctx, admin, differs); err != nil {
			return err
		}
	}
	for _, d := range differs {
		done := "altered"
		if slices.Contains(left, d) {
			done = "left alone"
		}
		fmt.Fprintf(out, "%s: %s\n", done, d)
	}
	return nil
}

// newPartitions is the number of partitions of a crawl that was not given one:
// enough for the cores of one machine, few enough for large batches.
const newPartitions = 4

// definition is the crawl's as it is in force, or a new one, with the flags
// that were given.
func (c *topicsCreateCmd) definition(ctx context.Context) (topics.Definition, error) {
	have, err := topics.ReadDefinition(ctx, topics.Loop(c.Crawl), c.client()...)
	if errors.Is(err, topics.ErrUndefined) {
		have = newDefinition(c.Crawl)
		have.Partitions = newPartitions
		return c.over(have), nil
	}
	if err != nil {
		return topics.Definition{}, err
	}
	want := c.over(have)
	return want, have.Agrees(want)
}
