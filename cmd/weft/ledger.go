package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/processors"
	"github.com/weftcrawl/weft/progress"
	"github.com/weftcrawl/weft/store"
	"github.com/weftcrawl/weft/topics"
)

// checkpointFlags say where checkpoints are besides the data directory.
type checkpointFlags struct {
	Checkpoints string `placeholder:"URL" help:"Where stages send their checkpoints, so that another machine goes on from them: a folder, or s3://bucket/prefix?endpoint=URL&region=NAME&path-style=true. Credentials come from the environment (AWS_…) or the files of the AWS SDK."`
}

type ledgerCmd struct {
	Repair ledgerRepairCmd `cmd:"" help:"Show what of the logs in a data directory is damaged, and mend it."`
	Trim   ledgerTrimCmd   `cmd:"" help:"Check the two last checkpoints of each partition, and delete the events that both cover."`
}

type ledgerTrimCmd struct {
	clusterFlags
	checkpointFlags
	DryRun bool   `help:"Check and print what would be deleted, and delete nothing."`
	Temp   string `placeholder:"DIR" type:"path" help:"Directory for the copies of checkpoints that are checked; by default the system's."`
}

// Run is called by kong.
func (c *ledgerTrimCmd) Run(ctx context.Context, root *cli, std streams) error {
	if err := c.checkRemote(); err != nil {
		return err
	}
	if c.Checkpoints == "" {
		return usagef("no checkpoints: --checkpoints names the folder or bucket that weft run sends them to")
	}
	bucket, err := store.Open(ctx, c.Checkpoints)
	if err != nil {
		return usagef("--checkpoints: %w", err)
	}
	admin, err := c.admin(ctx)
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
	env := processors.Env{
		Cluster: c.access(), Names: topics.Loop(c.Crawl), Definition: definition, Logger: root.logger(std.err),
	}
	trimmed, err := processors.Trim(ctx, env, processors.TrimOptions{Checkpoints: bucket, Dir: c.Temp, DryRun: c.DryRun})
	if err != nil {
		return err
	}
	return writeTrimmed(std.out, trimmed, c.DryRun)
}

// writeTrimmed prints what became of each partition. Its error says how many
// were left alone because a check failed.
func writeTrimmed(out io.Writer, trimmed []processors.Trimmed, dryRun bool) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "LEDGER\tPARTITION\tSTART\tEND\tCHECKPOINTS\tREPLAYED\tKEYS\tNEEDED\tRESULT")
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
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%s\t%s\t%s\t%s\t%s\n", t.Ledger, t.Partition, t.Audit.Log.Start, t.Audit.Log.End,
			checkpoints, replayed, keys, needed, resultOf(t, dryRun))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("write table: %w", err)
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
