package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/inspect/verify"
	"github.com/weftcrawl/weft/inspect/verify/accesslog"
	"github.com/weftcrawl/weft/topics"
)

type verifyCmd struct {
	reachFlags
	JSON      bool           `name:"json" help:"Print the report as JSON (docs/verify.md)."`
	Examples  int            `placeholder:"N" default:"20" help:"List at most N violations of each kind. All are counted."`
	Skew      time.Duration  `placeholder:"DUR" default:"0s" help:"How far the clocks of two fetchers may differ. It matters after a takeover."`
	AccessLog []string       `placeholder:"FILE" type:"path" help:"Also compare the crawl with a web server's own log. You may give several files; .gz is unpacked."`
	Format    string         `placeholder:"NAME" default:"combined" help:"Format of the log: combined, vcombined, nginx-msec, nginx-tabs, json, caddy or weft."`
	Host      string         `placeholder:"NAME" help:"Host of the requests in the log, if its lines do not name a host."`
	Agent     string         `placeholder:"TOKEN" help:"Count only requests with this product token in their User-Agent (default: the crawl's)."`
	Tolerance *time.Duration `placeholder:"DUR" help:"By how much an interval in the log may be too short. The default depends on the format."`
}

// verifyGCPercent is low because most live data is caches: it halves the memory for a
// tenth more CPU.
const verifyGCPercent = 40

// errRefuted ends the program with 1, after the violations have been printed.
var errRefuted = errors.New("the crawl has broken its guarantees")

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
	open, err := c.open(ctx, std, crawl.ToWrite, topics.Loop(c.Crawl).Scheduled)
	if err != nil {
		return err
	}
	defer open.close()
	opts.Client = open.client()
	report, err := verify.Run(ctx, opts)
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	if c.JSON {
		err = printJSON(std.out, report)
	} else {
		err = report.WriteText(std.out)
	}
	if err == nil && !report.Proven {
		return fmt.Errorf("%w: %d violations, listed above", errRefuted, report.Found)
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
		return nil, nil //nolint:nilnil // there is no log
	}
	for _, name := range c.AccessLog {
		if _, err := os.Stat(name); err != nil {
			return nil, usagef("--access-log: %w", err)
		}
	}
	if strings.ContainsAny(c.Host, "/ ") {
		return nil, usagef("--host %q is not a host name", c.Host)
	}
	return log, nil
}
