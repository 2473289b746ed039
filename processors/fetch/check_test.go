package fetch

import (
	"bytes"
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/processors/fetch/addresses"
	"github.com/weftcrawl/weft/processors/fetch/hostqueue"
	"github.com/weftcrawl/weft/processors/fetch/httpclient"
	"github.com/weftcrawl/weft/processors/parse"
	"github.com/weftcrawl/weft/test/stagetest"
)

// fixed makes the same exchange again and again.
type fixed struct {
	known
	x httpclient.Exchange
}

func (f fixed) Do(_ context.Context, r httpclient.Request) *httpclient.Exchange {
	x := f.x
	x.URL, x.Started = r.URL, time.Now()
	return &x
}

// A check reports what its host answered. Its exchange is in fetched for archives, and makes no
// page, no link and no redirect. A takeover does not take it for the exchange of a page.
func TestChecksMakeNoPage(t *testing.T) {
	html := []httpclient.Header{{Name: "Content-Type", Value: "text/html"}}
	for name, c := range map[string]struct {
		x       httpclient.Exchange
		records int
		body    int // bytes in the record
		failed  bool
	}{
		"a page":       {x: httpclient.Exchange{Status: 200, Headers: html, Body: []byte(`<a href="/b">b</a>`)}, records: 1, body: 18},
		"a redirect":   {x: httpclient.Exchange{Status: 301, Location: "http://x.example/elsewhere"}, records: 1},
		"a large page": {x: httpclient.Exchange{Status: 200, Headers: html, Body: bytes.Repeat([]byte("x"), 2000)}, records: 1},
		"an error":     {x: httpclient.Exchange{Status: 503}, records: 1, failed: true},
		"no answer":    {x: httpclient.Exchange{Class: httpclient.ClassConnectTimeout}, failed: true},
	} {
		t.Run(name, func(t *testing.T) {
			h := takeOver(t)
			h.with(fixed{x: c.x}, func(env *stage.Env) {
				env.Meter = &stagetest.Counter{Reasons: map[string]int{}}
				env.Definition.BodyThreshold = 1000
			})
			v := &hostqueue.Visit{Domain: "x.example", Visit: &weftpb.Visit{
				Id: "a", Check: true, Requests: []*weftpb.Request{{Target: &weftpb.Target{Url: "http://x.example/a"}}},
			}}
			if answer := h.requester.Request(t.Context(), v, 0); answer.Failed != c.failed || answer.Stop {
				t.Errorf("answer %+v", answer)
			}
			if err := h.fetched.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			h.requester.Finish(t.Context(), v, 1)
			reported := h.reportedNow()
			if len(reported) != 1 || !reported[0].Done || len(reported[0].Outcomes) != 1 || reported[0].Rules != nil {
				t.Fatalf("reported %v", reported)
			}
			if o := reported[0].Outcomes[0]; o.Skipped || int(o.Status) != c.x.Status || o.ErrorClass != string(c.x.Class) || o.StartedMs == 0 {
				t.Errorf("outcome %v", o)
			}
			h.holdsNoPage(c.records, c.body)
		})
	}
}

// holdsNoPage checks that fetched has so many records, with bodies of so many bytes, and that
// nothing is made of them.
func (h takenOver) holdsNoPage(records, body int) {
	h.t.Helper()
	parse, err := parse.New(h.env)
	if err != nil {
		h.t.Fatal(err)
	}
	search := h.visits.Search()
	search.open = map[string]bool{"a": true, "": false}
	h.from(h.env.Names.Fetched, 0, func(r *kgo.Record) error {
		var f weftpb.Fetched
		if err := proto.Unmarshal(r.Value, &f); err != nil {
			return err
		}
		records--
		x := f.Robots
		if f.Visit != "" || f.Request != nil || f.Outcome != nil || x.GetVisit() != "" || x.GetRequest().GetTarget().GetUrl() != "http://x.example/a" {
			h.t.Errorf("record %v", &f)
		}
		if len(x.GetBody()) != body || x.GetStored() != nil {
			h.t.Errorf("a body of %d bytes, stored as %v", len(x.GetBody()), x.GetStored())
		}
		if out, reason := parse(r); len(out) > 0 || reason != "" {
			h.t.Errorf("parse makes %v of it, %q", out, reason)
		}
		search.Look(r.Value)
		return nil
	})
	if records != 0 || len(search.Done) > 0 {
		h.t.Errorf("%d records are missing; a takeover finds %v", records, search.Done)
	}
}

// at is an exchanger whose hosts have one address.
type at struct {
	fixed
	address netip.Addr
}

func (a at) LookUp(context.Context, string) (netip.Addr, *httpclient.Exchange) { return a.address, nil }

// The outcome of a request tells the address whose budget it took, if the address has a budget. The
// outcome of the next request does not.
func TestOutcomesTellAddresses(t *testing.T) {
	for address, want := range map[string]string{"192.0.2.7": "192.0.2.7", "::ffff:192.0.2.7": "192.0.2.7", "2001:db8::7": "2001:db8::7", "10.0.0.7": ""} {
		t.Run(address, func(t *testing.T) {
			h := takeOver(t)
			h.requester.addresses = addresses.New(addresses.DefaultOptions(), func() (int, int) { return 1, 1 })
			h.with(at{fixed{x: httpclient.Exchange{Class: httpclient.ClassConnectTimeout}}, netip.MustParseAddr(address)}, func(env *stage.Env) {
				env.Meter = &stagetest.Counter{Reasons: map[string]int{}}
			})
			v := &hostqueue.Visit{Domain: "x.example", Visit: &weftpb.Visit{
				Id: "a", Check: true, Requests: []*weftpb.Request{{Target: &weftpb.Target{Url: "http://x.example/a"}}},
			}}
			h.requester.LookUp(t.Context(), v, 0)
			leave, crowded := h.requester.Enter(t.Context(), v, 0)
			if leave == nil || crowded {
				t.Fatal("the first request has to wait")
			}
			h.requester.Request(t.Context(), v, 0)
			leave()
			h.requester.Finish(t.Context(), v, 1)
			reported := h.reportedNow()
			if len(reported) != 1 || len(reported[0].Outcomes) != 1 {
				t.Fatalf("reported %v", reported)
			}
			if got, _ := netip.AddrFromSlice(reported[0].Outcomes[0].Address); want == "" && got.IsValid() || want != "" && got != netip.MustParseAddr(want) {
				t.Errorf("the outcome tells %v", got)
			}
			if v.Charged.IsValid() {
				t.Error("the address of the next request is known")
			}
		})
	}
}
