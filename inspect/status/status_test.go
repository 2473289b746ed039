package status_test

import (
	"strings"
	"testing"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/inspect/status"
	"github.com/weftcrawl/weft/topics"
)

func TestLeft(t *testing.T) {
	consumed := status.Lag{Stage: topics.Parse, Topic: "weft.fetched", Start: 3, End: 10, Committed: 10}
	for name, tc := range map[string]struct {
		status status.Status
		left   string
	}{
		"nothing was ever written": {status.Status{Lags: []status.Lag{{Stage: topics.Normalize, Committed: -1}}}, ""},
		"all consumed":             {status.Status{Lags: []status.Lag{consumed}, Gauges: &weftpb.Gauges{Fetched: 7}}, ""},
		"fetch is behind":          {status.Status{Lags: []status.Lag{consumed, {Stage: topics.Fetch, End: 5, Committed: 1}}}, ""},
		"all trimmed, no commit":   {status.Status{Lags: []status.Lag{{Stage: topics.Parse, Start: 10, End: 10, Committed: -1}}}, ""},
		"a seed":                   {status.Status{Lags: []status.Lag{{Stage: topics.Normalize, Topic: "weft.seeds", Partition: 2, End: 1, Committed: -1}}}, "normalize is 1 records behind in weft.seeds/2"},
		"one record":               {status.Status{Lags: []status.Lag{consumed, {Stage: topics.Dedupe, Topic: "weft.normalized", Start: 4, End: 9, Committed: 8}}}, "dedupe is 1 records behind in weft.normalized/0"},
		"commit beyond the end":    {status.Status{Lags: []status.Lag{{Stage: topics.Parse, Topic: "weft.fetched", End: 9, Committed: 10}}}, "parse has consumed weft.fetched/0 up to offset 10, and the log ends at 9: "},
		"a URL is out":             {status.Status{Lags: []status.Lag{consumed}, Gauges: &weftpb.Gauges{Pending: 1, Out: 1}}, "1 URLs are pending"},
		"the frontier moves":       {status.Status{Lags: []status.Lag{consumed}, Moving: 1}, "1 partitions of the frontier are moving"},
	} {
		t.Run(name, func(t *testing.T) {
			left := tc.status.Left()
			if (tc.left == "") != (left == "") || !strings.Contains(left, tc.left) {
				t.Errorf("left: %q, want %q", left, tc.left)
			}
			if lost := tc.status.Lost(); (lost != "") != strings.Contains(left, "has consumed") {
				t.Errorf("lost: %q", lost)
			}
			if tc.status.Drained() != (tc.left == "") {
				t.Errorf("drained: %v", tc.status.Drained())
			}
		})
	}
}

func TestBehindSumsAStage(t *testing.T) {
	s := status.Status{Lags: []status.Lag{
		{Stage: topics.Parse, Start: 2, End: 10, Committed: -1},
		{Stage: topics.Parse, Partition: 1, Start: 2, End: 10, Committed: 9},
		{Stage: topics.Parse, Partition: 2, Start: 2, End: 10, Committed: 164},
		{Stage: topics.Dedupe, End: 100},
	}}
	if got := s.Behind(topics.Parse); got != 9 {
		t.Errorf("parse is %d behind", got)
	}
}

func TestInFlightLeavesOutWhatIsQueued(t *testing.T) {
	queued := &weftpb.Gauges{Pending: 7, Queued: 7}
	behind := func(s topics.Stage) []status.Lag {
		return []status.Lag{{Stage: s, Topic: "weft.t", End: 3, Committed: 1}}
	}
	tests := []struct {
		status status.Status
		want   string
	}{
		{status.Status{Gauges: queued}, ""},
		{status.Status{Gauges: &weftpb.Gauges{Pending: 7, Queued: 5, Out: 2, Visits: 1}}, "2 URLs of 1 visits are out"},
		{status.Status{Gauges: &weftpb.Gauges{Visits: 1}}, "0 URLs of 1 visits are out"}, // a robots.txt
		{status.Status{Gauges: queued, Moving: 1}, "1 partitions of the frontier are moving"},
		{status.Status{Gauges: queued, Lags: behind(topics.Parse)}, "parse is 2 records behind in weft.t/0"},
		{status.Status{Gauges: queued, Lags: behind(topics.Fetch)}, ""},
	}
	for _, tt := range tests {
		if got := tt.status.InFlight(); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.status, got, tt.want)
		}
	}
}
