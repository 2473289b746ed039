package main

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/weftcrawl/weft/inspect/plan"
)

func TestFitFindsTheCosts(t *testing.T) {
	want := plan.Cost{Page: 120, Link: 2.5, KiB: 11}
	loads := []plan.Load{
		{Pages: 2000, Links: 16_000, KiB: 25_000, Domains: 50},
		{Pages: 2000, Links: 17_000, KiB: 96_000, Domains: 50},
		{Pages: 2000, Links: 180_000, KiB: 95_000, Domains: 50},
		{Pages: 2000, Links: 14_000, KiB: 24_000, Domains: 200},
	}
	var samples []sample
	for _, l := range loads {
		samples = append(samples, sample{l, map[string]float64{"cpu": want.Of(l), "bytes": 12_000 * l.Pages}})
	}
	samples = append(samples, sample{plan.Load{Queued: 1000}, map[string]float64{}}) // where it is not measured
	got := fit(samples, "cpu", page, link, kib)
	if near := func(a, b float64) bool { return math.Abs(a-b) < 1e-6*b }; !near(got.Page, want.Page) || !near(got.Link, want.Link) || !near(got.KiB, want.KiB) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := fit(samples, "nothing", page, link); got != (plan.Cost{}) {
		t.Errorf("of what nothing took: %+v", got)
	}
	// Noise that makes links cost less than nothing leaves them out.
	samples[2].taken["bytes"] *= 0.9
	if got := fit(samples, "bytes", page, link); got.Link != 0 || got.Page < 0.8*12_000 {
		t.Errorf("with noise: %+v", got)
	}
}

func TestBloomBits(t *testing.T) {
	if got := bloomBits(); got < 10 || got > 40 {
		t.Errorf("%v bits a URL", got)
	}
}

func TestTLSIsMeasured(t *testing.T) {
	got, err := measureTLS()
	if err != nil {
		t.Fatal(err)
	}
	if got.Handshake < 10 || got.KiB <= 0 {
		t.Errorf("%+v", got)
	}
}

func TestProcessCPU(t *testing.T) {
	until := time.Now().Add(10 * time.Second)
	for time.Now().Before(until) {
		took, err := processCPU(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		if took >= 30*time.Millisecond {
			return
		}
	}
	t.Error("ten seconds of work took no processor time")
}

func TestDiskBytesCountsAFileOnce(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "table"), make([]byte, 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(dir, "table"), filepath.Join(dir, "linked")); err != nil {
		t.Fatal(err)
	}
	if got, err := diskBytes(dir); got != 1000 || err != nil {
		t.Errorf("%d bytes, %v", got, err)
	}
}

func TestTailIsBehindUntilAllIsRead(t *testing.T) {
	tail := &tail{next: kadm.Offsets{}}
	ends := kadm.ListedOffsets{"a": {0: {Topic: "a", Partition: 0, Offset: 2}, 1: {Topic: "a", Partition: 1, Offset: 0}}}
	for _, tt := range []struct {
		read   int64
		behind bool
	}{{0, true}, {1, true}, {2, false}, {3, false}} {
		tail.next.Add(kadm.Offset{Topic: "a", Partition: 0, At: tt.read})
		if got := tail.behind(ends); got != tt.behind {
			t.Errorf("at %d of 2: behind %v", tt.read, got)
		}
	}
}
