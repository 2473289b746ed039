package main

import (
	"io"
	"log/slog"
)

// cli is the grammar of the command line. Every flag is also WEFT_… in the environment and a
// key of the --config file, except for --version, the flags with which weft domain writes
// a setting, and those that say what is erased. The command line wins over the environment, and the environment over the file.
// kong calls Run of the chosen command.
type cli struct {
	Config    configFile `placeholder:"FILE" help:"YAML file of flags."`
	LogLevel  string     `enum:"debug,info,warn,error" default:"warn" help:"debug, info, warn or error."`
	LogFormat string     `enum:"text,json" default:"text" help:"text or json."`

	VersionFlag versionFlag `name:"version" env:"-" help:"Print the version."`

	Crawl    crawlCmd    `cmd:"" help:"Crawl from URLs in one process, or go on with the crawl in DIR."`
	Run      runCmd      `cmd:"" help:"Run stages as consumer groups: normalize dedupe schedule fetch parse archive, or all."`
	Seed     seedCmd     `cmd:"" help:"Add URLs to a crawl."`
	Consume  consumeCmd  `cmd:"" help:"Print the records of a topic as JSON lines."`
	Serve    serveCmd    `cmd:"" help:"Let Kafka clients read the topics in a data directory, without crawling."`
	Topics   topicsCmd   `cmd:"" help:"Show the topics with partitions, offsets and lag, or create them."`
	Status   statusCmd   `cmd:"" help:"Show the state of a crawl: its frontier, the lag of its stages, and their failures."`
	Pause    pauseCmd    `cmd:"" help:"Pause stages: they take no new input until weft resume. Without names it pauses fetch, so no request is made."`
	Resume   resumeCmd   `cmd:"" help:"Let paused stages go on. Without names it resumes all stages."`
	Stop     stopCmd     `cmd:"" help:"End the processes of a crawl as Ctrl-C does, or end some of its stages. With --drain they first finish their work."`
	Get      getCmd      `cmd:"" help:"Print a page from the archive of a crawl."`
	Archive  archiveCmd  `cmd:"" help:"Make an index, a Parquet table or a WACZ file of an archive, or erase old pages."`
	Erase    eraseCmd    `cmd:"" help:"Erase a page or a domain from an archive, its indexes and copies of its pages."`
	Reparse  reparseCmd  `cmd:"" help:"Parse again what an archive keeps, without a request, for example with other rules."`
	Diff     diffCmd     `cmd:"" help:"Count what differs between the pages of two generations of weft reparse, or of a crawl."`
	Extract  extractCmd  `cmd:"" help:"Try rules for fields on a page, and show what matches."`
	Rejected rejectedCmd `cmd:"" help:"List the records that stages could not use, or write them back with --replay."`
	Why      whyCmd      `cmd:"" help:"Explain the state of a URL or a domain, or why the crawl is slow."`
	Domain   domainCmd   `cmd:"" help:"Show a domain, set its delay, requests a day or priority, or block it."`
	Domains  domainsCmd  `cmd:"" help:"List the domains of a crawl with the outcomes of their URLs."`
	Traps    trapsCmd    `cmd:"" help:"List the traps and the URLs that they hold back, or end a trap with --lift."`
	Ledger   ledgerCmd   `cmd:"" help:"Trim the ledgers of a crawl that has remote checkpoints, or repair damaged logs."`
	Verify   verifyCmd   `cmd:"" help:"Prove from the topics, and from a web server's own log, that no URL was lost and no request broke a domain's delay."`
	Plan     planCmd     `cmd:"" help:"Compute what a crawl needs: machines, partitions, disk and network, and whether politeness permits it."`
	Version  versionCmd  `cmd:"" help:"Print the version."`

	Export      exportCmd      `cmd:"" help:"Copy a crawl that does not run to a folder."`
	Import      importCmd      `cmd:"" help:"Make a crawl from an export, on a cluster or in a data directory, with any number of partitions."`
	Repartition repartitionCmd `cmd:"" help:"Copy a crawl that does not run to a new one with another number of partitions."`
}

// logger writes to w, from --log-level up.
func (c *cli) logger(w io.Writer) *slog.Logger {
	level := map[string]slog.Level{
		"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
	}[c.LogLevel]
	options := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
