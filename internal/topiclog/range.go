package topiclog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/internal/kafka"
)

// Records calls visit with every record that topic holds at the moment of the
// call, each partition in order, partitions in any. An error of visit ends it.
func (r *Reader) Records(ctx context.Context, topic string, visit func(*kgo.Record) error) error {
	bounds, err := r.Bounds(ctx, topic)
	if err != nil {
		return err
	}
	return r.Range(ctx, topic, bounds, visit)
}

// Committed is Records without the records of transactions that were aborted or
// that are not over.
func (r *Reader) Committed(ctx context.Context, topic string, visit func(*kgo.Record) error) error {
	bounds, err := r.Bounds(ctx, topic)
	if err != nil {
		return err
	}
	return r.CommittedRange(ctx, topic, bounds, visit)
}

// CommittedRange is Range without the records of transactions that were aborted
// or that are not over.
func (r *Reader) CommittedRange(ctx context.Context, topic string, bounds map[int32]Bounds, visit func(*kgo.Record) error) error {
	stable, err := r.admin.ListCommittedOffsets(ctx, topic)
	if err == nil {
		err = stable.Error()
	}
	if err != nil {
		return fmt.Errorf("stable end of %s: %w", topic, err)
	}
	within := map[int32]Bounds{}
	for partition, b := range bounds {
		if end, ok := stable.Lookup(topic, partition); ok {
			b.End = min(b.End, end.Offset)
		}
		within[partition] = b
	}
	return r.read(ctx, topic, within, data(visit), kgo.FetchIsolationLevel(kgo.ReadCommitted()))
}

// Range is Records for the records within bounds. What was trimmed since the
// bounds were read is left out.
func (r *Reader) Range(ctx context.Context, topic string, bounds map[int32]Bounds, visit func(*kgo.Record) error) error {
	return r.read(ctx, topic, bounds, data(visit))
}

// data is visit for all records but those that end transactions. In ledgers those
// have to be seen: they are no gaps.
func data(visit func(*kgo.Record) error) func(*kgo.Record) error {
	return func(r *kgo.Record) error {
		if r.Attrs.IsControl() {
			return nil
		}
		return visit(r)
	}
}

func (r *Reader) read(ctx context.Context, topic string, bounds map[int32]Bounds, visit func(*kgo.Record) error, how ...kgo.Opt) error {
	left, from := map[int32]Bounds{}, map[int32]kgo.Offset{}
	for partition, b := range bounds {
		if b.Start < b.End {
			left[partition], from[partition] = b, kgo.NewOffset().At(b.Start)
		}
	}
	if len(left) == 0 {
		return nil
	}
	// Without control records, which end transactions, a log that ends with one
	// would be waited for in vain.
	options := slices.Concat([]kgo.Opt{kgo.FetchMaxBytes(fetchBytes), kgo.KeepControlRecords()}, how, r.options)
	client, err := kafka.NewClient(append(options, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: from}))...)
	if err != nil {
		return err
	}
	defer client.Close()
	for len(left) > 0 {
		poll, cancel := context.WithTimeout(ctx, quiet)
		fetches := client.PollFetches(poll)
		nothing := poll.Err() != nil && ctx.Err() == nil && fetches.NumRecords() == 0
		cancel()
		if nothing {
			if err := r.forget(ctx, topic, left); err != nil {
				return err
			}
			continue
		}
		if err := errors.Join(ctx.Err(), readError(fetches)); err != nil {
			return fmt.Errorf("read %s: %w", topic, err)
		}
		for it := fetches.RecordIter(); !it.Done(); {
			record := it.Next()
			b, ok := left[record.Partition]
			if !ok {
				continue
			}
			if record.Offset < b.End { // else it was written since
				if err := visit(record); err != nil {
					return err
				}
			}
			if record.Offset >= b.End-1 {
				delete(left, record.Partition)
			}
		}
	}
	return nil
}

const (
	// fetchBytes bounds a fetch. There are three at a time: the first is being read, the second
	// waits, and the third is on its way. A larger batch comes whole.
	fetchBytes = 4 << 20
	// quiet is how long nothing comes before the log is asked whether anything
	// will: what was left to read may have been trimmed.
	quiet = time.Second
)

// forget takes the partitions out of left that were trimmed beyond its bounds.
func (r *Reader) forget(ctx context.Context, topic string, left map[int32]Bounds) error {
	now, err := r.Bounds(ctx, topic)
	if err != nil {
		return err
	}
	for partition, b := range left {
		if now[partition].Start >= b.End {
			delete(left, partition)
		}
	}
	return nil
}

// readError is the first error of a poll, except if the poll ended for lack of records.
func readError(fetches kgo.Fetches) error {
	for _, e := range fetches.Errors() {
		if !errors.Is(e.Err, context.DeadlineExceeded) {
			return e.Err
		}
	}
	return nil
}

// Commits returns where a group goes on in a topic, by partition; what it never
// committed is missing.
func (r *Reader) Commits(ctx context.Context, group, topic string) (map[int32]int64, error) {
	fetched, err := r.admin.FetchOffsetsForTopics(ctx, group, topic)
	if err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
		return nil, fmt.Errorf("commits of %s: %w", group, err)
	}
	commits := map[int32]int64{}
	for partition, commit := range fetched[topic] {
		if commit.Err != nil {
			return nil, fmt.Errorf("commits of %s: %w", group, commit.Err)
		}
		if commit.At >= 0 {
			commits[partition] = commit.At
		}
	}
	return commits, nil
}
