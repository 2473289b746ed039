package verify

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/fetch"
	"github.com/weftcrawl/weft/parse"
	"github.com/weftcrawl/weft/politeness"
	"github.com/weftcrawl/weft/processors"
	"github.com/weftcrawl/weft/replay"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/urls"
)

// judge holds what is read against the claims.
type judge struct {
	*findings
	opts     Options
	names    topics.Names
	reader   *replay.Reader
	suffixes *urls.Suffixes
	budgets  budgets
	library  library
	table    *table
	// scopes are what normalize makes of a record, by each definition that the
	// crawl had; a URL must be known only if all of them take it.
	scopes []processors.Transform
	// parses are the options of parse by each definition.
	parses []parse.Options
	// maxPages of the definition in force, and the product token by which
	// access logs name the crawl.
	maxPages int64
	agent    string
}

// Run verifies a crawl. An error means that it could not be read; what is wrong
// with it is in the Report. The error wraps topics.ErrPinned if the crawl's
// suffix list is not this program's.
func Run(ctx context.Context, opts Options) (report *Report, err error) {
	if err := opts.Validate(); err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	reader, err := replay.New(opts.Client...)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	table, err := openTable()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, table.close()) }()
	j := &judge{
		findings: newFindings(opts.Examples), opts: opts, names: topics.Loop(opts.Crawl), reader: reader,
		suffixes: urls.BundledSuffixes(), library: library{}, table: table,
	}
	if err := j.define(ctx); err != nil {
		return nil, err
	}
	if err := j.run(ctx); err != nil {
		return nil, err
	}
	return j.report(opts.Crawl, opts.Log != nil), nil
}

// run reads the topics in the order that the package's documentation gives.
func (j *judge) run(ctx context.Context) (err error) {
	held, err := openSpool(j.table.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, held.close()) }()
	up := newUpstream(j, held)
	if err := up.read(ctx); err != nil {
		return err
	}
	down := newLedgers(j, up)
	if err := down.read(ctx); err != nil {
		return err
	}
	if err := up.judgeHeld(down); err != nil {
		return err
	}
	if err := newPages(j, up, down).read(ctx); err != nil {
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

// define reads every definition that the crawl had.
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
	j.agent = robots.ProductToken(cmp.Or(have.UserAgent, fetch.DefaultOptions().Product))
	if j.opts.Log != nil && j.opts.Log.Agent != "" {
		j.agent = j.opts.Log.Agent
	}
	seen := map[string]bool{}
	return j.reader.Records(ctx, j.names.Config, func(r *kgo.Record) error {
		d, ok := topics.DefinitionIn(r.Value, j.names.Crawl)
		if !ok {
			return nil // another program wrote it
		}
		j.budgets.loosen(d, processors.FrontierOptions(d).Window*max(1, int(d.FormerPartitions)))
		j.parses = append(j.parses, processors.ParseOptions(d))
		options := processors.ScopeOptions(d)
		key, err := json.Marshal(options)
		if err != nil || seen[string(key)] {
			return err
		}
		seen[string(key)] = true
		normalize, err := processors.NewNormalize(processors.Env{Names: j.names, Definition: d, Meter: unmetered{}})
		if err != nil {
			return fmt.Errorf("read %s at %d: %w", j.names.Config, r.Offset, err)
		}
		j.scopes = append(j.scopes, normalize)
		return nil
	})
}

// unmetered is the meter of a normalizer whose work is not counted.
type unmetered struct{}

func (unmetered) Rejected(topics.Stage, string)    {}
func (unmetered) Normalized(string, int)           {}
func (unmetered) Deduped(int, int, int)            {}
func (unmetered) Ledger(topics.Stage, string)      {}
func (unmetered) Exchange(*fetch.Exchange)         {}
func (unmetered) Page(int)                         {}
func (unmetered) Duplicate(int)                    {}
func (unmetered) Slots(int)                        {}
func (unmetered) Hurried(politeness.Violation)     {}
func (unmetered) Tripped()                         {}
func (unmetered) Outcomes(int32, map[string]int64) {}
