package verify

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/inspect/verify/accesslog"
	"github.com/weftcrawl/weft/internal/robots"
	"github.com/weftcrawl/weft/internal/settings"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/internal/topiclog"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/fetch/httpclient"
	"github.com/weftcrawl/weft/processors/normalize"
	"github.com/weftcrawl/weft/processors/parse/document"
	"github.com/weftcrawl/weft/topics"
)

// judge compares what is read with the claims.
type judge struct {
	*outcome
	opts     Options
	names    topics.Names
	reader   *topiclog.Reader
	suffixes *urls.Suffixes
	budgets  budgets
	library  library
	table    *table
	// scopes are the transformations of normalize by each definition that the crawl
	// had. A URL must be known only if all of them accept it.
	scopes []stage.Transform
	// parses are the options of parse by each definition.
	parses []document.Options
	// maxPages is the limit of the definition in force; agent is the product token of the crawl
	// in access logs.
	maxPages int64
	agent    string
	// days counts the requests that began on a day since 1970.
	days map[int64]int64
}

// Run verifies a crawl. An error means that the crawl could not be read; violations are
// in the Report. The error wraps topics.ErrPinned if the crawl has another suffix list
// than this program.
func Run(ctx context.Context, opts Options) (report *Report, err error) {
	if err := opts.Validate(); err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	reader, err := topiclog.New(opts.Client...)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	table, err := openTable()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, table.store.Close()) }()
	j := &judge{
		outcome: newOutcome(opts), opts: opts, names: topics.Loop(opts.Crawl), reader: reader,
		suffixes: urls.BundledSuffixes(), library: library{}, table: table, days: map[int64]int64{},
	}
	if err := j.define(ctx); err != nil {
		return nil, err
	}
	if err := j.run(ctx); err != nil {
		return nil, err
	}
	return j.report(opts.Log != nil), nil
}

// run reads the topics in the order of the package's documentation.
func (j *judge) run(ctx context.Context) error {
	up := &upstream{judge: j, commits: map[string]map[int32]int64{}, starts: map[string]map[int32]topiclog.Bounds{}}
	if err := up.read(ctx); err != nil {
		return err
	}
	down := &ledgers{judge: j, up: up, partitions: map[int32]*partition{}, dedupe: map[int32]*chain{}}
	if err := down.read(ctx); err != nil {
		return err
	}
	up.judgeMentions(down)
	j.judgeAddresses()
	j.noteDays()
	if err := (&pages{judge: j, up: up, down: down}).read(ctx); err != nil {
		return err
	}
	if err := j.nameAll(ctx); err != nil {
		return err
	}
	if j.opts.Log == nil {
		return nil
	}
	return newSite(j, down).read(ctx)
}

// define reads all definitions that the crawl had.
func (j *judge) define(ctx context.Context) error {
	have, err := topics.ReadDefinition(ctx, j.names, j.opts.Client...)
	if err != nil {
		return err
	}
	mine := have
	mine.SuffixList = j.suffixes.Version()
	if err := have.Agrees(mine); err != nil {
		return err
	}
	j.maxPages = have.MaxPages
	j.agent = robots.ProductToken(cmp.Or(have.UserAgent, httpclient.DefaultOptions().Product))
	if j.opts.Log != nil && j.opts.Log.Agent != "" {
		j.agent = j.opts.Log.Agent
	}
	seen := map[string]bool{}
	j.budgets.set = map[string]bool{}
	return j.reader.Records(ctx, j.names.Config, func(r *kgo.Record) error {
		d, ok := topics.DefinitionIn(r.Value, j.names.Crawl)
		if !ok {
			return nil // another program wrote it
		}
		if domain, ok := topics.SettingOf(r.Key); ok {
			j.budgets.set[domain] = true
		}
		j.budgets.loosen(d, settings.FrontierOptions(d).Window*max(1, int(d.FormerPartitions)))
		j.parses = append(j.parses, settings.ParseOptions(d))
		options := settings.ScopeOptions(d)
		key, err := json.Marshal(options)
		if err != nil || seen[string(key)] {
			return err
		}
		seen[string(key)] = true
		normalize, err := normalize.New(stage.Env{Names: j.names, Definition: d, Meter: stage.NoMeter{}})
		if err != nil {
			return fmt.Errorf("read %s at %d: %w", j.names.Config, r.Offset, err)
		}
		j.scopes = append(j.scopes, normalize)
		return nil
	})
}

// Options say what is verified.
type Options struct {
	// Crawl is the crawl's name; Client are the options that reach its brokers.
	Crawl  string
	Client []kgo.Opt
	// Skew is how far the clocks of two fetchers may differ; see the package's
	// documentation.
	Skew time.Duration
	// Examples is how many violations of each kind are listed; all are counted.
	Examples int
	// Log is a web server's own log, nil for none.
	Log *Log
}

// Log is a web server's own log and its format.
type Log struct {
	// Files, in any order; those whose names end with .gz are unpacked.
	Files  []string
	Format accesslog.Format
	// Host of the lines that name none.
	Host string
	// Agent is the product token of the requests that count; empty: the agent of the crawl.
	Agent string
	// Tolerance replaces the format's own when it is not negative.
	Tolerance time.Duration
}

// DefaultOptions are of a crawl named crawl, without a log.
func DefaultOptions(crawl string) Options { return Options{Crawl: crawl, Examples: 20} }

// Validate reports the first option that cannot work.
func (o Options) Validate() error {
	if err := topics.CheckCrawl(o.Crawl); err != nil {
		return err
	}
	switch {
	case o.Skew < 0:
		return fmt.Errorf("a skew of %v is negative", o.Skew)
	case o.Examples < 1:
		return errors.New("at least one example of a violation has to be listed")
	case o.Log == nil:
		return nil
	case len(o.Log.Files) == 0 || o.Log.Format.Name == "":
		return errors.New("an access log needs a file and a format")
	}
	return nil
}
