package parse

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/test/webserver"
	"github.com/weftcrawl/weft/topics"
)

// BenchmarkParse makes what the stage writes of one page, decoding and encoding
// included.
func BenchmarkParse(b *testing.B) {
	web, err := webserver.NewGenerated(webserver.Options{Pages: 50, Domains: 1})
	if err != nil {
		b.Fatal(err)
	}
	domain := web.Domains()[0]
	var records []*kgo.Record
	for domain, path := range web.Pages() {
		f := exchange()
		f.Request.Target.Url = webserver.Origin(domain, 80) + path
		f.Headers = []*weftpb.Header{{Name: "Content-Type", Value: "text/html; charset=utf-8"}}
		f.Body = web.Answer(domain, 80, path, nil).Body
		records = append(records, &kgo.Record{Key: []byte(domain), Value: stage.Encode(f)})
	}
	parse, err := New(stage.Env{Names: topics.Loop("bench"), Meter: stage.NoMeter{}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if out, reason := parse(records[i%len(records)]); reason != "" || len(out) < 2 {
			b.Fatalf("%d records of %s, rejected for %q", len(out), domain, reason)
		}
		i++
	}
}
