package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/inspect/progress"
)

// The summary begins on a line of its own, and is written once: with --serve the crawl ends before
// its process does.
func TestSummaryIsBehindTheLiveLine(t *testing.T) {
	var out bytes.Buffer
	w := &watcher{display: progress.NewDisplay(&out, true, nil), out: &out, begun: time.Now()}
	w.watch(progress.Snapshot{Pages: 7})
	live := out.String()
	for range 2 {
		if err := w.summarize(crawl.Result{Ended: crawl.EndedDrained, Pages: 7}); err != nil {
			t.Fatal(err)
		}
	}
	if got := out.String(); !strings.HasPrefix(got, live+"\ndrained") || strings.Count(got, "drained") != 1 {
		t.Errorf("on the terminal is %q", got)
	}
}
