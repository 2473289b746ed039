package broker

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"pgregory.net/rapid"
)

// log is what a client sees of a partition.
type log struct {
	Start, End int64
	Records    []string // of the whole log, "offset:value"
}

// readLog reads partition 0 of the topic trimmed.
func readLog(ctx context.Context, options []kgo.Opt, isolation kgo.IsolationLevel) (l log, err error) {
	client, err := kgo.NewClient(append(slices.Clone(options), kgo.ConsumeTopics(trimmed), kgo.FetchIsolationLevel(isolation),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.KeepControlRecords())...)
	if err != nil {
		return l, err
	}
	defer client.Close()
	admin := kadm.NewClient(client)
	starts, err := admin.ListStartOffsets(ctx, trimmed)
	if err != nil {
		return l, err
	}
	ends, err := admin.ListEndOffsets(ctx, trimmed)
	if err != nil {
		return l, err
	}
	start, _ := starts.Lookup(trimmed, 0)
	end, _ := ends.Lookup(trimmed, 0)
	l.Start, l.End = start.Offset, end.Offset
	for at := l.Start; at < l.End; {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return l, err
		}
		fetches.EachRecord(func(r *kgo.Record) {
			at = r.Offset + 1
			if !r.Attrs.IsControl() {
				l.Records = append(l.Records, fmt.Sprintf("%d:%s", r.Offset, r.Value))
			}
		})
	}
	return l, nil
}

// damage is what a crash does to the last segment of a log.
type damage struct {
	cut  int // bytes missing at its end
	flip int // byte that is wrong, counted from the end; 0: none
}

func (d damage) apply(dir string) error {
	segments, err := listSegments(filepath.Join(dir, "kafka", "partitions", trimmed+"-0"))
	if err != nil || len(segments) == 0 {
		return err
	}
	last := segments[len(segments)-1]
	path := filepath.Join(dir, "kafka", "partitions", trimmed+"-0", fmt.Sprintf("%d.dat", last.BaseOffset))
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	raw = raw[:len(raw)-min(d.cut, len(raw))]
	if at := len(raw) - d.flip; d.flip > 0 && at >= 0 && !unchecked(raw, at) {
		raw[at] ^= 0x40
	}
	return os.WriteFile(path, raw, 0o644)
}

// unchecked tells whether no checksum covers the byte at an index of a segment: the first
// offset of a batch, its epoch, its format. kfake believes whatever stands there; a crash
// leaves it out or writes it as it is.
func unchecked(segment []byte, at int) bool {
	for start := 0; start+batchHeaderBytes <= len(segment) && start <= at; {
		in := at - start
		if in < batchLengthAt || in >= batchEpochAt && in < batchCRCAt {
			return true
		}
		start += 12 + int(binary.BigEndian.Uint32(segment[start+batchLengthAt:]))
	}
	return false
}

// TestMendedLogsAreWhatKfakeMakesOfThem kills a broker at random, damages its
// last segment, and opens what is left twice: with kfake alone, which replays,
// and with rebuildSnapshots before. Both must be the same log, also after more was written
// and after a clean end.
func TestMendedLogsAreWhatKfakeMakesOfThem(t *testing.T) {
	ctx := deadline(t)
	mended, killed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		root, err := os.MkdirTemp(memoryDir(), "snapshots")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(root)
		dir := filepath.Join(root, "killed")

		b, err := Open(Options{Dir: filepath.Join(root, "live")})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		appendBatches(t, ctx, b.Client(), rapid.SliceOfN(rapid.IntRange(1, 5), 1, 40).Draw(t, "batches"), true)
		if rapid.Bool().Draw(t, "trim") {
			trimRandomly(t, ctx, b.Client())
		}
		if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, "live"))); err != nil {
			t.Fatal(err)
		}
		killed++
		d := damage{cut: rapid.IntRange(0, 400).Draw(t, "cut"), flip: rapid.IntRange(0, 300).Draw(t, "flip")}
		if err := d.apply(dir); err != nil {
			t.Fatal(err)
		}
		other := filepath.Join(root, "other")
		if err := os.CopyFS(other, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		if err := rebuildSnapshots(filepath.Join(other, "kafka")); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(other, "kafka", "partitions", trimmed+"-0", snapshotName)); err == nil {
			mended++
		}
		want, got := replay(t, ctx, dir), replay(t, ctx, other)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("kfake alone and mended (-kfake +mended):\n%s", diff)
		}
	})
	if mended < killed/2 {
		t.Errorf("only %d of %d logs were mended", mended, killed)
	}
}

// memoryDir is a directory where a sync costs nothing: kfake makes a dozen at each end; empty where
// there is none.
func memoryDir() string {
	const dir = "/dev/shm"
	if _, err := os.Stat(dir); err != nil {
		return ""
	}
	return dir
}

