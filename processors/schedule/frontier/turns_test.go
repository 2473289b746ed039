package frontier

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/test/memstore"
)

// TestSickHostsTakeEveryOtherTurn checks that a host that answers has every other visit of its
// domain, however many hosts of the domain fail.
func TestSickHostsTakeEveryOtherTurn(t *testing.T) {
	const domain, hosts, pages = "a.example", 200, 60
	opts := testOptions()
	opts.ResponseFactor = 0
	f := New(opts, &memstore.Store{})
	now, offset := epoch, int64(0)
	var out []*weftpb.Visit
	apply := func(ev *weftpb.Scheduled, err error) {
		if err == nil && ev != nil {
			err = f.Apply(domain, ev, offset)
			offset++
			out = append(out, ev.Released...)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	at := func() Moment { return Moment{Now: now, Offset: offset} }
	var urls []string
	for i := range hosts {
		urls = append(urls, fmt.Sprintf("https://sick%d.a.example/", i))
	}
	for i := range pages {
		urls = append(urls, fmt.Sprintf("https://well.a.example/%d", i))
	}
	apply(f.Admit(domain, targets(urls), at()))
	requests, fetched := 0, 0
	for ; fetched < pages && requests < 20*hosts; now = now.Add(time.Second) {
		for len(out) > 0 && fetched < pages {
			v := out[0]
			out = out[1:]
			report := &weftpb.Visited{Visit: v.Id, Done: true}
			for i, q := range v.Requests {
				requests++
				o := &weftpb.Outcome{Index: uint32(i), Status: 200}
				if strings.Contains(q.Target.Url, "sick") {
					o = &weftpb.Outcome{Index: uint32(i), ErrorClass: "reset"}
				} else if !v.Robots {
					fetched++
				}
				report.Outcomes = append(report.Outcomes, o)
			}
			if v.Robots {
				report.Rules = &weftpb.OriginRules{Robots: &weftpb.Robots{Access: weftpb.Robots_ACCESS_ALLOW_ALL}}
				if strings.Contains(v.Requests[0].Target.Url, "sick") {
					report.Rules.Robots.Access = weftpb.Robots_ACCESS_DISALLOW_ALL
				}
			}
			now = now.Add(time.Second)
			apply(f.Settle(domain, report, at()))
		}
		for _, due := range f.Due(at(), 10) {
			apply(f.Tick(due, at()))
		}
	}
	// Each host is asked for its robots.txt once, and some of them again meanwhile.
	if fetched < pages || requests > 2*hosts+2*pages {
		t.Errorf("%d of %d pages of the host that answers were fetched by %d requests", fetched, pages, requests)
	}
}

// TestHostsThatAnswerGoOnBesideHangs checks that a domain with as many requests that hang as may
// does not risk one more: the host that answers is served, and no request that hangs is over.
func TestHostsThatAnswerGoOnBesideHangs(t *testing.T) {
	const domain, hosts, pages = "a.example", 2 * maxHanging, 1000
	opts := testOptions()
	opts.Delay, opts.ResponseFactor = 0, 0
	s := &scarce{tb: t, f: New(opts, &memstore.Store{}), now: epoch}
	var out []*weftpb.Visit
	decided := func(ev *weftpb.Scheduled, err error) { out = append(out, s.apply(domain, ev, err).GetReleased()...) }
	urls := []string{"https://well.a.example/"}
	for i := range hosts {
		urls = append(urls, fmt.Sprintf("https://sick%d.a.example/", i))
	}
	for i := range pages - 1 {
		urls = append(urls, fmt.Sprintf("https://well.a.example/%d", i))
	}
	decided(s.f.Admit(domain, targets(urls), s.at()))
	fetched, hang := 0, 0
	for end := epoch.Add(10 * time.Minute); s.now.Before(end); s.now = s.now.Add(time.Second) {
		for len(out) > 0 {
			v := out[0]
			out = out[1:]
			report := &weftpb.Visited{Visit: v.Id, Done: true}
			if strings.Contains(v.Requests[0].Target.Url, "sick") {
				if hang++; hang > maxHanging {
					continue // the domain waits for it
				}
				report.Done, report.Hangs = false, true
			} else {
				for i := range v.Requests {
					report.Outcomes = append(report.Outcomes, &weftpb.Outcome{Index: uint32(i), Status: 200})
				}
				if v.Robots {
					report.Rules = &weftpb.OriginRules{Robots: &weftpb.Robots{Access: weftpb.Robots_ACCESS_ALLOW_ALL}}
				} else {
					fetched += len(v.Requests)
				}
			}
			decided(s.f.Settle(domain, report, s.at()))
		}
		for _, due := range s.f.Due(s.at(), 1) {
			decided(s.f.Tick(due, s.at()))
		}
	}
	if fetched != pages || hang <= maxHanging {
		t.Errorf("%d of %d pages were fetched, and %d requests were made that hang", fetched, pages, hang)
	}
}
