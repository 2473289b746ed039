package drain_test

import (
	"strings"
	"testing"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/drain"
	"github.com/weftcrawl/weft/topics"
)

func TestLeft(t *testing.T) {
	consumed := drain.Lag{Stage: topics.Parse, Topic: "weft.fetched", Start: 3, End: 10, Committed: 10}
	for name, tc := range map[string]struct {
		status drain.Status
		left   string
	}{
		"nothing was ever written": {drain.Status{Lags: []drain.Lag{{Stage: topics.Normalize, Committed: -1}}}, ""},
		"all consumed":             {drain.Status{Lags: []drain.Lag{consumed}, Gauges: &weftpb.Gauges{Fetched: 7}}, ""},
		"fetch is behind":          {drain.Status{Lags: []drain.Lag{consumed, {Stage: topics.Fetch, End: 5, Committed: 1}}}, ""},
		"all trimmed, no commit":   {drain.Status{Lags: []drain.Lag{{Stage: topics.Parse, Start: 10, End: 10, Committed: -1}}}, ""},
		"a seed":                   {drain.Status{Lags: []drain.Lag{{Stage: topics.Normalize, Topic: "weft.seeds", Partition: 2, End: 1, Committed: -1}}}, "normalize is 1 records behind in weft.seeds/2"},
		"one record":               {drain.Status{Lags: []drain.Lag{consumed, {Stage: topics.Dedupe, Topic: "weft.normalized", Start: 4, End: 9, Committed: 8}}}, "dedupe is 1 records behind in weft.normalized/0"},
		"commit beyond the end":    {drain.Status{Lags: []drain.Lag{{Stage: topics.Parse, Topic: "weft.fetched", End: 9, Committed: 10}}}, "parse is -1 records behind in weft.fetched/0"},
		"a URL is out":             {drain.Status{Lags: []drain.Lag{consumed}, Gauges: &weftpb.Gauges{Pending: 1, Out: 1}}, "1 URLs are pending"},
		"the frontier moves":       {drain.Status{Lags: []drain.Lag{consumed}, Moving: 1}, "1 partitions of the frontier are moving"},
	} {
		t.Run(name, func(t *testing.T) {
			left := tc.status.Left()
			if (tc.left == "") != (left == "") || !strings.Contains(left, tc.left) {
				t.Errorf("left: %q, want %q", left, tc.left)
			}
			if tc.status.Drained() != (tc.left == "") {
				t.Errorf("drained: %v", tc.status.Drained())
			}
		})
	}
}

func TestBehindSumsAStage(t *testing.T) {
	s := drain.Status{Lags: []drain.Lag{
		{Stage: topics.Parse, Start: 2, End: 10, Committed: -1},
		{Stage: topics.Parse, Partition: 1, Start: 2, End: 10, Committed: 9},
		{Stage: topics.Dedupe, End: 100},
	}}
	if got := s.Behind(topics.Parse); got != 9 {
		t.Errorf("parse is %d behind", got)
	}
}
