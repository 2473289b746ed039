package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"time"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/inspect/progress"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/processors"
	"github.com/weftcrawl/weft/topics"
)

// checkpointFlags say where checkpoints are, besides the data directory.
type checkpointFlags struct {
	Checkpoints string `placeholder:"URL" help:"Store to which stages send their checkpoints, so that another machine can go on from them: a folder, or s3://bucket/prefix?endpoint=URL&region=NAME&path-style=true. Credentials come from the environment (AWS_…) or the files of the AWS SDK."`
}

type ledgerCmd struct {
	Repair ledgerRepairCmd `cmd:"" help:"Show the damaged parts of the logs in a data directory, and repair them."`
	Trim   ledgerTrimCmd   `cmd:"" help:"Check the last two checkpoints of each partition, and delete the events that both cover."`
}

type ledgerTrimCmd struct {
	clusterFlags
	checkpointFlags
	DryRun bool   `help:"Check and print what would be deleted, without deleting it."`
	Temp   string `placeholder:"DIR" type:"path" help:"Directory for the copies of checkpoints that are checked; by default the system's."`
}

func (c *ledgerTrimCmd) Run(ctx context.Context, root *cli, std streams) error {
	if err := c.checkRemote(); err != nil {
		return err
	}
	if c.Checkpoints == "" {
		return usagef("no checkpoints: --checkpoints names the folder or bucket that weft run sends them to")
	}
	bucket, err := blob.Open(ctx, c.Checkpoints)
	if err != nil {
		return usagef("--checkpoints: %w", err)
	}
	admin, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer admin.Close()
	definition, err := topics.ReadDefinition(ctx, topics.Loop(c.Crawl), c.client()...)
	if errors.Is(err, topics.ErrUndefined) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	env := stage.Env{
		Cluster: c.access(), Names: topics.Loop(c.Crawl), Definition: definition, Logger: root.logger(std.err),
	}
	trimmed, err := processors.Trim(ctx, env, processors.TrimOptions{Checkpoints: bucket, Dir: c.Temp, DryRun: c.DryRun})
	if err != nil {
		return err
	}
	return writeTrimmed(std.out, trimmed, c.DryRun)
}

// writeTrimmed prints the result for each partition. Its error says for how many
// partitions a check failed; those are not trimmed.
func writeTrimmed(out io.Writer, trimmed []processors.Trimmed, dryRun bool) error {
	table := progress.NewTable(out)
	table.Row("LEDGER", "PARTITION", "START", "END", "CHECKPOINTS", "REPLAYED", "KEYS", "NEEDED", "RESULT")
	failed := 0
	for _, t := range trimmed {
		checkpoints, replayed, keys, needed := "-", "-", "-", "-"
		if t.Err == nil {
			checkpoints = fmt.Sprintf("%d, %d", t.Audit.Older.Offset, t.Audit.Newer.Offset)
			replayed, keys = progress.Count(t.Audit.Events), progress.Count(t.Audit.Keys)
			needed = strconv.FormatInt(t.Needed, 10)
		}
		if t.Err != nil && !errors.Is(t.Err, ledger.ErrUncovered) {
			failed++
		}
		table.Row(t.Ledger, t.Partition, t.Audit.Log.Start, t.Audit.Log.End, checkpoints, replayed, keys, needed, resultOf(t, dryRun))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d partitions were not trimmed because a check failed", failed, len(trimmed))
	}
	return nil
}

func resultOf(t processors.Trimmed, dryRun bool) string {
	switch {
	case t.Err != nil:
		return "kept: " + t.Err.Error()
	case t.Records() == 0:
		return "nothing to delete"
	case dryRun:
		return "would delete " + progress.Count(t.Records())
	default:
		return "deleted " + progress.Count(t.Records())
	}
}

type ledgerRepairCmd struct {
	Data  string `placeholder:"DIR" type:"path" default:"weft-data" help:"Directory of the crawl, which must not run."`
	Crawl string `placeholder:"NAME" default:"weft" help:"Name of the crawl."`
	Apply bool   `help:"Repair the damaged logs, and keep a copy of them. By default the command only shows them."`
}

func (c *ledgerRepairCmd) Run(_ context.Context, std streams) error {
	if err := topics.CheckCrawl(c.Crawl); err != nil {
		return usageError{err}
	}
	found, err := crawl.FindDamage(c.Data, topics.Loop(c.Crawl))
	if err != nil {
		return err
	}
	if len(found) == 0 {
		_, err = fmt.Fprintln(std.out, "nothing is damaged")
		return err
	}
	table := progress.NewTable(std.out)
	table.Row("LOG", "DAMAGED", "REPAIR")
	for _, d := range found {
		what := string(d.Remedy)
		if d.Remedy == crawl.BeginBehind {
			what += fmt.Sprintf(": the checkpoint at %d holds what it said", d.Checkpoint)
		}
		table.Row(fmt.Sprintf("%s/%d", d.Topic, d.Partition), fmt.Sprintf("%d to %d", d.From, d.To-1), what)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if !c.Apply {
		_, err = fmt.Fprintln(std.out, "nothing was changed; --apply repairs it")
		return err
	}
	aside := filepath.Join(c.Data, "damaged-"+time.Now().UTC().Format("20060102-150405"))
	if err := crawl.Repair(c.Data, aside, found); err != nil {
		return err
	}
	_, err = fmt.Fprintf(std.out, "repaired; the former logs are in %s\n", aside)
	return err
}
