package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/archive/jsonl"
	"github.com/weftcrawl/weft/processors/fetch/httpclient"
)

type crawlCmd struct {
	URLs []string `arg:"" optional:"" name:"url" help:"URLs to begin with. Without URLs and seeds the crawl in DIR goes on."`

	clusterFlags
	serviceFlags
	checkpointFlags
	groupFlags
	definitionFlags
	Seeds    string   `placeholder:"FILE|-" help:"File of seeds: a URL or a JSON object per line."`
	Sitemap  []string `placeholder:"URL" sep:"none" help:"A sitemap to begin with, as in weft seed --sitemap."`
	Output   string   `short:"o" placeholder:"FILE|-" help:"Write pages as JSON lines to FILE or standard output instead of DIR/pages."`
	Compress string   `enum:"none,gzip,zstd" default:"none" help:"Compress the files of pages: none, gzip or zstd."`
	WARC     bool     `name:"warc" help:"Keep all exchanges as WARC 1.1 files in DIR/warc, unless --archive says where. The crawl goes on with this until --archive none."`
	Operator string   `placeholder:"S" help:"Operator named in WARC files, for example a name with a mail address. Default: the contact."`
	listenFlags
	Patience time.Duration `placeholder:"DUR" default:"10m" help:"End after DUR without a page if only URLs of hosts that are down are left. The URLs stay queued. 0: wait until the hosts are given up."`

	Serve bool `help:"Stay after the end of the crawl, until interrupted, for clients that still read from --listen."`
}

func (c *crawlCmd) Run(ctx context.Context, root *cli, eng engine, std streams) error {
	if err := c.check(); err != nil {
		return err
	}
	seeds, err := c.seeds(std.in)
	if err != nil {
		return err
	}
	if err := c.makeData(); err != nil {
		return err
	}
	defer c.boundMemory(ctx)()
	watch := newWatcher(std.err)
	registry := prometheus.NewRegistry()
	options := crawl.Options{
		Dir:         c.Data,
		Cluster:     c.access(),
		Listen:      c.Listen,
		Listener:    c.listener(),
		Patience:    c.Patience,
		Checkpoints: c.Checkpoints,
		Reserve:     int64(c.DiskReserve),
		Definition:  newDefinition(c.Crawl),
		Redefine:    c.over,
		Seeds:       seeds,
		Fetch:       c.fetchOptions(),
		Pages:       c.pages(std.out),
		WARC:        c.WARC,
		Operator:    c.Operator,
		Registry:    registry,
		Watch:       watch.watch,
		Logger:      root.logger(watch.display),
	}
	if c.Serve {
		options.Stay = func(result crawl.Result, addr string) error {
			if err := watch.summarize(result); err != nil {
				return err
			}
			return tellServing(std.err, c.Data, addr)
		}
	}
	var result crawl.Result
	err = c.serveMetrics(ctx, registry, func(ctx context.Context) (err error) {
		result, err = eng.run(ctx, options)
		return err
	})
	watch.display.Close()
	if err != nil {
		return err
	}
	if err := watch.summarize(result); err != nil {
		return err
	}
	switch {
	case result.Ended != crawl.EndedDrained || result.Pages > 0:
		return nil
	case result.Outcomes[string(httpclient.ClassAddressRefused)] > 0:
		return errNotPublic
	}
	return errNothing
}

// A crawl without a page is a failure, so that scripts notice it.
var (
	errNothing   = errors.New("the crawl ended without a page")
	errNotPublic = errors.New("the crawl ended without a page: addresses that are not public take --allow-network or --allow-private, " +
		"in a new crawl (another --data), because a URL that was refused is not tried again")
)

func (c *crawlCmd) check() error {
	if err := cmp.Or(
		c.clusterFlags.check(), c.serviceFlags.check(), c.groupFlags.check(), c.definitionFlags.check(), c.listenFlags.check(),
	); err != nil {
		return err
	}
	switch {
	case c.Listen != "" && len(c.Brokers) > 0:
		return usagef("--listen is for the embedded broker, and --brokers names a cluster: only one of them is possible")
	case c.WARC && c.Archive != nil && *c.Archive == noArchive:
		return usagef("--warc keeps all exchanges, and --archive none ends the archive: only one of them is possible")
	case c.Patience < 0:
		return usagef("--patience %v is negative", c.Patience)
	case c.Listen == "" && c.Serve:
		return usagef("--serve is for clients that come to --listen, which is not given")
	}
	if c.Output != "" && c.Output != "-" && isFolder(c.Output) {
		return usagef("--output %s is a directory", c.Output)
	}
	return nil
}

// seeds reads the seeds. It is an error if there is no seed and no crawl that could go
// on.
func (c *crawlCmd) seeds(in io.Reader) ([][]byte, error) {
	for _, argument := range c.URLs {
		if _, refusal := urls.Parse(argument); refusal != urls.Accepted && isFile(argument) {
			return nil, usagef("%q is a file and not a URL: --seeds %s reads URLs from it", argument, argument)
		}
	}
	seeds, err := argumentSeeds(c.URLs, c.Sitemap)
	if err != nil {
		return nil, err
	}
	if c.Seeds != "" {
		for seed, err := range seedLines(c.Seeds, in) {
			if err != nil {
				return nil, err
			}
			seeds = append(seeds, seed)
		}
	}
	if len(seeds) > 0 {
		return seeds, nil
	}
	if c.Seeds != "" {
		return nil, usagef("no seeds in %s", c.Seeds)
	}
	entries, err := os.ReadDir(c.Data)
	if len(c.Brokers) == 0 && (errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0) {
		return nil, usagef("no URL given, and no crawl to resume in %s", c.Data)
	}
	return nil, nil
}

// pages says where pages go; the zero value means files in the data directory.
func (c *crawlCmd) pages(stdout io.Writer) jsonl.Options {
	options := jsonl.Options{Compression: jsonl.Compression(c.Compress)}
	switch c.Output {
	case "":
	case "-":
		options.Stream = stdout
	default:
		options.File = c.Output
	}
	return options
}
