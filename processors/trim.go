package processors

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/internal/topiclog"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/processors/dedupe"
	"github.com/weftcrawl/weft/processors/schedule"
	"github.com/weftcrawl/weft/topics"
)

// TrimOptions say how ledgers are trimmed.
type TrimOptions struct {
	// Checkpoints is where the owners send them.
	Checkpoints blob.Bucket
	// Dir is where they are copied to while they are checked; empty: the
	// system's temporary directory.
	Dir string
	// DryRun checks and plans, and deletes nothing.
	DryRun bool
}

// Trimmed is what became of one partition of a ledger.
type Trimmed struct {
	Ledger    string
	Partition int32
	// Audit is what its checkpoints were found to be.
	Audit ledger.Audit
	// Needed is the first event that a reader of the ledger needs still, and To the first one
	// that is kept: records before it are deleted, or would be. It is the log's start when
	// nothing can be.
	Needed, To int64
	// Err is why nothing was deleted: ErrUncovered of package ledger when there
	// is too little in the bucket yet, anything else when a check failed.
	Err error
}

// Records is the number of records that were deleted, or would be.
func (t Trimmed) Records() int64 { return t.To - t.Audit.Log.Start }

// Trim deletes, in each partition of both ledgers, the events below the older
// one of two checkpoints that are in the bucket and were found sound (see
// ledger.Auditor), but none that a reader still needs:
//
//   - of deduped, what schedule has not committed, and what it would read again
//     if it went on from the older one of its own checkpoints;
//   - of scheduled, what fetch would go back to if it took the partition over,
//     and the last event that tells the gauges, which the drained test reads;
//   - the last record of a log, see package broker.
//
// Of env it takes the brokers, the names and the definition. It returns an error only if the
// cluster does not answer. Errors of partitions are in the result.
func Trim(ctx context.Context, env stage.Env, o TrimOptions) ([]Trimmed, error) {
	client, err := env.Cluster.NewClient()
	if err != nil {
		return nil, err
	}
	defer client.Close()
	logs, err := topiclog.New(env.Cluster.Options()...)
	if err != nil {
		return nil, err
	}
	defer logs.Close()
	t := &trimmer{
		env: env, opts: o, admin: kadm.NewClient(client), logs: logs,
		auditor: ledger.Auditor{Bucket: o.Checkpoints, Client: env.Cluster.Options(), Dir: o.Dir},
	}
	if t.commits, err = logs.Commits(ctx, env.Names.Group(topics.Schedule), env.Names.Deduped); err != nil {
		return nil, err
	}
	var all []Trimmed
	scheduled := map[int32]Trimmed{}
	for p := range env.Definition.Partitions {
		one := t.trim(ctx, schedule.Define(env, new(atomic.Bool)), p, t.neededOfScheduled)
		scheduled[p] = one
		all = append(all, one)
	}
	for p := range env.Definition.Partitions {
		all = append(all, t.trim(ctx, dedupe.Define(env), p, func(context.Context, Trimmed) (int64, error) {
			return t.neededOfDeduped(scheduled[p])
		}))
	}
	return all, ctx.Err()
}

type trimmer struct {
	env     stage.Env
	opts    TrimOptions
	admin   *kadm.Client
	logs    *topiclog.Reader
	auditor ledger.Auditor
	commits map[int32]int64 // of schedule in deduped
}

// trim trims one partition; needed returns the first event that readers need.
func (t *trimmer) trim(ctx context.Context, proc ledger.Processor, partition int32, needed func(context.Context, Trimmed) (int64, error)) Trimmed {
	one := Trimmed{Ledger: proc.Ledger, Partition: partition}
	if one.Audit, one.Err = t.auditor.Audit(ctx, proc, partition); one.Err == nil {
		one.Needed, one.Err = needed(ctx, one)
	}
	log := one.Audit.Log
	one.To = log.Start
	if one.Err != nil {
		return one
	}
	one.To = trimTo(log, one.Audit.Older.Offset, one.Needed)
	if one.To > log.Start && !t.opts.DryRun {
		var offsets kadm.Offsets
		offsets.AddOffset(one.Ledger, partition, one.To, -1)
		deleted, err := t.admin.DeleteRecords(ctx, offsets)
		if err = errors.Join(err, deleted.Error()); err != nil {
			one.Err, one.To = fmt.Errorf("trim %s/%d: %w", one.Ledger, partition, err), log.Start
		}
	}
	return one
}

// trimTo returns the first event that is kept. The last one that the older
// checkpoint covers is, since it tells whether the checkpoint fits the ledger.
func trimTo(log ledger.Bounds, older, needed int64) int64 {
	return max(log.Start, min(older, needed, log.End-1))
}

func (t *trimmer) neededOfScheduled(ctx context.Context, one Trimmed) (int64, error) {
	log := one.Audit.Log
	last, err := t.logs.LastDecision(ctx, one.Ledger, one.Partition, log)
	if err == nil && last == nil { // it has decided nothing, or that was trimmed
		err = ledger.Reaches(one.Ledger, one.Partition, log.Start, 0)
	}
	return last.GetOldest(), err
}

func (t *trimmer) neededOfDeduped(scheduled Trimmed) (int64, error) {
	deduped := t.env.Names.Deduped
	commit, read := t.commits[scheduled.Partition]
	at, known := scheduled.Audit.Older.Positions[deduped]
	if scheduled.Err != nil || !read || !known {
		return 0, nil // schedule may have to read all of it
	}
	return min(commit, at.Offset+1), nil
}
