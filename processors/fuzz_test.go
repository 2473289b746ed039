package processors

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/processors/normalize"
	"github.com/weftcrawl/weft/processors/parse"
	"github.com/weftcrawl/weft/topics"
)

// Whatever lies in the topics that anybody can write to, a stateless stage makes
// records of its own topics of it, placed by a domain, or says why it cannot;
// and what parse makes, normalize can use.
func FuzzRecords(f *testing.F) {
	names := topics.Loop("test")
	env := stage.Env{Names: names, Meter: stage.NoMeter{}, Definition: topics.Definition{Crawl: "test", Scope: "any", MaxDepth: -1, PerDomain: 1, Partitions: 4}}
	normalize, err := normalize.New(env)
	if err != nil {
		f.Fatal(err)
	}
	parse, err := parse.New(env)
	if err != nil {
		f.Fatal(err)
	}
	stages := []struct {
		topic string
		make  stage.Transform
	}{{names.Seeds, normalize}, {names.Discovered, normalize}, {names.Fetched, parse}}
	f.Add(uint8(0), []byte("https://example.org/\nhttp://127.0.0.1/"))
	f.Add(uint8(0), []byte(`{"url":"https://example.org/","depth":3}`))
	f.Add(uint8(1), stage.Encode(&weftpb.Discovered{Source: "https://example.org/a", Base: "/b/", Charset: "latin1",
		Links:    []*weftpb.Link{{Url: "c"}, {Url: "//other.example/d?ü"}, {Url: "mailto:a@b"}},
		Evidence: []*weftpb.Evidence{{Url: "https://example.org/a", SameAs: "https://example.org/A"}}}))
	f.Add(uint8(2), stage.Encode(&weftpb.Fetched{Id: "1", Request: &weftpb.Request{Target: &weftpb.Target{Url: "https://example.org/"}},
		Outcome: &weftpb.Outcome{Status: 200}, Headers: []*weftpb.Header{{Name: "Content-Type", Value: "text/html; charset=shift_jis"}},
		Body: []byte("<title>a</title><base href=//b><a href=c>d</a><meta http-equiv=refresh content='0;url=/e'>")}))
	f.Add(uint8(2), stage.Encode(&weftpb.Fetched{Id: "1", Request: &weftpb.Request{Target: &weftpb.Target{Url: "https://example.org/"}},
		Outcome: &weftpb.Outcome{Status: 301}, Location: "http://[::1]/"}))
	f.Fuzz(func(t *testing.T, stage uint8, value []byte) {
		s := stages[int(stage)%len(stages)]
		out, reason := s.make(&kgo.Record{Topic: s.topic, Key: []byte("example.org"), Value: value})
		if reason != "" && len(out) > 0 {
			t.Fatalf("%d records of one that is refused as %s", len(out), reason)
		}
		for _, o := range out {
			if o.Domain == "" && o.Topic != names.Discovered && o.Topic != names.Parsed {
				t.Fatalf("a record of %s without a domain", o.Topic)
			}
			switch o.Topic {
			case names.Normalized:
				if err := proto.Unmarshal(o.Value, new(weftpb.Normalized)); err != nil {
					t.Fatal(err)
				}
			case names.Discovered:
				if _, reason := normalize(&kgo.Record{Topic: o.Topic, Value: o.Value}); reason != "" {
					t.Fatalf("normalize refuses what parse found: %s", reason)
				}
			case names.Parsed:
			default:
				t.Fatalf("a record of %s", o.Topic)
			}
		}
	})
}
