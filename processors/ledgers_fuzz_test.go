package processors

import (
	"bytes"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/frontier/memstore"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/topics"
)

// deaf is a Meter of the stages with ledgers.
type deaf struct{ silent }

func (deaf) Deduped(int, int, int)            {}
func (deaf) Tripped()                         {}
func (deaf) Outcomes(int32, map[string]int64) {}

// folding is a stage's state, live, and the ledger that it has written.
type folding[S ledger.State] struct {
	t     *testing.T
	stage ledger.Stage[S]
	store *memstore.Store
	live  S
	next  int64 // offset of the next event
}

func newFolding[S ledger.State](t *testing.T, stage ledger.Stage[S]) *folding[S] {
	f := &folding[S]{t: t, stage: stage, store: &memstore.Store{}, next: 1}
	f.live = f.open(f.store)
	return f
}

func (f *folding[S]) open(store ledger.Store) S {
	state, err := f.stage.Open(0, store)
	if err != nil {
		f.t.Fatal(err)
	}
	return state
}

// take decides an input and folds the decision. What was decided has to be the
// same after a restart, and to leave the same behind: what a state remembers
// beside its store is not part of it.
func (f *folding[S]) take(key string, decide func(S) ([]byte, error)) (event []byte, err error) {
	again := f.store.Clone()
	restarted := f.open(again)
	event, err = decide(f.live)
	same, sameErr := decide(restarted)
	if !bytes.Equal(event, same) || (err == nil) != (sameErr == nil) {
		f.t.Fatalf("decided\n%x, %v\nand after a restart\n%x, %v", event, err, same, sameErr)
	}
	if err != nil || event == nil {
		return event, err
	}
	if err := f.live.Apply(key, event, f.next); err != nil {
		f.t.Fatalf("what was decided cannot be folded: %v", err)
	}
	if err := restarted.Apply(key, event, f.next); err != nil {
		f.t.Fatal(err)
	}
	if at, equal := f.store.Equal(again); !equal {
		f.t.Fatalf("folded after a restart, %q differs", at)
	}
	f.next++
	return event, nil
}

// Whatever lies in normalized, dedupe decides or rejects it, the same after any
// restart; and each URL that it is given becomes a target, a parked or a merged
// one.
func FuzzDedupe(f *testing.F) {
	definition := topics.Definition{Crawl: "test", Scope: "any", MaxDepth: -1, PerDomain: 1, Partitions: 1, TrapEvidence: 1, MaxPagesPerDomain: 5}
	stage := dedupeStage(Env{Names: topics.Loop("test"), Meter: deaf{}, Definition: definition})
	link := func(url string) *weftpb.Target { return &weftpb.Target{Url: url, Via: weftpb.Via_VIA_LINK, Depth: 1} }
	f.Add("a.example",
		encode(&weftpb.Normalized{Source: "https://a.example/", Targets: []*weftpb.Target{link("https://a.example/1"), link("https://a.example/1/")}}),
		encode(&weftpb.Normalized{Evidence: []*weftpb.Evidence{{Kind: weftpb.Evidence_KIND_REDIRECT, Url: "https://a.example/1", SameAs: "https://a.example/1/"}}}),
		encode(&weftpb.Normalized{Targets: []*weftpb.Target{link("https://a.example/2/"), link("https://a.example/2")}}))
	f.Add("a.example",
		encode(&weftpb.Normalized{
			Source: "https://a.example/c?page=1", Targets: []*weftpb.Target{link("https://a.example/c?page=2"), link("https://a.example/c?page=3")},
			Evidence: []*weftpb.Evidence{{Kind: weftpb.Evidence_KIND_CONTENT, Url: "https://a.example/c?page=1", SameAs: "https://a.example/c"}},
		}),
		encode(&weftpb.Normalized{Lift: &weftpb.Lift{Host: "a.example", Template: "/{word}?page"}}),
		[]byte{})
	f.Add("a.example", encode(&weftpb.Normalized{Targets: []*weftpb.Target{link("https://a.example/1")}}),
		encode(&weftpb.Normalized{Lift: &weftpb.Lift{Host: "a.examp", Template: "le/{n}"}}),
		encode(&weftpb.Normalized{Targets: []*weftpb.Target{link("https://a.example/2")}}))
	f.Add("", []byte{0xff}, []byte{}, []byte{})
	f.Fuzz(func(t *testing.T, key string, first, second, third []byte) {
		s, known := newFolding(t, stage), map[string]bool{}
		decide := stage.Inputs[0].Decide
		for i, value := range [][]byte{first, second, third, second, first, third} {
			in := ledger.Record{Topic: "test.normalized", Key: key, Value: value, Offset: int64(i)}
			event, err := s.take(key, func(state *seen) ([]byte, error) { return decide(state, in, time.Unix(1e9, 0), s.next) })
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

// Whatever lies in visited, and whatever targets dedupe lets through, schedule
// decides or rejects it, the same after any restart; and no report can make it
// decide what cannot be.
func FuzzSchedule(f *testing.F) {
	definition := topics.Definition{Crawl: "test", Scope: "any", MaxDepth: -1, PerDomain: 1, Partitions: 1, DelayMS: 1000, UserAgent: "weft"}
	stage := scheduleStage(Env{Names: topics.Loop("test"), Meter: deaf{}, Definition: definition}, new(atomic.Bool))
	targets := encode(&weftpb.Deduped{Targets: []*weftpb.Target{{Url: "https://a.example/"}, {Url: "https://www.a.example/b", Depth: 3, Via: weftpb.Via_VIA_LINK}}})
	for _, v := range []*weftpb.Visited{
		{Visit: "0-1-0", Done: true, Outcomes: []*weftpb.Outcome{{Status: 200}}, Rules: &weftpb.OriginRules{Origin: "https://a.example"}},
		{Visit: "0-1-0", Outcomes: []*weftpb.Outcome{{Status: 503, RetryAfterMs: -1}}},
		{Referral: &weftpb.Target{Url: "https://a.example/robots.txt"}},
		{},
	} {
		f.Add("a.example", targets, encode(v), encode(&weftpb.Visited{Visit: "0-3-0", Done: true, Outcomes: []*weftpb.Outcome{{Status: 200}, {Index: 1, ErrorClass: "reset"}}}), uint32(1500))
	}
	f.Add("", []byte{}, []byte{0xff}, targets, uint32(0))
	f.Add("", []byte{}, encode(&weftpb.Visited{Referral: &weftpb.Target{Url: "https://a.example/robots.txt"}}), []byte{}, uint32(0))
	f.Fuzz(func(t *testing.T, key string, admitted, first, second []byte, gapMS uint32) {
		s := newFolding(t, stage)
		now := time.UnixMilli(1e12)
		tick := func() {
			for _, domain := range s.live.Due(now, 10) {
				if _, err := s.take(domain, func(state *queues) ([]byte, error) { return stage.Tick(state, domain, now, s.next) }); err != nil {
					t.Fatalf("a tick cannot be decided: %v", err)
				}
			}
		}
		in := func(input int, value []byte) error {
			now = now.Add(time.Duration(gapMS%1e6) * time.Millisecond)
			in := ledger.Record{Key: key, Value: value}
			_, err := s.take(key, func(state *queues) ([]byte, error) {
				return stage.Inputs[input].Decide(state, in, now, s.next)
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
