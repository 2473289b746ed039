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
