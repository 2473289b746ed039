package frontier

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// What a server may have seen is kept, whatever became of it.
func TestAttempt(t *testing.T) {
	for name, c := range map[string]struct {
		outcome *weftpb.Outcome
		want    *weftpb.Attempt
	}{
		"none":     {nil, nil},
		"not made": {&weftpb.Outcome{Skipped: true}, nil},
		"cut off": {
			&weftpb.Outcome{Skipped: true, StartedMs: 5, TotalUs: 7, ErrorClass: "lease_lost"},
			&weftpb.Attempt{StartedMs: 5, TotalUs: 7, ErrorClass: "lease_lost"},
		},
		"after a look-up": {
			&weftpb.Outcome{StartedMs: 5, TotalUs: 9e6, Status: 200, DnsUs: 2_345_678, ConnectUs: 7999},
			&weftpb.Attempt{StartedMs: 5, TotalUs: 9e6, Status: 200, DnsMs: 2345, ConnectMs: 7},
		},
		"made": {&weftpb.Outcome{StartedMs: 5, TotalUs: 7, Status: 200}, &weftpb.Attempt{StartedMs: 5, TotalUs: 7, Status: 200}},
	} {
		if got := attempt(c.outcome); (got == nil) != (c.want == nil) || !proto.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
