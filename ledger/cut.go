package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
)

// findCuts tells the partition which of its inputs were cut by an unclean end of
// the broker. A log that ends below the position shows it. One that has grown
// again does not, and what was written at the old offsets would be passed over;
// the timestamp of the record at the position gives it away.
//
// Where the log is intact the commit tells: it follows the folded events, and
// an embedded broker takes commits back to where it found the ends of its logs.
func (t *table) findCuts(ctx context.Context, bounds map[string]Bounds) error {
	t.mu.Lock()
	positions := t.Folded().Positions
	t.mu.Unlock()
	for topic, log := range bounds {
		at, known := positions[topic]
		if known && at.Offset+1 < log.Start {
			committed, err := t.committed(ctx, topic)
			if err != nil {
				return err
			}
			if log.Committed = committed; log.Committed >= log.Start {
				t.run.log.Warn("ledger lost its end, and its input was trimmed behind it", "topic", topic,
					"partition", t.partition, "position", at.Offset, "start", log.Start)
			}
			bounds[topic] = log
		}
		if !known || at.Offset < log.Start {
			continue // nothing to compare
		}
		if at.Offset < log.End {
			input := t.run.source(t.partition)
			input.topic = topic
			timestampMS, err := input.timestampMS(ctx, at.Offset)
			if err != nil {
				return err
			}
			if at.TimestampMS == 0 || timestampMS == at.TimestampMS {
				continue
			}
		}
		commit, err := t.committed(ctx, topic)
		if err != nil {
			return err
		}
		intact := log.Start
		if commit <= log.End {
			intact = max(intact, commit)
		}
		t.run.log.Warn("input log was cut by an unclean end of its broker", "topic", topic, "partition", t.partition,
			"position", at.Offset, "intact", intact, "end", log.End)
		t.mu.Lock()
		t.Cut(topic, intact)
		t.mu.Unlock()
	}
	return nil
}

// committed is where the group goes on in an input; 0 before its first commit.
func (t *table) committed(ctx context.Context, topic string) (int64, error) {
	commits, err := t.run.admin.FetchOffsets(ctx, t.run.ledger)
	if err != nil {
		return 0, fmt.Errorf("read commits of %s: %w", t.run.ledger, err)
	}
	commit, _ := commits.Lookup(topic, t.partition)
	return max(commit.At, 0), nil
}

// timestampMS returns the timestamp of the record at offset, which must be in
// the log, in milliseconds since 1970.
func (s source) timestampMS(ctx context.Context, offset int64) (int64, error) {
	client, err := s.connect(kgo.ConsumeResetOffset(kgo.NoResetOffset()), kgo.FetchMaxPartitionBytes(1),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{s.topic: {s.partition: kgo.NewOffset().At(offset)}}))
	if err != nil {
		return 0, err
	}
	defer client.Close()
	for {
		fetches := client.PollFetches(ctx)
		if err := errors.Join(ctx.Err(), fetches.Err()); err != nil {
			return 0, fmt.Errorf("read %s/%d at %d: %w", s.topic, s.partition, offset, err)
		}
		for it := fetches.RecordIter(); !it.Done(); {
			return it.Next().Timestamp.UnixMilli(), nil
		}
	}
}
