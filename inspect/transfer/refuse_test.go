package transfer_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/inspect/transfer"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/test/webserver"
	"github.com/weftcrawl/weft/topics"
)

// exported is half a crawl on a cluster, and an export of it.
func exported(t *testing.T) (cluster, dir string) {
	t.Helper()
	_, server := serve(t, webserver.Options{Pages: 60, Domains: 6, ErrorEvery: 10}, webserver.ServerOptions{})
	o := options(t, server)
	cluster = newCluster(t)
	o.Cluster.Brokers, o.Definition.Crawl, o.Definition.Partitions = []string{cluster}, "old", 3
	crawlUntil(t, o, server, 20)
	dir = filepath.Join(t.TempDir(), "export")
	if _, err := transfer.Export(deadline(t), transfer.ExportOptions{Crawl: "old", Dir: dir, Client: at(cluster), Bodies: bodiesOf("")}); err != nil {
		t.Fatal(err)
	}
	return cluster, dir
}

// stopAfter cancels after a number of topics were written.
type stopAfter struct {
	slog.Handler
	left   int
	cancel context.CancelFunc
}

func (s *stopAfter) Enabled(context.Context, slog.Level) bool { return true }

func (s *stopAfter) Handle(context.Context, slog.Record) error {
	if s.left--; s.left == 0 {
		s.cancel()
	}
	return nil
}

// TestHalfAnImportIsNoCrawl ends imports after the first, some and all topics: no command takes
// the remains for a crawl, and only --again begins anew.
func TestHalfAnImportIsNoCrawl(t *testing.T) {
	_, dir := exported(t)
	for _, left := range []int{1, 2, 5, 9} {
		cluster := newCluster(t)
		o := transfer.ImportOptions{Client: at(cluster), Crawl: "new", Partitions: 2, Replication: 1}
		ctx, cancel := context.WithCancel(deadline(t))
		o.Logger = slog.New(&stopAfter{slog.DiscardHandler, left, cancel})
		_, err := transfer.Import(ctx, opened(t, dir), o)
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("after %d topics: %v", left, err)
		}
		o.Logger = nil
		if _, err := topics.ReadDefinition(deadline(t), topics.Loop("new"), at(cluster)...); !errors.Is(err, topics.ErrImporting) {
			t.Errorf("after %d topics its definition is read: %v", left, err)
		}
		if _, err := transfer.Export(deadline(t), transfer.ExportOptions{Crawl: "new", Dir: t.TempDir(), Client: at(cluster), Bodies: bodiesOf("")}); !errors.Is(err, topics.ErrImporting) {
			t.Errorf("after %d topics it is exported: %v", left, err)
		}
		if _, err := transfer.Import(deadline(t), opened(t, dir), o); !errors.Is(err, transfer.ErrHalf) {
			t.Errorf("after %d topics, once more: %v", left, err)
		}
		o.Again = true
		if _, err := transfer.Import(deadline(t), opened(t, dir), o); err != nil {
			t.Fatalf("after %d topics, again: %v", left, err)
		}
		proven(t, cluster, "new")
		if _, err := transfer.Import(deadline(t), opened(t, dir), o); !errors.Is(err, transfer.ErrExists) {
			t.Errorf("again, although it is done: %v", err)
		}
	}
}

