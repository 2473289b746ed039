package trouble_test

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"

	"github.com/weftcrawl/weft/internal/trouble"
	"github.com/weftcrawl/weft/topics"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var names = topics.Loop("weft")

// brokers are the brokers of a crawl with 4 partitions.
func brokers(t *testing.T) *kadm.Client {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(2))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	admin := kadm.NewClient(client)
	if _, err := topics.Create(t.Context(), admin, topics.Spec{Crawl: "weft", Partitions: 4, Replication: 1}); err != nil {
		t.Fatal(err)
	}
	return admin
}

// told is what is read at a time: stage, process, kind, times and sentence.
func told(t *testing.T, admin *kadm.Client, now time.Time) string {
	t.Helper()
	all, err := trouble.Read(t.Context(), names, admin, now)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, what := range all {
		lines = append(lines, strings.Join([]string{string(what.Stage), what.Member, string(what.Kind), what.Says}, " "))
	}
	return strings.Join(lines, "\n")
}

func TestEverybodyHearsOfTroubles(t *testing.T) {
	admin := brokers(t)
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	if got := told(t, admin, noon); got != "" {
		t.Errorf("before anything is told: %q", got)
	}
	var nobody *trouble.Reporter
	nobody.Report(t.Context(), topics.Parse, trouble.Trouble{Kind: trouble.Fails})
	nobody.End(t.Context(), topics.Parse, trouble.Fails)

	one, other := trouble.NewReporter(names, admin, "a", 4), trouble.NewReporter(names, admin, "b", 4)
	other.Report(t.Context(), topics.Schedule, trouble.Trouble{Kind: trouble.Fails, Says: "no such\n\tfile", Times: 3, Since: noon, At: noon})
	one.Report(t.Context(), topics.Schedule, trouble.Trouble{Kind: trouble.Disk, Says: "disk: 1 MiB free", Since: noon, At: noon})
	one.Report(t.Context(), topics.Dedupe, trouble.Trouble{Kind: trouble.Fails, Says: "broken", Times: 1, Since: noon, At: noon.Add(time.Minute)})
	all := "dedupe a fails broken\nschedule a disk disk: 1 MiB free\nschedule b fails no such file"
	if got := told(t, admin, noon.Add(trouble.Lasting-time.Second)); got != all {
		t.Errorf("told is\n%s, want\n%s", got, all)
	}
	if got, want := told(t, admin, noon.Add(trouble.Lasting)), "dedupe a fails broken"; got != want {
		t.Errorf("later %q, want %q", got, want)
	}
	one.End(t.Context(), topics.Schedule, trouble.Disk)
	if got, want := told(t, admin, noon), "dedupe a fails broken\nschedule b fails no such file"; got != want {
		t.Errorf("after one is over %q, want %q", got, want)
	}
}

// However long an error is, its beginning comes through.
func TestLongErrorsAreCut(t *testing.T) {
	admin := brokers(t)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	teller := trouble.NewReporter(names, admin, "a", 4)
	reportLong(t, teller, now)
	holdsLong(t, admin, now)
}

// reportLong reports two troubles of fetch that are as long as they may be.
func reportLong(t *testing.T, teller *trouble.Reporter, now time.Time) {
	t.Helper()
	for _, kind := range []trouble.Kind{trouble.Fails, trouble.Disk} {
		teller.Report(t.Context(), topics.Fetch, trouble.Trouble{Kind: kind, Says: strings.Repeat("<\x01\"é", 5000), Since: now, At: now})
	}
}

// holdsLong checks that both troubles of reportLong are there, and that brokers accept them.
func holdsLong(t *testing.T, admin *kadm.Client, now time.Time) {
	t.Helper()
	committed, err := admin.FetchOffsets(t.Context(), names.Troubles())
	if err != nil {
		t.Fatal(err)
	}
	committed.Each(func(o kadm.OffsetResponse) {
		if len(o.Metadata) > 4096 {
			t.Errorf("%d bytes of metadata: brokers refuse more than 4,096", len(o.Metadata))
		}
	})
	if got := told(t, admin, now); strings.Count(got, "fetch a ") != 2 {
		t.Errorf("told is %.200q", got)
	}
}

// A trouble of each kind is reported.
func TestEachKindIsReported(t *testing.T) {
	admin := brokers(t)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	teller := trouble.NewReporter(names, admin, "a", 4)
	kinds := []trouble.Kind{trouble.Archive, trouble.Disk, trouble.Fails}
	for _, kind := range kinds {
		teller.Report(t.Context(), topics.Schedule, trouble.Trouble{Kind: kind, Says: "it waits", Since: now, At: now})
	}
	all, err := trouble.Read(t.Context(), names, admin, now)
	if err != nil || len(all) != len(kinds) {
		t.Fatalf("read %v, %v", all, err)
	}
	for i, what := range all {
		if what.Kind != kinds[i] {
			t.Errorf("trouble %d is %s, want %s", i, what.Kind, kinds[i])
		}
	}
}

// What others commit in the group is no trouble.
func TestForeignCommitsAreNoTroubles(t *testing.T) {
	admin := brokers(t)
	offsets := kadm.Offsets{}
	for partition, text := range []string{"", "hello", `[{"stage":"parse","at":"2026-03-01T12:00:00Z"}]`, `{"a":1}`} {
		offsets.Add(kadm.Offset{Topic: names.Scheduled, Partition: int32(partition), LeaderEpoch: -1, Metadata: text})
	}
	if err := admin.CommitAllOffsets(t.Context(), names.Troubles(), offsets); err != nil {
		t.Fatal(err)
	}
	if got := told(t, admin, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)); got != "" {
		t.Errorf("told is %q", got)
	}
}
