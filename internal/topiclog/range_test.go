package topiclog_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/internal/topiclog"
)

// TestRangeDoesNotWaitForWhatWasTrimmed reads bounds that are older than the
// log's start, because a janitor trims what was consumed while it is being
// read: what is left comes, and an empty rest is no reason to wait.
func TestRangeDoesNotWaitForWhatWasTrimmed(t *testing.T) {
	l := newLog(t)
	for _, test := range []struct{ trim, end, seen int64 }{{0, 5, 5}, {3, 5, 2}, {4, 2, 0}, {5, 5, 0}} {
		l.trim(t, 0, test.trim)
		seen := int64(0)
		err := l.reader.Range(l.ctx, topic, map[int32]topiclog.Bounds{0: {Start: 0, End: test.end}}, func(*kgo.Record) error {
			seen++
			return nil
		})
		if err != nil || seen != test.seen {
			t.Errorf("up to %d, trimmed to %d: %d records, %v; want %d", test.end, test.trim, seen, err, test.seen)
		}
	}
}

func TestBounds(t *testing.T) {
	l := newLog(t)
	l.trim(t, 1, 2)
	begun := time.Now().Add(time.Hour)
	for i := range 2 { // at 5 and 6
		r := &kgo.Record{Topic: topic, Partition: 1, Timestamp: begun.Add(time.Duration(i) * time.Minute)}
		if err := l.client.ProduceSync(l.ctx, r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	since := func(after time.Duration, partitions ...int32) func() (map[int32]topiclog.Bounds, error) {
		return func() (map[int32]topiclog.Bounds, error) {
			return l.reader.BoundsSince(l.ctx, topic, begun.Add(after).UnixMilli(), partitions...)
		}
	}
	of := func(partitions ...int32) func() (map[int32]topiclog.Bounds, error) {
		return func() (map[int32]topiclog.Bounds, error) { return l.reader.Bounds(l.ctx, topic, partitions...) }
	}
	for name, test := range map[string]struct {
		ask  func() (map[int32]topiclog.Bounds, error)
		want map[int32]topiclog.Bounds
		err  error
	}{
		"all":               {of(), map[int32]topiclog.Bounds{0: {Start: 0, End: 5}, 1: {Start: 2, End: 7}}, nil},
		"one":               {of(1), map[int32]topiclog.Bounds{1: {Start: 2, End: 7}}, nil},
		"none such":         {of(1, 9), nil, kerr.UnknownTopicOrPartition},
		"since before all":  {since(-2*time.Hour, 1), map[int32]topiclog.Bounds{1: {Start: 2, End: 7}}, nil},
		"since between two": {since(time.Second, 1), map[int32]topiclog.Bounds{1: {Start: 6, End: 7}}, nil},
		"since, of all":     {since(time.Second), map[int32]topiclog.Bounds{0: {Start: 5, End: 5}, 1: {Start: 6, End: 7}}, nil},
		"since after all":   {since(time.Hour, 1), map[int32]topiclog.Bounds{1: {Start: 7, End: 7}}, nil},
	} {
		if got, err := test.ask(); !maps.Equal(got, test.want) || !errors.Is(err, test.err) {
			t.Errorf("%s: %v, %v; want %v, %v", name, got, err, test.want, test.err)
		}
	}
}

// What ends transactions is no record, and may be the last of a log; records of
// transactions that are aborted, or are not over, are left out where only the
// committed ones count.
func TestTransactions(t *testing.T) {
	l := newLog(t)
	producer, err := kgo.NewClient(kgo.SeedBrokers(l.client.OptValue(kgo.SeedBrokers).([]string)...), kgo.TransactionalID("x"), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()
	begin := func(value string) {
		if err := producer.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		if err := producer.ProduceSync(l.ctx, &kgo.Record{Topic: topic, Partition: 1, Value: []byte(value)}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	values := func(read func(context.Context, string, func(*kgo.Record) error) error) (all []string) {
		t.Helper()
		if err := read(l.ctx, topic, func(r *kgo.Record) error {
			if r.Partition == 1 && r.Offset >= 5 {
				all = append(all, string(r.Value))
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return all
	}
	for _, step := range []struct {
		value          string
		end            kgo.TransactionEndTry
		all, committed []string
	}{
		{"a", kgo.TryCommit, []string{"a"}, []string{"a"}},
		{"b", kgo.TryAbort, []string{"a", "b"}, []string{"a"}},
	} {
		begin(step.value)
		if err := producer.EndTransaction(l.ctx, step.end); err != nil {
			t.Fatal(err)
		}
		if got := values(l.reader.Records); !slices.Equal(got, step.all) {
			t.Errorf("after %s: %v, want %v", step.value, got, step.all)
		}
		if got := values(l.reader.Committed); !slices.Equal(got, step.committed) {
			t.Errorf("after %s: committed %v, want %v", step.value, got, step.committed)
		}
	}
	begin("c")
	if all, committed := values(l.reader.Records), values(l.reader.Committed); len(all) != 3 || len(committed) != 1 {
		t.Errorf("while a transaction is open: %v, committed %v", all, committed)
	}
	if err := producer.EndTransaction(l.ctx, kgo.TryAbort); err != nil {
		t.Fatal(err)
	}
}