// replay opens dir with kfake alone, writes some more, closes it, opens it
// again, and returns what was read in between.
func replay(t *rapid.T, ctx context.Context, dir string) (logs []log) {
	t.Helper()
	for round := range 3 {
		cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.DataDir(filepath.Join(dir, "kafka")))
		if err != nil {
			t.Fatal(err)
		}
		options := []kgo.Opt{kgo.SeedBrokers(cluster.ListenAddrs()...)}
		l, err := readLog(ctx, options, kgo.ReadUncommitted())
		if err != nil {
			t.Fatal(err)
		}
		logs = append(logs, l)
		if round < 2 {
			appendBatches(t, ctx, options, []int{2, 1, 3}, false)
		}
		cluster.Close()
	}
	return logs
}

// appendBatches appends batches of so many records each.
func appendBatches(t *rapid.T, ctx context.Context, options []kgo.Opt, batches []int, create bool) {
	t.Helper()
	client, err := kgo.NewClient(append(slices.Clone(options), kgo.DefaultProduceTopic(trimmed), kgo.ProducerLinger(0), kgo.ProducerBatchCompression(kgo.NoCompression()))...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if create {
		configs := map[string]*string{"segment.bytes": kadm.StringPtr("600")}
		if _, err := kadm.NewClient(client).CreateTopic(ctx, 1, 1, configs, trimmed); err != nil {
			t.Fatal(err)
		}
	}
	for i, n := range batches {
		var records []*kgo.Record
		for j := range n {
			records = append(records, &kgo.Record{Value: fmt.Appendf(nil, "%d.%d %0*d", i, j, 30, i)})
		}
		if err := client.ProduceSync(ctx, records...).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
}

// trimRandomly deletes the first records of the log.
func trimRandomly(t *rapid.T, ctx context.Context, options []kgo.Opt) {
	t.Helper()
	client, err := kgo.NewClient(options...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	admin := kadm.NewClient(client)
	ends, err := admin.ListEndOffsets(ctx, trimmed)
	if err != nil {
		t.Fatal(err)
	}
	end, _ := ends.Lookup(trimmed, 0)
	if end.Offset == 0 {
		return
	}
	var offsets kadm.Offsets
	offsets.AddOffset(trimmed, 0, rapid.Int64Range(0, end.Offset-1).Draw(t, "to"), -1)
	if deleted, err := admin.DeleteRecords(ctx, offsets); err != nil || deleted.Error() != nil {
		t.Fatal(err, deleted.Error())
	}
}

// TestTrimmingSurvivesKillAfterCleanEnd: kfake alone brings back what was
// trimmed within the first segment.
func TestTrimmingSurvivesKillAfterCleanEnd(t *testing.T) {
	ctx := deadline(t)
	dir, killed := t.TempDir(), t.TempDir()
	b, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	client, err := kgo.NewClient(append(b.Client(), kgo.DefaultProduceTopic(trimmed))...)
	if err != nil {
		t.Fatal(err)
	}
	admin := kadm.NewClient(client)
	if _, err := admin.CreateTopic(ctx, 1, 1, nil, trimmed); err != nil {
		t.Fatal(err)
	}
	for range 9 {
		if err := client.ProduceSync(ctx, &kgo.Record{Value: []byte("x")}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	var offsets kadm.Offsets
	offsets.AddOffset(trimmed, 0, 5, -1)
	if _, err := admin.DeleteRecords(ctx, offsets); err != nil {
		t.Fatal(err)
	}
	client.Close()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b = open(t, Options{Dir: dir})
	client = connect(t, b, kgo.DefaultProduceTopic(trimmed))
	if err := client.ProduceSync(ctx, &kgo.Record{Value: []byte("y")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(killed, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	got, err := readLog(ctx, open(t, Options{Dir: killed}).Client(), kgo.ReadUncommitted())
	if err != nil {
		t.Fatal(err)
	}
	want := log{5, 10, []string{"5:x", "6:x", "7:x", "8:x", "9:y"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestTransactionsAreLeftToKfake: an aborted transaction of another client must
// not come to life by a kill.
func TestTransactionsAreLeftToKfake(t *testing.T) {
	ctx := deadline(t)
	dir, killed := t.TempDir(), t.TempDir()
	b := open(t, Options{Dir: dir})
	client := connect(t, b, kgo.TransactionalID("x"), kgo.DefaultProduceTopic(trimmed))
	if _, err := kadm.NewClient(client).CreateTopic(ctx, 1, 1, nil, trimmed); err != nil {
		t.Fatal(err)
	}
	for i, end := range []kgo.TransactionEndTry{kgo.TryCommit, kgo.TryAbort, kgo.TryCommit} {
		if err := client.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		if err := client.ProduceSync(ctx, &kgo.Record{Value: fmt.Append(nil, i)}).FirstErr(); err != nil {
			t.Fatal(err)
		}
		if err := client.EndTransaction(ctx, end); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(killed, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	got, err := readLog(ctx, open(t, Options{Dir: killed}).Client(), kgo.ReadCommitted())
	if err != nil {
		t.Fatal(err)
	}
	want := log{0, 6, []string{"0:0", "4:2"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
