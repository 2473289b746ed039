package metrics_test

import (
	"context"
	"errors"
	"flag"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/inspect/metrics"
	"github.com/weftcrawl/weft/inspect/status"
	"github.com/weftcrawl/weft/internal/memory"
	"github.com/weftcrawl/weft/internal/politeness"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/processors/fetch/httpclient"
	"github.com/weftcrawl/weft/topics"
)

var update = flag.Bool("update", false, "rewrite testdata")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestExposition holds names, labels and help, which dashboards rely on.
func TestExposition(t *testing.T) {
	registry := prometheus.NewRegistry()
	s := metrics.New(registry)
	s.Page(1000)
	s.Page(500)
	s.Exchange("", 200, 300, 20*time.Millisecond, 30*time.Millisecond)
	s.Exchange("", 404, 0, 2*time.Millisecond, 3*time.Millisecond)
	s.Exchange("", 999, 0, 0, 3*time.Millisecond)
	s.Exchange(string(httpclient.ClassConnectTimeout), 0, 0, 0, 10*time.Second)
	s.Connected(0, 0)
	s.Connected(3*time.Millisecond, 40*time.Millisecond)
	s.Rejected(topics.Parse, "bad_record")
	s.Normalized("accepted", 38)
	s.Normalized("out_of_scope", 2)
	s.Deduped(1, 36, 3)
	s.Duplicate(0)
	s.Duplicate(2)
	s.Duplicate(3)
	s.Ledger(topics.Schedule, ledger.IncidentClaim)
	s.Slots(1)
	s.Slots(1)
	s.Slots(-1)
	s.PolitenessViolation(politeness.Early)
	s.BreakerOpened()
	s.Memory(memory.Usage{memory.Bodies: 2 << 20, memory.Garbage: 5 << 20})
	s.Status(status.Status{
		Gauges: &weftpb.Gauges{Pending: 60, Queued: 50, Out: 10, Domains: 7, DomainsOut: 3, Fetched: 100, Failed: 2, Refused: 1, Visits: 4},
		Lags: []status.Lag{
			{Stage: topics.Parse, Topic: "weft.fetched", Partition: 0, Start: 5, End: 10, Committed: 7},
			{Stage: topics.Parse, Topic: "weft.fetched", Partition: 1, Start: 5, End: 10, Committed: -1},
		},
	})

	var lines []string
	for line := range strings.Lines(get(t, serve(t, registry), "/metrics", http.StatusOK)) {
		if strings.Contains(line, "weft_") {
			lines = append(lines, line)
		}
	}
	got := strings.Join(lines, "")
	const path = "testdata/exposition.txt"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Counters are there before anything was counted.
func TestCountersBeginAtZero(t *testing.T) {
	registry := prometheus.NewRegistry()
	metrics.New(registry)
	got := get(t, serve(t, registry), "/metrics", 200)
	for _, line := range []string{
		`weft_exchanges_total{class="",status="2xx"} 0`, `weft_exchanges_total{class="connect_timeout",status="none"} 0`,
		`weft_rejected_total{reason="undecodable",stage="parse"} 0`, `weft_normalized_urls_total{reason="accepted"} 0`,
		`weft_ledger_happenings_total{kind="restart",stage="dedupe"} 0`, `weft_pages_total 0`, `weft_breakers_opened_total 0`,
	} {
		if !strings.Contains(got, line+"\n") {
			t.Errorf("%s is not in /metrics", line)
		}
	}
}

func TestMainTexts(t *testing.T) {
	registry := prometheus.NewRegistry()
	set := metrics.New(registry)
	set.MainText("")
	set.MainText("too_deep")
	set.Structured("json-ld")
	set.StructuredProblem("microdata", "cycle")
	set.Extracted("shop")
	set.FieldFailed("shop", "offers.price", "not_money")
	got := get(t, serve(t, registry), "/metrics", 200)
	for _, outcome := range []string{"found", "too_deep"} {
		if !strings.Contains(got, `weft_main_texts_total{outcome="`+outcome+`"} 1`) {
			t.Errorf("%s is not counted", outcome)
		}
	}
	for _, line := range []string{`weft_structured_pages_total{source="json-ld"} 1`, `weft_structured_problems_total{problem="cycle",source="microdata"} 1`, `weft_extracted_pages_total{rule="shop"} 1`, `weft_field_failures_total{failure="not_money",field="offers.price",rule="shop"} 1`} {
		if !strings.Contains(got, line) {
			t.Errorf("%s is not in /metrics", line)
		}
	}
}

func TestCheckpointHasATime(t *testing.T) {
	registry := prometheus.NewRegistry()
	metrics.New(registry).Ledger(topics.Dedupe, ledger.IncidentCheckpoint)
	if got := get(t, serve(t, registry), "/metrics", 200); !strings.Contains(got, `weft_ledger_checkpoint_timestamp_seconds{stage="dedupe"} 1.`) {
		t.Error("no time of the last checkpoint in /metrics")
	}
}

func TestHealth(t *testing.T) {
	url := serve(t, prometheus.NewRegistry())
	get(t, url, "/healthz", 200)
	get(t, url, "/readyz", 200)
	if got := get(t, url, "/debug/pprof/goroutine?debug=1", 200); !strings.Contains(got, "goroutine profile") {
		t.Errorf("no profile: %.60q", got)
	}
}

func TestServeReportsALostListener(t *testing.T) {
	listener := listen(t)
	listener.Close()
	if err := metrics.Serve(t.Context(), listener, prometheus.NewRegistry()); !errors.Is(err, net.ErrClosed) {
		t.Errorf("error %v, want %v", err, net.ErrClosed)
	}
}

func listen(t *testing.T) net.Listener {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

// serve serves until the test ends, and fails it if that does not end well.
func serve(t *testing.T, registry *prometheus.Registry) string {
	listener := listen(t)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- metrics.Serve(ctx, listener, registry) }()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return "http://" + listener.Addr().String()
}

func get(t *testing.T, url, path string, status int) string {
	t.Helper()
	response, err := http.Get(url + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != status {
		t.Errorf("GET %s: status %d, want %d: %s", path, response.StatusCode, status, body)
	}
	return string(body)
}
