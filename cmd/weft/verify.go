package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/verify"
	"github.com/weftcrawl/weft/verify/accesslog"
)

type verifyCmd struct {
	reachFlags
	JSON      bool           `name:"json" help:"Print the report as JSON (docs/verify.md)."`
	Examples  int            `placeholder:"N" default:"20" help:"List at most N violations of each kind; all are counted."`
	Skew      time.Duration  `placeholder:"DUR" default:"0s" help:"How far apart the clocks of fetchers may be; matters where one took over from another."`
	AccessLog []string       `placeholder:"FILE" type:"path" help:"Hold a web server's own log against the crawl too; several files, .gz is unpacked."`
	Format    string         `placeholder:"NAME" default:"combined" help:"Format of the log: combined, vcombined, nginx-msec, json, caddy or weft."`
	Host      string         `placeholder:"NAME" help:"Host of a log whose lines name none."`
	Agent     string         `placeholder:"TOKEN" help:"Product token of the requests that count (default: the crawl's)."`
	Tolerance *time.Duration `placeholder:"DUR" help:"What may be missing from an interval of the log (default: by its format)."`
}

// verifyGCPercent is low, because what is live is caches and little else: it
// halves the memory for a tenth more CPU.
const verifyGCPercent = 40

// errRefuted ends the program with 1: what refutes the crawl has been printed.
var errRefuted = errors.New("the crawl is refuted")

// Run is called by kong.
func (c *verifyCmd) Run(ctx context.Context, std streams) error {
	opts := verify.DefaultOptions(c.Crawl)
	opts.Examples, opts.Skew = c.Examples, c.Skew
	var err error
	if opts.Log, err = c.log(); err != nil {
		return err
	}
	if c.Examples < 1 || c.Skew < 0 {
		return usagef("--examples %d and --skew %v: want at least one example, and a skew that is not negative", c.Examples, c.Skew)
	}
	collectAt(verifyGCPercent)
	release, err := c.reach(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := c.exists(ctx, topics.Loop(c.Crawl).Scheduled); err != nil {
		return err
	}
	opts.Client = c.client()
	report, err := verify.Run(ctx, opts)
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	if c.JSON {
		out := json.NewEncoder(std.out)
		out.SetEscapeHTML(false)
		out.SetIndent("", "  ")
		err = out.Encode(report)
	} else {
		err = report.WriteText(std.out)
	}
	if err == nil && !report.Proven {
		return fmt.Errorf("%w by %d violations", errRefuted, report.Found)
	}
	return err
}

// log is the access log of the flags, nil for none.
func (c *verifyCmd) log() (*verify.Log, error) {
	format, err := accesslog.Named(c.Format)
	if err != nil {
		return nil, usagef("--format: %w", err)
	}
	log := &verify.Log{Files: c.AccessLog, Format: format, Host: c.Host, Agent: c.Agent, Tolerance: -1}
	if c.Tolerance != nil {
		if *c.Tolerance < 0 {
			return nil, usagef("--tolerance %v is negative", *c.Tolerance)
		}
		log.Tolerance = *c.Tolerance
	}
	if len(c.AccessLog) == 0 {
		return nil, nil //nolint:nilnil // no log is asked for
	}
	for _, name := range c.AccessLog {
		if _, err := os.Stat(name); err != nil {
			return nil, usagef("--access-log: %w", err)
		}
	}
	if strings.ContainsAny(c.Host, "/ ") {
		return nil, usagef("--host %q is no host name", c.Host)
	}
	return log, nil
}
