package broker

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestTrimTo(t *testing.T) {
	for name, tc := range map[string]struct {
		committed []int64
		end, want int64
	}{
		"nobody reads it":     {nil, 10, -1},
		"nothing committed":   {[]int64{-1}, 10, -1},
		"one has not":         {[]int64{7, -1}, 10, -1},
		"the slowest decides": {[]int64{7, 4, 9}, 10, 4},
		"all consumed":        {[]int64{10, 10}, 10, 9},
		"empty log":           {[]int64{0}, 0, -1},
		"commit beyond end":   {[]int64{12}, 10, 9},
	} {
		if got := TrimTo(tc.committed, tc.end); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
}

// trimming is a broker with a topic of one partition and small segments.
type trimming struct {
	t      *testing.T
	ctx    context.Context
	dir    string
	client *kgo.Client
	admin  *kadm.Client
	broker *Broker
}

const trimmed = "t"

func newTrimming(t *testing.T) *trimming {
	t.Helper()
	w := &trimming{t: t, ctx: deadline(t), dir: t.TempDir()}
	w.broker = open(t, Options{Dir: w.dir})
	w.client = connect(t, w.broker, kgo.DefaultProduceTopic(trimmed), kgo.ProducerLinger(0), kgo.ProducerBatchCompression(kgo.NoCompression()))
	w.admin = kadm.NewClient(w.client)
	configs := map[string]*string{"segment.bytes": kadm.StringPtr("10000")}
	if _, err := w.admin.CreateTopic(w.ctx, 1, 1, configs, trimmed); err != nil {
		t.Fatal(err)
	}
	return w
}

// write appends n records of 1,000 bytes, each a batch of its own.
func (w *trimming) write(n int) {
	w.t.Helper()
	for range n {
		if err := w.client.ProduceSync(w.ctx, &kgo.Record{Value: make([]byte, 1000)}).FirstErr(); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *trimming) commit(group string, at int64) {
	w.t.Helper()
	var offsets kadm.Offsets
	offsets.AddOffset(trimmed, 0, at, -1)
	if err := w.admin.CommitAllOffsets(w.ctx, group, offsets); err != nil {
		w.t.Fatal(err)
	}
}

func (w *trimming) trim(groups ...string) {
	w.t.Helper()
	if err := (Janitor{Admin: w.admin, Readers: map[string][]string{trimmed: groups}}).Trim(w.ctx); err != nil {
		w.t.Fatal(err)
	}
}

func (w *trimming) bounds() (start, end int64) {
	w.t.Helper()
	return logBounds(w.t, w.ctx, w.admin)
}

func logBounds(t *testing.T, ctx context.Context, admin *kadm.Client) (start, end int64) {
	t.Helper()
	starts, err := admin.ListStartOffsets(ctx, trimmed)
	if err != nil {
		t.Fatal(err)
	}
	ends, err := admin.ListEndOffsets(ctx, trimmed)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := starts.Lookup(trimmed, 0)
	e, _ := ends.Lookup(trimmed, 0)
	return s.Offset, e.Offset
}

// segments counts the segment files of the topic in a broker's directory.
func segments(t *testing.T, dir string) int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "kafka", "partitions", trimmed+"-0", "*.dat"))
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

func TestTrimBehindTheSlowestGroup(t *testing.T) {
	w := newTrimming(t)
	w.write(100)
	if n := segments(t, w.dir); n != 10 {
		t.Fatalf("%d segments", n)
	}
	for _, step := range []struct {
		fast, slow int64 // -1: no commit
		start      int64
		segments   int
	}{
		{-1, -1, 0, 10},
		{50, -1, 0, 10},
		{60, 35, 35, 7},
		{60, 35, 35, 7},
		{100, 80, 80, 2},
		{100, 100, 99, 1},
	} {
		if step.fast >= 0 {
			w.commit("fast", step.fast)
		}
		if step.slow >= 0 {
			w.commit("slow", step.slow)
		}
		w.trim("fast", "slow")
		if start, end := w.bounds(); start != step.start || end != 100 {
			t.Errorf("commits at %d and %d: log from %d to %d, want from %d to 100", step.fast, step.slow, start, end, step.start)
		}
		if n := segments(t, w.dir); n != step.segments {
			t.Errorf("commits at %d and %d: %d segments, want %d", step.fast, step.slow, n, step.segments)
		}
	}
}

