package frontier

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/test/memstore"
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

// A broken page is one error, however often it is tried. So 40 broken pages in front do not
// block a domain with 60 good ones, of which one answered before. All pages end, and each broken
// one has its four attempts.
func TestBrokenPagesBlockNoDomain(t *testing.T) {
	const domain, broken, good = "a.example", 40, 60
	opts := testOptions()
	opts.Delay, opts.ResponseFactor = 0, 0
	s := &scarce{tb: t, f: New(opts, &memstore.Store{}), now: epoch}
	var targets []*weftpb.Target
	for i := range broken + good {
		kind := "broken"
		if i == 0 || i > broken {
			kind = "good"
		}
		targets = append(targets, &weftpb.Target{Url: fmt.Sprintf("https://%s/%s/%d", domain, kind, i), Via: weftpb.Via_VIA_LINK, Depth: 1})
	}
	asked, out := map[string]int{}, []*weftpb.Visit(nil)
	decided := func(ev *weftpb.Scheduled, err error) {
		t.Helper()
		ev = s.apply(domain, ev, err)
		if ev.GetBlock() != nil {
			t.Fatalf("after %v the domain is blocked: %v", s.now.Sub(epoch), ev.Block)
		}
		out = append(out, ev.GetReleased()...)
	}
	decided(s.f.Admit(domain, targets, s.at()))
	for end := epoch.Add(time.Hour); s.now.Before(end); s.now = s.now.Add(time.Second) {
		for len(out) > 0 {
			v := out[0]
			out = out[1:]
			report := &weftpb.Visited{Visit: v.Id, Done: true}
			if v.Robots {
				report.Rules = &weftpb.OriginRules{Origin: "https://" + domain, Robots: &weftpb.Robots{Access: weftpb.Robots_ACCESS_ALLOW_ALL}}
			}
			for i, request := range v.Requests {
				o := &weftpb.Outcome{Index: uint32(i), Status: 200, StartedMs: s.now.UnixMilli()}
				if strings.Contains(request.Target.Url, "/broken/") {
					o.Status = 500
				}
				if !v.Check {
					asked[request.Target.Url]++
				}
				report.Outcomes = append(report.Outcomes, o)
			}
			decided(s.f.Settle(domain, report, s.at()))
		}
		for _, domain := range s.f.Due(s.at(), 1) {
			decided(s.f.Tick(domain, s.at()))
		}
	}
	for _, target := range targets {
		want := 1
		if strings.Contains(target.Url, "/broken/") {
			want = 4
		}
		if asked[target.Url] != want {
			t.Errorf("%s was asked for %d times, want %d", target.Url, asked[target.Url], want)
		}
	}
}
