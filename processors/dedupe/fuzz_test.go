package dedupe

import (
	"errors"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/test/stagetest"
	"github.com/weftcrawl/weft/topics"
)

// Whatever lies in normalized, dedupe decides or rejects it, the same after any
// restart; and each URL that it is given becomes a target, a parked or a merged
// one.
func FuzzDedupe(f *testing.F) {
	definition := topics.Definition{Crawl: "test", Scope: "any", MaxDepth: -1, PerDomain: 1, Partitions: 1, TrapEvidence: 1, MaxPagesPerDomain: 5}
	def := Define(stage.Env{Names: topics.Loop("test"), Meter: stage.NoMeter{}, Definition: definition})
	link := func(url string) *weftpb.Target { return &weftpb.Target{Url: url, Via: weftpb.Via_VIA_LINK, Depth: 1} }
	f.Add("a.example",
		stage.Encode(&weftpb.Normalized{Source: "https://a.example/", Targets: []*weftpb.Target{link("https://a.example/1"), link("https://a.example/1/")}}),
		stage.Encode(&weftpb.Normalized{Evidence: []*weftpb.Evidence{{Kind: weftpb.Evidence_KIND_REDIRECT, Url: "https://a.example/1", SameAs: "https://a.example/1/"}}}),
		stage.Encode(&weftpb.Normalized{Targets: []*weftpb.Target{link("https://a.example/2/"), link("https://a.example/2")}}))
	f.Add("a.example",
		stage.Encode(&weftpb.Normalized{
			Source: "https://a.example/c?page=1", Targets: []*weftpb.Target{link("https://a.example/c?page=2"), link("https://a.example/c?page=3")},
			Evidence: []*weftpb.Evidence{{Kind: weftpb.Evidence_KIND_CONTENT, Url: "https://a.example/c?page=1", SameAs: "https://a.example/c"}},
		}),
		stage.Encode(&weftpb.Normalized{Lift: &weftpb.Lift{Host: "a.example", Template: "/{word}?page"}}),
		[]byte{})
	f.Add("a.example", stage.Encode(&weftpb.Normalized{Targets: []*weftpb.Target{link("https://a.example/1")}}),
		stage.Encode(&weftpb.Normalized{Lift: &weftpb.Lift{Host: "a.examp", Template: "le/{n}"}}),
		stage.Encode(&weftpb.Normalized{Targets: []*weftpb.Target{link("https://a.example/2")}}))
	f.Add("", []byte{0xff}, []byte{}, []byte{})
	f.Fuzz(func(t *testing.T, key string, first, second, third []byte) {
		s, known := stagetest.NewFolding(t, def), map[string]bool{}
		for i, value := range [][]byte{first, second, third, second, first, third} {
			in := ledger.InputRecord{Topic: "test.normalized", Key: key, Value: value, Offset: int64(i)}
			event, err := s.Take(key, func(state ledger.State) ([]byte, error) {
				return state.Decide(in, time.Unix(1e9, 0), s.Next)
			})
			if rejected := (*ledger.Rejection)(nil); err != nil && !errors.As(err, &rejected) {
				t.Fatalf("neither decided nor rejected: %v", err)
			}
			if err != nil {
				continue
			}
			note(t, known, event)
			var n weftpb.Normalized
			if proto.Unmarshal(value, &n) != nil || n.Lift != nil {
				continue
			}
			for _, target := range n.Targets {
				if !known[target.GetUrl()] {
					t.Fatalf("%q is lost", target.GetUrl())
				}
			}
		}
	})
}

// note books the URLs that an event names.
func note(t *testing.T, known map[string]bool, event []byte) {
	var d weftpb.Deduped
	if err := proto.Unmarshal(event, &d); err != nil {
		t.Fatal(err)
	}
	for _, target := range d.Targets {
		known[target.GetUrl()] = true
	}
	for _, parked := range d.Parked {
		for _, target := range parked.Targets {
			known[target.GetUrl()] = true
		}
	}
	for _, merged := range d.Merged {
		known[merged.GetTarget().GetUrl()] = true
	}
}
