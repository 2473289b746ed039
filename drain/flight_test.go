package drain_test

import (
	"testing"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/drain"
	"github.com/weftcrawl/weft/topics"
)

func TestInFlightLeavesOutWhatIsQueued(t *testing.T) {
	queued := &weftpb.Gauges{Pending: 7, Queued: 7}
	behind := func(s topics.Stage) []drain.Lag {
		return []drain.Lag{{Stage: s, Topic: "weft.t", End: 3, Committed: 1}}
	}
	tests := []struct {
		status drain.Status
		want   string
	}{
		{drain.Status{Gauges: queued}, ""},
		{drain.Status{Gauges: &weftpb.Gauges{Pending: 7, Queued: 5, Out: 2, Visits: 1}}, "2 URLs of 1 visits are out"},
		{drain.Status{Gauges: &weftpb.Gauges{Visits: 1}}, "0 URLs of 1 visits are out"}, // a robots.txt
		{drain.Status{Gauges: queued, Moving: 1}, "1 partitions of the frontier are moving"},
		{drain.Status{Gauges: queued, Lags: behind(topics.Parse)}, "parse is 2 records behind in weft.t/0"},
		{drain.Status{Gauges: queued, Lags: behind(topics.Fetch)}, ""},
	}
	for _, tt := range tests {
		if got := tt.status.InFlight(); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.status, got, tt.want)
		}
	}
}
