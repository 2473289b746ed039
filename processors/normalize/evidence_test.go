package normalize

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/topics"
)

// A page that names more URLs than a record holds shows the same in each.
func TestEveryRecordTellsWhatThePageShowed(t *testing.T) {
	env := stage.Env{Names: topics.Loop("weft"), Meter: stage.NoMeter{}, Definition: topics.Definition{Scope: "any", MaxDepth: -1}}
	normalize, err := New(env)
	if err != nil {
		t.Fatal(err)
	}
	const source = "https://a.example/"
	d := &weftpb.Discovered{Source: source, Via: weftpb.Via_VIA_LINK, Evidence: []*weftpb.Evidence{
		{Kind: weftpb.Evidence_KIND_CONTENT, Url: source, SameAs: "https://a.example/b"},
	}}
	for n := range 3*maxTargets - 1 {
		d.Links = append(d.Links, &weftpb.Link{Url: fmt.Sprintf("/%d", n)}, &weftpb.Link{Url: fmt.Sprintf("https://b.example/%d", n)})
	}
	out, reason := normalize(&kgo.Record{Topic: env.Names.Discovered, Value: stage.Encode(d)})
	if reason != "" {
		t.Fatal(reason)
	}
	records := map[string]int{}
	for _, o := range out {
		var n weftpb.Normalized
		if err := proto.Unmarshal(o.Value, &n); err != nil {
			t.Fatal(err)
		}
		if told := len(n.Evidence) == 1; told != (o.Domain == "a.example") {
			t.Errorf("a record of %s has the evidence %v", o.Domain, n.Evidence)
		}
		records[o.Domain]++
	}
	if records["a.example"] != 3 {
		t.Errorf("records by domain: %v", records)
	}
}
