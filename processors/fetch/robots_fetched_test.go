package fetch

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/processors/fetch/hostqueue"
	"github.com/weftcrawl/weft/processors/fetch/httpclient"
	"github.com/weftcrawl/weft/processors/parse"
	"github.com/weftcrawl/weft/test/stagetest"
)

// redirecting answers a request for a robots.txt by way of another URL of its domain.
type redirecting struct{ known }

func (redirecting) Robots(context.Context, httpclient.Request, httpclient.Hop) []*httpclient.Exchange {
	now := time.Now()
	return []*httpclient.Exchange{
		{URL: "http://x.example/robots.txt", Status: 301, Location: "http://www.x.example/r", ResponseHead: []byte("HTTP/1.1 301 x\r\n\r\n"), Started: now},
		{URL: "http://www.x.example/r", Status: 200, Body: []byte("User-agent: *\nDisallow: /a\n"), Started: now},
	}
}

// Each exchange for a robots.txt is in fetched before its outcome is reported. parse, and a fetcher
// that takes the partition over, do not mistake it for the exchange of a page.
func TestRobotsExchangesAreFetched(t *testing.T) {
	h := takeOver(t)
	h.with(redirecting{}, func(env *stage.Env) { env.Meter = &stagetest.Counter{} })
	h.requester.Request(t.Context(), &hostqueue.Visit{Domain: "x.example", Visit: &weftpb.Visit{
		Id: "a", Robots: true, Requests: []*weftpb.Request{{Target: &weftpb.Target{Url: "http://x.example/robots.txt"}}},
	}}, 0)
	if err := h.fetched.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.reporter.flush(func(int32) bool { return true })
	reported := h.reportedNow()
	if len(reported) != 1 || len(reported[0].Outcomes) != 1 || reported[0].Rules.GetRobots().GetRules() != "-/a\n" {
		t.Errorf("reported %v", reported)
	}

	parse, err := parse.New(h.env)
	if err != nil {
		t.Fatal(err)
	}
	search := h.visits.Search()
	search.open = map[string]bool{"a": true, "": false}
	var urls []string
	h.from(h.env.Names.Fetched, 0, func(r *kgo.Record) error {
		var f weftpb.Fetched
		if err := proto.Unmarshal(r.Value, &f); err != nil {
			return err
		}
		urls = append(urls, f.Robots.GetRequest().GetTarget().GetUrl())
		if f.Visit != "" || f.Request != nil || f.Outcome != nil || f.Robots.Visit != "" || len(r.Headers) == 0 {
			t.Errorf("record %v with the headers %v", &f, r.Headers)
		}
		if out, reason := parse(r); len(out) > 0 || reason != "" {
			t.Errorf("parse makes %v of it, %q", out, reason)
		}
		search.Look(r.Value)
		return nil
	})
	if len(urls) != 2 || urls[0] != "http://x.example/robots.txt" || urls[1] != "http://www.x.example/r" {
		t.Errorf("fetched has %q", urls)
	}
	if len(search.Done) > 0 {
		t.Errorf("a takeover finds %v", search.Done)
	}
}
