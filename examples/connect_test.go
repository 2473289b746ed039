package examples_test

import (
	"encoding/json"
	"flag"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/test/child"
	"github.com/weftcrawl/weft/test/kafkaserver"
	"github.com/weftcrawl/weft/test/s3server"
	"github.com/weftcrawl/weft/topics"
)

// make connect fetches half a gigabyte for it, so it is not a part of make test.
var connect = flag.Bool("connect", false, "run TestConnect")

// A worker of Kafka Connect, with the files as they are in examples/connect, brings each page into the Iceberg
// table once, with its values, also if the worker is killed.
func TestConnect(t *testing.T) {
	if !*connect {
		t.Skip("make connect runs it")
	}
	bucket, err := url.Parse(s3server.Gateway(t, "pages"))
	if err != nil {
		t.Fatal(err)
	}
	cluster := kafkaserver.Start(t, kafkaserver.Options{})
	brokers := strings.Join(cluster.Addrs(), ",")
	for name, value := range map[string]string{
		"BROKERS": brokers, "CATALOG": filepath.Join(t.TempDir(), "catalog.db"), "COMMIT_MS": "2000",
		"WAREHOUSE": "s3://" + bucket.Host + "/warehouse", "S3_ENDPOINT": bucket.Query().Get("endpoint"), "AWS_REGION": "us-east-1",
	} {
		t.Setenv(name, value)
	}
	const pages, domains = 300, 6
	_, server := serve(t, pages, domains)
	weft := built(t)
	do(t, weft, "topics", "create", "--brokers", brokers, "--partitions", "4", "--delay", "10ms", "--allow-private")
	controlTopic(t, brokers)
	do(t, table(t), "create")
	run(t, weft, brokers)

	worker := startWorker(t)
	do(t, weft, append([]string{"seed", "--brokers", brokers}, server.Seeds()[:domains/2]...)...)
	for len(inTable(t)) == 0 {
		rest(t)
	}
	worker.Kill()
	do(t, weft, append([]string{"seed", "--brokers", brokers}, server.Seeds()[domains/2:]...)...)
	drained(t, brokers)
	startWorker(t)
	var got []row
	for got = inTable(t); len(got) < pages; got = inTable(t) {
		rest(t)
	}
	var want []row
	for _, r := range first(t, brokers, topics.Loop(topics.DefaultCrawl).Parsed, pages) {
		want = append(want, decodeRow(t, r.Value))
	}
	byID := cmpopts.SortSlices(func(a, b row) bool { return a.ID < b.ID })
	if diff := cmp.Diff(want, got, byID, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("pages in the table (-parsed +table):\n%s", diff)
	}
	if want[0].ID == "" || want[0].Title == "" || want[0].FetchedAt.IsZero() || len(want[0].Links) == 0 {
		t.Errorf("a page without values proves nothing: %+v", want[0])
	}
}

// row is a row of the table, with the columns of table.py, and also what parsed has of them.
type row struct {
	ID                 string    `json:"id"`
	URL                string    `json:"url"`
	Domain             string    `json:"domain"`
	Status             int       `json:"status"`
	FetchedAt          time.Time `json:"fetched_at"`
	Depth              int       `json:"depth"`
	ContentType        string    `json:"content_type"`
	BodyBytes          int       `json:"body_bytes"`
	ContentHash        string    `json:"content_hash"`
	DetectedLanguage   string    `json:"detected_language"`
	LanguageConfidence float64   `json:"language_confidence"`
	Title              string    `json:"title"`
	Text               string    `json:"text"`
	Links              []struct {
		URL  string `json:"url"`
		Text string `json:"text"`
		Kind string `json:"kind"`
	} `json:"links"`
}

func decodeRow(t *testing.T, text []byte) (r row) {
	t.Helper()
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// table is the beginning of the commands of table.py.
func table(t *testing.T) []string {
	t.Helper()
	return []string{filepath.Join(tool(t, "connect"), "python", "bin", "python"), "connect/table.py"}
}

// inTable are the rows of the table.
func inTable(t *testing.T) (rows []row) {
	t.Helper()
	for line := range strings.Lines(do(t, table(t), "read")) {
		rows = append(rows, decodeRow(t, []byte(line)))
	}
	return rows
}

// rest waits a moment for the next commit, or ends a test that has failed or is late.
func rest(t *testing.T) {
	t.Helper()
	if t.Failed() {
		t.FailNow()
	}
	select {
	case <-time.After(time.Second):
	case <-t.Context().Done():
		t.FailNow()
	}
}

// controlTopic creates the topic in which the connector commits.
func controlTopic(t *testing.T, brokers string) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := kadm.NewClient(client).CreateTopic(t.Context(), 1, -1, nil, "weft-pages-control"); err != nil {
		t.Fatal(err)
	}
}

// startWorker starts a worker that runs the connector until the test ends.
func startWorker(t *testing.T) *child.Process {
	t.Helper()
	home, connect := t.TempDir(), tool(t, "connect")
	if err := os.Symlink(filepath.Join(connect, "plugins"), filepath.Join(home, "plugins")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"worker.properties", "iceberg.properties"} {
		text, err := os.ReadFile(filepath.Join("connect", name))
		if err != nil {
			t.Fatal(err)
		}
		anyPort := strings.Replace(string(text), "127.0.0.1:8083", "127.0.0.1:0", 1)
		if err := os.WriteFile(filepath.Join(home, name), []byte(anyPort), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	log, err := os.Create(filepath.Join(home, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx512m", "-cp", filepath.Join(connect, "runtime", "*"),
		"org.apache.kafka.connect.cli.ConnectStandalone", "worker.properties", "iceberg.properties")
	cmd.Dir, cmd.Stdout, cmd.Stderr = home, log, log
	worker, err := child.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		worker.Kill()
		if said, _ := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("the worker said:\n%s", tail(said, 4000))
		}
		log.Close()
	})
	return worker
}

func tail(text []byte, n int) []byte { return text[max(0, len(text)-n):] }
