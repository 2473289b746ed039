package crawl_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/IBM/sarama"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/test/webserver"
	"github.com/weftcrawl/weft/topics"
)

// Consumers find the schema, the page, the crawl and the trace of a record in
// its headers.
func TestRecordsHaveHeaders(t *testing.T) {
	t.Parallel()
	w := serve(t, everything, webserver.ServerOptions{})
	o := options(t, w)
	run(t, o, crawl.EndedDrained)
	client, names := reopened(t, o), topics.Loop("weft")

	traces := map[string]string{} // by page id
	of := func(records []*sarama.ConsumerMessage, schema string, id func(value []byte) string) {
		t.Helper()
		if len(records) == 0 {
			t.Errorf("there are no records of %s", schema)
		}
		for _, r := range records {
			got := map[string]string{}
			for _, h := range r.Headers {
				got[string(h.Key)] = string(h.Value)
			}
			page := got["page-id"]
			if len(got) != 4 || len(r.Headers) != 4 || got["schema"] != schema || got["crawl"] != "weft" || page == "" || page != id(r.Value) {
				t.Errorf("%s: headers %v", schema, got)
			}
			trace := strings.Split(got["traceparent"], "-")
			if len(trace) != 4 || traces[page] != "" && traces[page] != trace[1] {
				t.Errorf("%s: page %s has the trace %s, and %v", schema, page, traces[page], trace)
				continue
			}
			traces[page] = trace[1]
		}
	}
	of(readTopic(t, client, names.Parsed), "weft.parsed/1", func(value []byte) string {
		var page codecs.Parsed
		if err := json.Unmarshal(value, &page); err != nil {
			t.Error(err)
		}
		return page.ID
	})
	// The others are trimmed; some of each are left.
	of(readTopic(t, client, names.Fetched), "weft.fetched/1", func(value []byte) string {
		var f weftpb.Fetched
		if err := proto.Unmarshal(value, &f); err != nil {
			t.Error(err)
		}
		return f.Id
	})
	of(readTopic(t, client, names.Discovered), "weft.discovered/1", func(value []byte) string {
		var d weftpb.Discovered
		if err := proto.Unmarshal(value, &d); err != nil {
			t.Error(err)
		}
		return urls.PageID(d.Source, 0)
	})
	distinct := map[string]bool{}
	for _, trace := range traces {
		distinct[trace] = true
	}
	if len(distinct) != len(traces) {
		t.Errorf("%d pages are %d traces", len(traces), len(distinct))
	}
}
