package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/fetch"
	"github.com/weftcrawl/weft/output"
	"github.com/weftcrawl/weft/progress"
	"github.com/weftcrawl/weft/urls"
)

type crawlCmd struct {
	URLs []string `arg:"" optional:"" name:"url" help:"Where to begin. Without URLs and seeds the crawl in DIR goes on."`

	clusterFlags
	serviceFlags
	checkpointFlags
	groupFlags
	definitionFlags
	Seeds    string `placeholder:"FILE|-" help:"File of seeds: a URL or a JSON object a line."`
	Output   string `short:"o" placeholder:"FILE|-" help:"Write pages as JSON lines to FILE or standard output instead of DIR/pages."`
	Compress string `enum:"none,gzip,zstd" default:"none" help:"Compress the files of pages: none, gzip or zstd."`
	WARC     bool   `name:"warc" help:"Write WARC 1.1 files to DIR/warc, too."`
	Operator string `placeholder:"S" help:"Who crawls, in WARC files: a name, perhaps with a mail address. Default: the contact."`
	listenFlags
	Serve bool `help:"Stay after the end of the crawl, until interrupted, for those who still read from --listen."`
}

// Run is called by kong.
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
	watch := &watcher{display: newDisplay(std.err)}
	begun := time.Now()
	registry := prometheus.NewRegistry()
	summarized := false
	summarize := func(result crawl.Result) error {
		if summarized {
			return nil
		}
		summarized = true
		watch.display.Close()
		_, err := progress.Summary{
			Ended: result.Ended, Elapsed: time.Since(begun), Pages: result.Pages, Bytes: result.Bytes,
			Rate: watch.rate(), Left: result.Pending, Outcomes: result.Outcomes,
		}.WriteTo(std.err)
		if err != nil {
			return fmt.Errorf("write summary: %w", err)
		}
		return nil
	}
	var stay func(crawl.Result, string) error
	if c.Serve {
		stay = func(result crawl.Result, addr string) error {
			if err := summarize(result); err != nil {
				return err
			}
			return tellServing(std.err, c.Data, addr)
		}
	}
	var result crawl.Result
	err = serving(ctx, c.Metrics, registry, func(ctx context.Context) (err error) {
		result, err = eng.Run(ctx, crawl.Options{
			Dir:         c.Data,
			Cluster:     c.access(),
			Listen:      c.Listen,
			Door:        c.door(),
			Stay:        stay,
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
		})
		return err
	})
	watch.display.Close()
	if err != nil {
		return err
	}
	if err := summarize(result); err != nil {
		return err
	}
	switch {
	case result.Ended != crawl.EndedDrained || result.Pages > 0:
		return nil
	case result.Outcomes[string(fetch.ClassAddressRefused)] > 0:
		return errNotPublic
	}
	return errNothing
}

// A crawl that found its only door closed is a failure, which scripts notice.
var (
	errNothing   = errors.New("the crawl ended without a page")
	errNotPublic = errors.New("the crawl ended without a page: addresses that are not public take --allow-network or --allow-private")
)

func (c *crawlCmd) check() error {
	for _, check := range []func() error{c.clusterFlags.check, c.serviceFlags.check, c.groupFlags.check, c.definitionFlags.check, c.listenFlags.check} {
		if err := check(); err != nil {
			return err
		}
	}
	switch {
	case c.Listen != "" && len(c.Brokers) > 0:
		return usagef("--listen opens the embedded broker, which --brokers replaces")
	case c.Listen == "" && c.Serve:
		return usagef("--serve is for clients that come to --listen, which is not given")
	}
	if info, err := os.Stat(c.Output); c.Output != "" && c.Output != "-" && err == nil && info.IsDir() {
		return usagef("--output %s is a directory", c.Output)
	}
	return nil
}

// seeds reads where to begin; it is an error when there is neither that nor
// anything to go on with.
func (c *crawlCmd) seeds(in io.Reader) ([][]byte, error) {
	for _, argument := range c.URLs {
		if _, refusal := urls.Parse(argument); refusal != urls.Accepted && isFile(argument) {
			return nil, usagef("%q is a file and no URL: --seeds %s reads URLs from it", argument, argument)
		}
	}
	seeds, err := argumentSeeds(c.URLs)
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

// pages says where pages go; nothing means files in the data directory.
func (c *crawlCmd) pages(stdout io.Writer) output.Options {
	options := output.Options{Compression: output.Compression(c.Compress)}
	switch c.Output {
	case "":
	case "-":
		options.Stream = stdout
	default:
		options.File = c.Output
	}
	return options
}
