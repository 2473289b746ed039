package why

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/inspect/status"
	"github.com/weftcrawl/weft/internal/kafka"
	"github.com/weftcrawl/weft/internal/settings"
	"github.com/weftcrawl/weft/internal/topiclog"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/normalize/scope"
	"github.com/weftcrawl/weft/processors/schedule/frontier"
	"github.com/weftcrawl/weft/topics"
)

// Options say which crawl the questions are about.
type Options struct {
	// Names of the crawl's topics.
	Names topics.Names
	// Client are the options that reach the brokers.
	Client []kgo.Opt
	// Dir is a directory on the disk to which the stages write; empty if they run
	// elsewhere.
	Dir string
	// Damaged is called with a partition that can be read only up to some offset; the
	// rest of it is left out. nil: that is an error.
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

	logs   *topiclog.Reader
	status *status.Monitor
	client *kgo.Client
	admin  *kadm.Client
}

// New reads the crawl's definition. The caller closes the Asker. The error wraps
// topics.ErrUndefined if there is no such crawl.
func New(ctx context.Context, opts Options) (*Asker, error) {
	definition, err := topics.ReadDefinition(ctx, opts.Names, opts.Client...)
	if err != nil {
		return nil, err
	}
	policy, err := scope.New(settings.ScopeOptions(definition))
	if err != nil {
		return nil, fmt.Errorf("scope of crawl %s: %w", opts.Names.Crawl, err)
	}
	form, err := urls.NewForm(settings.URLOptions(definition))
	if err != nil {
		return nil, fmt.Errorf("form of URLs of crawl %s: %w", opts.Names.Crawl, err)
	}
	a := &Asker{
		opts: opts, names: opts.Names, definition: definition, policy: policy, form: form,
		frontier: settings.FrontierOptions(definition), suffixes: urls.BundledSuffixes(),
	}
	if a.logs, err = topiclog.New(opts.Client...); err != nil {
		return nil, err
	}
	if a.status, err = status.NewMonitor(opts.Names, opts.Client...); err != nil {
		a.logs.Close()
		return nil, err
	}
	if a.client, err = kafka.NewClient(opts.Client...); err != nil {
		a.logs.Close()
		a.status.Close()
		return nil, err
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

// partition is the partition of everything about a domain.
func (a *Asker) partition(domain string) int32 {
	return topics.Partition(domain, a.definition.Partitions)
}

// start is the first offset of a topic's partition; 0 if nothing was trimmed.
func (a *Asker) start(ctx context.Context, topic string, partition int32) (int64, error) {
	bounds, err := a.logs.Bounds(ctx, topic, partition)
	return bounds[partition].Start, err
}

// ref names the place of a record.
func (a *Asker) ref(r *kgo.Record) Ref {
	topic, _ := a.names.Topic(r.Topic)
	return Ref{Topic: topic.Short, Partition: r.Partition, Offset: r.Offset}
}