// TestKilledAfterTrimmingKeepsEnd opens a copy of a running broker's files,
// which is what kill -9 leaves. The end of the log must be where it was, or
// commits would point beyond it and new records be skipped.
func TestKilledAfterTrimmingKeepsEnd(t *testing.T) {
	w := newTrimming(t)
	w.write(25)
	w.commit("g", 25)
	w.trim("g")
	if start, end := w.bounds(); start != 24 || end != 25 {
		t.Fatalf("log from %d to %d", start, end)
	}
	killed := t.TempDir()
	if err := os.CopyFS(killed, os.DirFS(w.dir)); err != nil {
		t.Fatal(err)
	}
	b := open(t, Options{Dir: killed})
	admin := kadm.NewClient(connect(t, b))
	// The log starts with the segment that holds the last record: kfake keeps
	// the exact start only when it is closed.
	if start, end := logBounds(t, w.ctx, admin); start > 24 || end != 25 {
		t.Errorf("after kill -9 the log is from %d to %d", start, end)
	}
	commits, err := admin.FetchOffsets(w.ctx, "g")
	if err != nil {
		t.Fatal(err)
	}
	if c, _ := commits.Lookup(trimmed, 0); c.At != 25 {
		t.Errorf("commit at %d", c.At)
	}
}

// TestEmptiedLogForgetsItsEnd documents why the janitor keeps the last record.
// When it fails, kfake has learned to remember, and the janitor need not care.
func TestEmptiedLogForgetsItsEnd(t *testing.T) {
	w := newTrimming(t)
	w.write(25)
	var all kadm.Offsets
	all.AddOffset(trimmed, 0, 25, -1)
	if deleted, err := w.admin.DeleteRecords(w.ctx, all); err != nil || deleted.Error() != nil {
		t.Fatal(err, deleted.Error())
	}
	killed := t.TempDir()
	if err := os.CopyFS(killed, os.DirFS(w.dir)); err != nil {
		t.Fatal(err)
	}
	admin := kadm.NewClient(connect(t, open(t, Options{Dir: killed})))
	if _, end := logBounds(t, w.ctx, admin); end != 0 {
		t.Errorf("the emptied log ends at %d", end)
	}
}

func TestRunSurvivesFailures(t *testing.T) {
	w := newTrimming(t)
	w.write(3)
	w.commit("g", 3)
	var log bytes.Buffer
	said := make(chan struct{}, 100)
	ctx, cancel := context.WithCancel(w.ctx)
	j := Janitor{
		Admin: w.admin, Readers: map[string][]string{"missing": {"g"}}, Every: time.Millisecond,
		Logger: slog.New(slog.NewTextHandler(signal{&log, said}, nil)),
	}
	ended := make(chan error, 1)
	go func() { ended <- j.Run(ctx) }()
	<-said
	<-said
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if !strings.Contains(log.String(), "trimming failed") {
		t.Errorf("log: %s", log.String())
	}
}

// signal is a writer that tells of each write.
type signal struct {
	buf  *bytes.Buffer
	said chan<- struct{}
}

func (s signal) Write(p []byte) (int, error) {
	defer func() {
		select {
		case s.said <- struct{}{}:
		default:
		}
	}()
	return s.buf.Write(p)
}

// The commits that count are the newest of those that are old enough.
func TestReadingsBefore(t *testing.T) {
	at := func(second int) time.Time { return time.Unix(int64(second), 0) }
	var r readings
	for second := range 4 {
		r = append(r, reading{at(second), consumed{strconv.Itoa(second): nil}})
	}
	if commits := r.before(at(-1)); commits != nil {
		t.Errorf("a reading is taken that was made later: %v", commits)
	}
	for _, then := range []int{0, 2, 3, 9} {
		commits := r.before(at(then))
		if _, newest := commits[strconv.Itoa(min(then, 3))]; !newest {
			t.Errorf("at %d: %v", then, commits)
		}
		if kept := r.since(at(then)); len(kept) != max(4-then, 1) {
			t.Errorf("at %d %d readings are kept", then, len(kept))
		}
	}
	if commits := (readings{}).before(at(9)); commits != nil {
		t.Errorf("without a reading: %v", commits)
	}
}
