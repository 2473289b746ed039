package schedule

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/test/stagetest"
	"github.com/weftcrawl/weft/topics"
)

// Whatever lies in visited, and whatever targets dedupe lets through, schedule
// decides or rejects it, the same after any restart; and no report can make it
// decide what cannot be.
func FuzzSchedule(f *testing.F) {
	definition := topics.Definition{Crawl: "test", Scope: "any", MaxDepth: -1, PerDomain: 1, Partitions: 1, DelayMS: 1000, UserAgent: "weft"}
	def := Define(stage.Env{Names: topics.Loop("test"), Meter: stage.NoMeter{}, Definition: definition}, new(atomic.Bool))
	targets := stage.Encode(&weftpb.Deduped{Targets: []*weftpb.Target{{Url: "https://a.example/"}, {Url: "https://www.a.example/b", Depth: 3, Via: weftpb.Via_VIA_LINK}}})
	for _, v := range []*weftpb.Visited{
		{Visit: "0-1-0", Done: true, Outcomes: []*weftpb.Outcome{{Status: 200}}, Rules: &weftpb.OriginRules{Origin: "https://a.example"}},
		{Visit: "0-1-0", Outcomes: []*weftpb.Outcome{{Status: 503, RetryAfterMs: -1}}},
		{Referral: &weftpb.Target{Url: "https://a.example/robots.txt"}},
		{},
	} {
		f.Add("a.example", targets, stage.Encode(v), stage.Encode(&weftpb.Visited{Visit: "0-3-0", Done: true, Outcomes: []*weftpb.Outcome{{Status: 200}, {Index: 1, ErrorClass: "reset"}}}), uint32(1500))
	}
	f.Add("", []byte{}, []byte{0xff}, targets, uint32(0))
	f.Add("", []byte{}, stage.Encode(&weftpb.Visited{Referral: &weftpb.Target{Url: "https://a.example/robots.txt"}}), []byte{}, uint32(0))
	f.Fuzz(func(t *testing.T, key string, admitted, first, second []byte, gapMS uint32) {
		s := stagetest.NewFolding(t, def)
		now := time.UnixMilli(1e12)
		tick := func() {
			for _, domain := range s.Live.Due(now, 10) {
				if _, err := s.Take(domain, func(state ledger.State) ([]byte, error) { return state.Tick(domain, now, s.Next) }); err != nil {
					t.Fatalf("a tick cannot be decided: %v", err)
				}
			}
		}
		in := func(input int, value []byte) error {
			now = now.Add(time.Duration(gapMS%1e6) * time.Millisecond)
			in := ledger.InputRecord{Topic: def.Inputs[input].Topic, Key: key, Value: value}
			_, err := s.Take(key, func(state ledger.State) ([]byte, error) {
				return state.Decide(in, now, s.Next)
			})
			return err
		}
		if err := in(0, admitted); err != nil && !errors.Is(err, ledger.ErrCorrupt) {
			t.Fatalf("neither admitted nor corrupt: %v", err)
		}
		for _, value := range [][]byte{first, second, first, second} {
			tick()
			err := in(1, value)
			if rejected := (*ledger.Rejection)(nil); err != nil && !errors.As(err, &rejected) {
				t.Fatalf("neither settled nor rejected: %v", err)
			}
		}
		tick()
	})
}
