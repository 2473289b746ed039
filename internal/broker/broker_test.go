package broker

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"

	"github.com/weftcrawl/weft/internal/dirlock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open starts a broker that ends with the test.
func open(t testing.TB, o Options) *Broker {
	t.Helper()
	b, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// connect makes a client that ends with the test.
func connect(t testing.TB, b *Broker, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(append(b.Client(), opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

func deadline(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestRecordsCommitsAndIDSurviveClose(t *testing.T) {
	dir := t.TempDir()
	ctx := deadline(t)

	b, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	client, err := kgo.NewClient(b.Client()...)
	if err != nil {
		t.Fatal(err)
	}
	admin := kadm.NewClient(client)
	if _, err := admin.CreateTopic(ctx, 2, -1, nil, "t"); err != nil {
		t.Fatal(err)
	}
	record := &kgo.Record{Topic: "t", Value: []byte("one")}
	if err := client.ProduceSync(ctx, record).FirstErr(); err != nil {
		t.Fatal(err)
	}
	var offsets kadm.Offsets
	offsets.AddOffset("t", record.Partition, 1, -1)
	if err := admin.CommitAllOffsets(ctx, "g", offsets); err != nil {
		t.Fatal(err)
	}
	id := clusterID(t, client)
	client.Close()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}

	b = open(t, Options{Dir: dir})
	client = connect(t, b, kgo.ConsumeTopics("t"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if got := clusterID(t, client); got != id || len(id) != 22 {
		t.Errorf("cluster id %q, before it was %q", got, id)
	}
	fetches := client.PollFetches(ctx)
	if err := fetches.Err(); err != nil {
		t.Fatal(err)
	}
	if got := string(fetches.Records()[0].Value); got != "one" {
		t.Errorf("read %q", got)
	}
	commits, err := kadm.NewClient(client).FetchOffsets(ctx, "g")
	if err != nil {
		t.Fatal(err)
	}
	if c, ok := commits.Lookup("t", record.Partition); !ok || c.At != 1 {
		t.Errorf("commit %+v", c)
	}
}

func TestTwoBrokersHaveTwoIDs(t *testing.T) {
	a := clusterID(t, connect(t, open(t, Options{Dir: t.TempDir()})))
	if b := clusterID(t, connect(t, open(t, Options{Dir: t.TempDir()}))); a == b {
		t.Errorf("both are %q", a)
	}
}

// clusterID is the broker's name as its clients see it.
func clusterID(t *testing.T, client *kgo.Client) string {
	t.Helper()
	metadata, err := kadm.NewClient(client).BrokerMetadata(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return metadata.Cluster
}

func TestDirectoryInUse(t *testing.T) {
	dir := t.TempDir()
	first, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Options{Dir: dir}); !errors.Is(err, dirlock.ErrInUse) || !strings.Contains(err.Error(), dir) {
		t.Errorf("a second broker in the directory: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, Options{Dir: dir})
}

func TestUnusableDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"", file, filepath.Join(file, "below")} {
		if b, err := Open(Options{Dir: dir}); err == nil {
			t.Errorf("opened a broker in %q", dir)
			b.Close()
		} else if !strings.Contains(err.Error(), "broker") {
			t.Errorf("%q: %v", dir, err)
		}
	}
}

func TestUnusableAddress(t *testing.T) {
	taken := open(t, Options{Dir: t.TempDir(), Listen: "127.0.0.1:0"}).Addr()
	for _, at := range []string{"localhost", "127.0.0.1:99999", "127.0.0.1:kafka", taken} {
		dir := t.TempDir()
		b, err := Open(Options{Dir: dir, Listen: at})
		if err == nil {
			t.Errorf("listens at %q", at)
			b.Close()
			continue
		}
		if !strings.Contains(err.Error(), "listen") {
			t.Errorf("%q: %v", at, err)
		}
		open(t, Options{Dir: dir}) // the directory is free again
	}
}

func TestAdvertisedAddress(t *testing.T) {
	name := machineName()
	for at, host := range map[string]string{"127.0.0.1:0": "127.0.0.1", "localhost:0": "localhost", "0.0.0.0:0": name, ":0": name} {
		b := open(t, Options{Dir: t.TempDir(), Listen: at})
		if got := b.Addr(); !strings.HasPrefix(got, host+":") || strings.HasSuffix(got, ":0") {
			t.Errorf("listens at %q, advertises %q", at, got)
		}
	}
}

// TestKcat reads a topic with a client that shares no code with the broker.
func TestKcat(t *testing.T) {
	kcat, err := exec.LookPath("kcat")
	if err != nil {
		t.Skip("kcat is not installed")
	}
	ctx := deadline(t)
	b := open(t, Options{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	client := connect(t, b)
	if _, err := kadm.NewClient(client).CreateTopic(ctx, 3, -1, nil, "weft.parsed"); err != nil {
		t.Fatal(err)
	}
	if err := client.ProduceSync(ctx, &kgo.Record{Topic: "weft.parsed", Key: []byte("k"), Value: []byte("hello")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(ctx, kcat, "-b", b.Addr(), "-C", "-t", "weft.parsed", "-e", "-f", "%k=%s\n").Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := string(out); got != "k=hello\n" {
		t.Errorf("kcat read %q", got)
	}
}
