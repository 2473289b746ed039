package main

// cli is the grammar of the command line. Every flag is also WEFT_… in the
// environment and a key of the --config file, but for --version; the command line
// wins over the environment, and that over the file.
type cli struct {
	Config    configFile `placeholder:"FILE" help:"YAML file of flags."`
	LogLevel  string     `enum:"debug,info,warn,error" default:"warn" help:"debug, info, warn or error."`
	LogFormat string     `enum:"text,json" default:"text" help:"text or json."`

	VersionFlag versionFlag `name:"version" env:"-" help:"Print the version."`

	Crawl    crawlCmd    `cmd:"" help:"Crawl from URLs in one process, or go on with the crawl in DIR."`
	Run      runCmd      `cmd:"" help:"Run stages as consumer groups: normalize dedupe schedule fetch parse, or all."`
	Seed     seedCmd     `cmd:"" help:"Produce seeds."`
	Consume  consumeCmd  `cmd:"" help:"Print the records of a topic as JSON lines."`
	Serve    serveCmd    `cmd:"" help:"Open what a data directory holds to Kafka clients, and crawl nothing."`
	Topics   topicsCmd   `cmd:"" help:"Show the loop with partitions, offsets and lag, or create it."`
	Status   statusCmd   `cmd:"" help:"Show frontier, rates and lag of a running crawl."`
	Pause    pauseCmd    `cmd:"" help:"Let stages take no new input until they are resumed; without names: fetch, so that nothing is asked for."`
	Resume   resumeCmd   `cmd:"" help:"Let paused stages go on; without names: all of them."`
	Stop     stopCmd     `cmd:"" help:"End the crawl's processes, or stages of it, as Ctrl-C does; --drain finishes first what is under way."`
	Rejected rejectedCmd `cmd:"" help:"List the records that stages could not use, or --replay them."`
	Why      whyCmd      `cmd:"" help:"Say why a URL or a domain is where it is, or why the crawl is slow."`
	Traps    trapsCmd    `cmd:"" help:"List the URLs that are held back because they look like a trap's, or --lift a trap."`
	Ledger   ledgerCmd   `cmd:"" help:"Trim the ledgers of a crawl whose stages send their checkpoints somewhere."`
	Verify   verifyCmd   `cmd:"" help:"Prove from the topics, and a server's own log, that nothing was lost and nobody was hurried."`
	Plan     planCmd     `cmd:"" help:"Compute what a crawl would take: machines, partitions, disk, network, and whether politeness permits it."`
	Version  versionCmd  `cmd:"" help:"Print the version."`

	Export      exportCmd      `cmd:"" help:"Copy a crawl that does not run to a folder."`
	Import      importCmd      `cmd:"" help:"Make a crawl of an export, on a cluster or in a data directory, with as many partitions as wanted."`
	Repartition repartitionCmd `cmd:"" help:"Make a crawl of a crawl that does not run, with another number of partitions."`
}
