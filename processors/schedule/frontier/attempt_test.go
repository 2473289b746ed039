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
	b := crawlBehindBroken(t, 500, time.Hour)
	for url, asked := range b.asked {
		want := 1
		if strings.Contains(url, "/broken/") {
			want = 4
		}
		if asked != want {
			t.Errorf("%s was asked for %d times, want %d", url, asked, want)
		}
	}
	if len(b.asked) != 100 {
		t.Errorf("%d pages were asked for, want 100", len(b.asked))
	}
}

// A page that answers 503 makes its host wait each time, and is tried many times. Its retries let
// the pages behind it pass. So 40 such pages in front do not hold back 60 good ones for hours.
func TestRetriesLetOthersPass(t *testing.T) {
	if b := crawlBehindBroken(t, 503, 30*time.Minute); b.good != 60 {
		t.Errorf("%d good pages were fetched within half an hour, want 60", b.good)
	}
}

// behindBroken is what a fetcher saw of one domain.
type behindBroken struct {
	asked map[string]int // by URL, without checks
	good  int            // pages fetched
}

// crawlBehindBroken crawls one domain for some time: a good page, then 40 pages that answer with a
// status, then 59 good ones.
func crawlBehindBroken(t *testing.T, status uint32, lasts time.Duration) *behindBroken {
	t.Helper()
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
	b, out := &behindBroken{asked: map[string]int{}}, []*weftpb.Visit(nil)
	decided := func(ev *weftpb.Scheduled, err error) {
		t.Helper()
		ev = s.apply(domain, ev, err)
		if ev.GetBlock() != nil {
			t.Fatalf("after %v the domain is blocked: %v", s.now.Sub(epoch), ev.Block)
		}
		out = append(out, ev.GetReleased()...)
	}
	decided(s.f.Admit(domain, targets, s.at()))
	for end := epoch.Add(lasts); s.now.Before(end); s.now = s.now.Add(time.Second) {
		for len(out) > 0 {
			v := out[0]
			out = out[1:]
			report := &weftpb.Visited{Visit: v.Id, Done: true}
			if v.Robots {
				report.Rules = &weftpb.OriginRules{Origin: "https://" + domain, Robots: &weftpb.Robots{Access: weftpb.Robots_ACCESS_ALLOW_ALL}}
			}
			failed := 0 // in a row: after two, fetch leaves the other pages of the visit for later
			for i, request := range v.Requests {
				o := &weftpb.Outcome{Index: uint32(i), Status: 200, StartedMs: s.now.UnixMilli()}
				if strings.Contains(request.Target.Url, "/broken/") {
					o.Status = status
				}
				switch {
				case v.Check, v.Robots:
				case failed == 2:
					o = &weftpb.Outcome{Index: uint32(i), Skipped: true}
				case o.Status == 200:
					failed = 0
					b.good++
					b.asked[request.Target.Url]++
				default:
					failed++
					b.asked[request.Target.Url]++
				}
				report.Outcomes = append(report.Outcomes, o)
			}
			decided(s.f.Settle(domain, report, s.at()))
		}
		for _, domain := range s.f.Due(s.at(), 1) {
			decided(s.f.Tick(domain, s.at()))
		}
	}
	return b
}
