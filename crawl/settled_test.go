package crawl_test

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/topics"
)

// settledOnce checks that the ledger settles each page of the web for good, once,
// and that none is asked for after that, whatever was killed.
func settledOnce(t *testing.T, w *web, o crawl.Options) {
	t.Helper()
	settled := settlements(t, w, o)
	for _, e := range w.server.Entries() {
		if at := settled[w.url(e.Domain, e.Path)]; at != 0 && e.Start/1e6 > at {
			t.Errorf("%s%s was asked for %d ms after it was settled", e.Domain, e.Path, e.Start/1e6-at)
		}
	}
}

// settlements folds the ledger: when was each URL settled for good, in
// milliseconds since 1970? No URL is settled twice, and no page never.
func settlements(t *testing.T, w *web, o crawl.Options) map[string]int64 {
	t.Helper()
	visits := map[string]*weftpb.Visit{}
	settled := map[string]int64{}
	epochs := map[int32]int64{}
	for _, r := range readTopic(t, reopened(t, o), topics.Loop(o.Definition.Crawl).Scheduled) {
		var ev weftpb.Event
		var body weftpb.Scheduled
		if err := proto.Unmarshal(r.Value, &ev); err != nil {
			t.Fatal(err)
		}
		if ev.Claim != nil {
			epochs[r.Partition] = r.Offset + 1
			continue
		}
		if ev.Epoch != epochs[r.Partition] {
			continue // of an owner that was killed
		}
		if err := proto.Unmarshal(ev.Body, &body); err != nil {
			t.Fatal(err)
		}
		for _, v := range body.Released {
			visits[v.Id] = v
		}
		for _, s := range body.Settled {
			if s.RetryMs != 0 {
				continue
			}
			url := s.Url
			if v := visits[s.Visit]; v != nil {
				if v.Robots {
					continue
				}
				url = v.Requests[s.Index].Target.Url
			}
			if settled[url] != 0 {
				t.Errorf("%s is settled twice", url)
			}
			settled[url] = body.DecidedMs
		}
	}
	for domain, path := range w.Pages() {
		if settled[w.url(domain, path)] == 0 {
			t.Errorf("%s%s was never settled", domain, path)
		}
	}
	return settled
}
