package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
)

// claim claims the partition for this process, by the steps of a Claiming. It must follow goka's
// recovery. It is not done in MarkRecovered, because goka also calls that when a
// rebalance interrupts the recovery.
func (t *table) claim(ctx context.Context) error {
	t.mu.Lock()
	opened := t.Partition != nil
	t.mu.Unlock()
	if !opened {
		return errNotLive // a rebalance came before goka opened it
	}
	client, err := t.run.newClient()
	if err != nil {
		return err
	}
	t.mu.Lock()
	t.client, t.writer = client, NewWriter(client, t.run.Ledger, t.partition)
	claiming := NewClaiming(t.Partition, t.run.opts.Member, t.run.opts.Embedded)
	t.mu.Unlock()
	for {
		t.mu.Lock()
		step, err := claiming.Next()
		t.mu.Unlock()
		if err != nil {
			return t.run.judge(err)
		}
		if step.Kind == Owned {
			return nil
		}
		if err := t.claimStep(ctx, claiming, step); err != nil {
			return err
		}
	}
}

func (t *table) claimStep(ctx context.Context, claiming *Claiming, step ClaimStep) error {
	switch step.Kind {
	case AppendClaim:
		offset, err := t.writer.Claim(ctx, step.Value)
		if err != nil {
			return err
		}
		claiming.Claimed(offset)
	case FoldTo:
		t.mu.Lock()
		from := t.folded + 1
		t.mu.Unlock()
		if err := t.run.source(t.run.Ledger, t.partition).replay(ctx, from, step.Offset, t.fold); err != nil {
			return err
		}
		if err := t.judge(t.store.settle()); err != nil {
			return err
		}
	case AskBounds:
		return t.askBounds(ctx, claiming, step.Topic)
	case AskStamp:
		record, err := t.run.source(step.Topic, t.partition).record(ctx, step.Offset)
		if errors.Is(err, kerr.OffsetOutOfRange) {
			// The janitor has trimmed it since the log's bounds were asked for. It
			// may trim what is committed, and that includes this record.
			return t.askBounds(ctx, claiming, step.Topic)
		}
		if err != nil {
			return err
		}
		claiming.Stamped(step.Topic, record.Timestamp.UnixMilli())
	case AskCommit:
		next, err := t.committed(ctx, step.Topic)
		if err != nil {
			return err
		}
		claiming.Committed(step.Topic, next)
	case SetInputs:
		t.tellLosses(step.Losses)
		t.next = step.Next
		for topic, offset := range step.Next {
			t.member.commits.mark(topic, t.partition, offset)
		}
		t.observe(IncidentClaim)
		claiming.InputsSet()
	case AppendReset:
		_, err := t.writer.await(ctx, func(done func(int64, error)) { t.writer.Append("", step.Value, done) })
		if err != nil {
			return err
		}
		claiming.ResetAppended()
	}
	return nil
}

func (t *table) askBounds(ctx context.Context, claiming *Claiming, topic string) error {
	log, err := boundsOf(ctx, t.run.admin, topic, t.partition)
	if err == nil {
		claiming.Bounded(topic, log)
	}
	return err
}

func (t *table) tellLosses(losses []Loss) {
	for _, l := range losses {
		message := "an input was cut by an unclean end of its broker"
		if l.Intact < 0 {
			message = "the ledger lost its end, and its input was trimmed before that"
		}
		t.run.log.Warn(message, "topic", l.Topic, "partition", t.partition,
			"position", l.Position, "start", l.Log.Start, "intact", l.Intact, "end", l.Log.End)
	}
}

// committed is the group's commit in an input; 0 before the first commit.
func (t *table) committed(ctx context.Context, topic string) (int64, error) {
	commits, err := t.run.admin.FetchOffsets(ctx, t.run.Ledger)
	if err != nil {
		return 0, fmt.Errorf("read commits of %s: %w", t.run.Ledger, err)
	}
	commit, _ := commits.Lookup(topic, t.partition)
	return max(commit.At, 0), nil
}
