package why

import (
	"context"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/drain"
	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/processors"
	"github.com/weftcrawl/weft/replay"
	"github.com/weftcrawl/weft/scope"
	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/urls"
)

// Options say which crawl is asked about.
type Options struct {
	// Names of the crawl's topics.
	Names topics.Names
	// Client are options that reach the brokers.
	Client []kgo.Opt
	// Dir is a directory on the disk that the stages write to; empty when they
	// run elsewhere.
	Dir string
	// Damaged is told of a partition that can only be read up to some place, which
	// what follows leaves out; nil: that is an error.
	Damaged func(partition int32, err error)
}

// Asker answers questions about one crawl. Not for concurrent use.
type Asker struct {
	opts       Options
	names      topics.Names
	definition topics.Definition
	policy     *scope.Policy
	form       *urls.Form
	frontier   frontier.Options
	suffixes   *urls.Suffixes

	logs   *replay.Reader
	status *drain.Reader
	client *kgo.Client
	admin  *kadm.Client
}

// New reads the crawl's definition. Close it. The error wraps
// topics.ErrUndefined when there is no such crawl.
func New(ctx context.Context, opts Options) (*Asker, error) {
	definition, err := topics.ReadDefinition(ctx, opts.Names, opts.Client...)
	if err != nil {
		return nil, err
	}
	policy, err := scope.New(processors.ScopeOptions(definition))
	if err != nil {
		return nil, fmt.Errorf("scope of crawl %s: %w", opts.Names.Crawl, err)
	}
	form, err := urls.NewForm(processors.URLOptions(definition))
	if err != nil {
		return nil, fmt.Errorf("form of URLs of crawl %s: %w", opts.Names.Crawl, err)
	}
	a := &Asker{
		opts: opts, names: opts.Names, definition: definition, policy: policy, form: form,
		frontier: processors.FrontierOptions(definition), suffixes: urls.BundledSuffixes(),
	}
	if a.logs, err = replay.New(opts.Client...); err != nil {
		return nil, err
	}
	if a.status, err = drain.NewReader(opts.Names, opts.Client...); err != nil {
		a.logs.Close()
		return nil, err
	}
	if a.client, err = kgo.NewClient(opts.Client...); err != nil {
		a.logs.Close()
		a.status.Close()
		return nil, fmt.Errorf("connect: %w", err)
	}
	a.admin = kadm.NewClient(a.client)
	return a, nil
}

// Close frees the connections.
func (a *Asker) Close() {
	a.logs.Close()
	a.status.Close()
	a.client.Close()
}

// partition is where everything about a domain is.
func (a *Asker) partition(domain string) int32 {
	return topics.Partition(domain, a.definition.Partitions)
}

// start is the first offset of a topic's partition; 0 when all of it is kept.
func (a *Asker) start(ctx context.Context, topic string, partition int32) (int64, error) {
	bounds, err := a.logs.Bounds(ctx, topic, partition)
	return bounds[partition].Start, err
}

// short is the name of a topic without the crawl's.
func (a *Asker) short(topic string) string {
	t, _ := a.names.Topic(topic)
	return t.Short
}

// ref names the place of a record.
func (a *Asker) ref(r *kgo.Record) Ref {
	return Ref{Topic: a.short(r.Topic), Partition: r.Partition, Offset: r.Offset}
}

// all are the numbers of the crawl's partitions.
func (a *Asker) all() []int32 {
	numbers := make([]int32, a.definition.Partitions)
	for i := range numbers {
		numbers[i] = int32(i)
	}
	return slices.Clip(numbers)
}
