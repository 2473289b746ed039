package processors

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/normalize"
	"github.com/weftcrawl/weft/processors/normalize/scope"
	"github.com/weftcrawl/weft/processors/parse"
	"github.com/weftcrawl/weft/topics"
)

// A server that redirects to a new URL every time is followed so far and no
// further, whatever became of the target on its way through the loop.
func TestChainOfRedirectsEnds(t *testing.T) {
	parsing, normalizing := newTransforms(t)
	for _, via := range []weftpb.Via{weftpb.Via_VIA_SEED, weftpb.Via_VIA_LINK, weftpb.Via_VIA_REDIRECT} {
		target := &weftpb.Target{Url: "https://example.org/0", Via: via}
		hops := 0
		for ; hops < 1000; hops++ {
			f := &weftpb.Fetched{
				Request: &weftpb.Request{Target: target}, Outcome: &weftpb.Outcome{Status: 302},
				Location: fmt.Sprintf("https://example.org/%d", hops+1),
			}
			found := apply(t, parsing, &kgo.Record{Key: []byte("example.org"), Value: stage.Encode(f)})
			if len(found) != 1 {
				t.Fatalf("a redirect makes %d records", len(found))
			}
			named := apply(t, normalizing, found[0])
			if len(named) == 0 {
				break
			}
			var n weftpb.Normalized
			if err := proto.Unmarshal(named[0].Value, &n); err != nil {
				t.Fatal(err)
			}
			if len(n.Targets) == 0 {
				break // evidence alone
			}
			target = n.Targets[0]
		}
		if hops != scope.MaxRedirects {
			t.Errorf("%v: followed %d redirects in a row, want %d", via, hops, scope.MaxRedirects)
		}
	}
}

// newTransforms are the stages parse and normalize of a new crawl.
func newTransforms(t *testing.T) (parsing, normalizing stage.Transform) {
	t.Helper()
	env := stage.Env{Names: topics.Loop("test"), Meter: stage.NoMeter{}, Definition: topics.Definition{
		Scope: string(scope.DefaultOptions().Mode), MaxDepth: scope.DefaultOptions().MaxDepth, StripParams: urls.DefaultStrip(),
	}}
	parsing, err := parse.New(env)
	if err != nil {
		t.Fatal(err)
	}
	if normalizing, err = normalize.New(env); err != nil {
		t.Fatal(err)
	}
	return parsing, normalizing
}

// apply returns the records that a stage makes of one.
func apply(t *testing.T, stage stage.Transform, r *kgo.Record) (made []*kgo.Record) {
	t.Helper()
	out, reason := stage(r)
	if reason != "" {
		t.Fatal(reason)
	}
	for _, o := range out {
		made = append(made, &kgo.Record{Topic: o.Topic, Key: []byte(o.Key), Value: o.Value, Headers: o.Headers})
	}
	return made
}