// TestDamageIsNamed damages each file of an export, and removes it. How many segments there are
// depends on the partitions that have records when the crawl is stopped.
func TestDamageIsNamed(t *testing.T) {
	_, dir := exported(t)
	files := 0
	err := filepath.WalkDir(dir, func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files++
		whole, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for what, damaged := range map[string][]byte{
			"a bit": flipped(whole, len(whole)/2), "the last bit": flipped(whole, len(whole)-2), "cut": whole[:len(whole)-1], "longer": append(whole[:len(whole):len(whole)], '0'),
		} {
			if err := os.WriteFile(name, damaged, 0o600); err != nil {
				return err
			}
			if _, err := transfer.OpenArchive(dir); !errors.Is(err, transfer.ErrExport) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s of %s: %v", what, name, err)
			}
		}
		if err := os.Remove(name); err != nil {
			return err
		}
		if _, err := transfer.OpenArchive(dir); !errors.Is(err, transfer.ErrExport) || !strings.Contains(err.Error(), filepath.Base(name)) {
			t.Errorf("without %s: %v", name, err)
		}
		return os.WriteFile(name, whole, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	segments := map[string]int{}
	for _, l := range opened(t, dir).Logs {
		if l.File != "" {
			segments[l.Topic]++
			files--
		}
	}
	if files != 1 || segments["fetched"] == 0 || segments["scheduled"] == 0 || segments["parsed"] == 0 {
		t.Errorf("%d files besides the segments %v: want the manifest", files, segments)
	}
}

func flipped(b []byte, at int) []byte {
	c := append([]byte(nil), b...)
	c[at] ^= 1
	return c
}

// TestWhatIsNotExported: a crawl that runs, that does not exist, whose ledgers are trimmed, or
// whose logs do not have the records to read next.
func TestWhatIsNotExported(t *testing.T) {
	cluster, _ := exported(t)
	export := func(crawl string) error {
		_, err := transfer.Export(deadline(t), transfer.ExportOptions{Crawl: crawl, Dir: filepath.Join(t.TempDir(), "export"), Client: at(cluster), Bodies: bodiesOf("")})
		return err
	}
	if err := export("nobody"); !errors.Is(err, topics.ErrUndefined) {
		t.Errorf("a crawl that is not there: %v", err)
	}
	if _, err := transfer.Export(deadline(t), transfer.ExportOptions{Crawl: "old", Dir: filepath.Dir(t.TempDir()), Client: at(cluster), Bodies: bodiesOf("")}); !errors.Is(err, transfer.ErrFolder) {
		t.Errorf("into a folder that is in use: %v", err)
	}
	n := topics.Loop("old")
	member, err := kgo.NewClient(append(at(cluster), kgo.ConsumerGroup(n.Group(topics.Parse)), kgo.ConsumeTopics(n.Fetched))...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(deadline(t))
	joined := make(chan struct{})
	go func() {
		defer close(joined)
		for ctx.Err() == nil {
			member.PollFetches(ctx)
			if _, generation := member.GroupMetadata(); generation >= 0 {
				return
			}
		}
	}()
	admin := kadm.NewClient(member)
	for members := 0; members == 0 && ctx.Err() == nil; {
		described, err := admin.DescribeGroups(ctx, n.Group(topics.Parse))
		if err != nil {
			t.Fatal(err)
		}
		members = len(described[n.Group(topics.Parse)].Members)
	}
	if err := export("old"); !errors.Is(err, transfer.ErrRunning) || !strings.Contains(err.Error(), "parse") {
		t.Errorf("while it runs: %v", err)
	}
	cancel()
	<-joined
	member.Close()

	for _, trim := range []struct {
		topic string
		want  error
	}{{n.Deduped, ledger.ErrTrimmed}, {n.Scheduled, ledger.ErrTrimmed}} {
		client, err := kgo.NewClient(at(cluster)...)
		if err != nil {
			t.Fatal(err)
		}
		var offsets kadm.Offsets
		offsets.AddOffset(trim.topic, 1, 1, -1)
		if _, err := kadm.NewClient(client).DeleteRecords(deadline(t), offsets); err != nil {
			t.Fatal(err)
		}
		client.Close()
		if err := export("old"); !errors.Is(err, trim.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("without the first record of %s: %v", trim.topic, err)
		}
	}
}

// TestWhatIsInTheWay: topics that hold anything are left alone, empty ones are
// used, and so is a name whose groups have committed before.
func TestWhatIsInTheWay(t *testing.T) {
	_, dir := exported(t)
	cluster := newCluster(t)
	client, err := kgo.NewClient(at(cluster)...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	admin, n := kadm.NewClient(client), topics.Loop("new")
	if _, err := topics.Create(deadline(t), admin, topics.Spec{Crawl: "new", Partitions: 3, Replication: 1}); err != nil {
		t.Fatal(err)
	}
	var stale kadm.Offsets
	stale.AddOffset(n.Seeds, 0, 1000, -1)
	if err := admin.CommitAllOffsets(deadline(t), n.Group(topics.Normalize), stale); err != nil {
		t.Fatal(err)
	}
	o := transfer.ImportOptions{Client: at(cluster), Crawl: "new", Replication: 1}
	if _, err := transfer.Import(deadline(t), opened(t, dir), o); err != nil {
		t.Fatal(err)
	}
	proven(t, cluster, "new")
	if commits, err := admin.FetchOffsets(deadline(t), n.Group(topics.Normalize)); err == nil {
		if at, known := commits.Lookup(n.Seeds, 0); known && at.At > 0 {
			t.Errorf("normalize would go on at %d", at.At)
		}
	}
	other := topics.Loop("other")
	if _, err := topics.Create(deadline(t), admin, topics.Spec{Crawl: "other", Partitions: 3, Replication: 1}); err != nil {
		t.Fatal(err)
	}
	if err := client.ProduceSync(deadline(t), &kgo.Record{Topic: other.Seeds, Value: []byte("http://example.com/")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	o.Crawl = "other"
	if _, err := transfer.Import(deadline(t), opened(t, dir), o); !errors.Is(err, transfer.ErrExists) || !strings.Contains(err.Error(), other.Seeds) {
		t.Errorf("over somebody's seeds: %v", err)
	}
}
