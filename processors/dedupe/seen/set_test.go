package seen_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/processors/dedupe/seen"
)

// small makes slices fill and cache places collide within a few URLs.
func small() seen.Options {
	return seen.Options{FalsePositiveRate: 0.3, FirstCapacity: 4, CacheEntries: 8}
}

func targets(urls ...string) []*weftpb.Target {
	out := make([]*weftpb.Target, len(urls))
	for i, url := range urls {
		out[i] = &weftpb.Target{Url: url}
	}
	return out
}

func urlsOf(targets []*weftpb.Target) []string {
	var out []string
	for _, target := range targets {
		out = append(out, target.GetUrl())
	}
	return out
}

func TestUnseenKeepsOrderAndDropsRepeatsOfTheBatch(t *testing.T) {
	set := seen.Open(seen.DefaultOptions(), memory{})
	set.Apply(&weftpb.Deduped{Targets: targets("http://a/", "http://b/")})
	got := urlsOf(set.Unseen(targets("http://d/", "http://a/", "http://c/", "http://d/", "http://b/")))
	if want := []string{"http://d/", "http://c/"}; !slices.Equal(got, want) {
		t.Errorf("Unseen = %q, want %q", got, want)
	}
}

func TestUnseenDecidesWithoutRemembering(t *testing.T) {
	set := seen.Open(seen.DefaultOptions(), memory{})
	for range 2 {
		if got := set.Unseen(targets("http://a/")); len(got) != 1 {
			t.Fatalf("Unseen = %v: an event that was never folded was remembered", got)
		}
	}
	set.Apply(&weftpb.Deduped{Targets: targets("http://a/")})
	if got := set.Unseen(targets("http://a/")); got != nil {
		t.Errorf("Unseen = %v after the fold, want nil", got)
	}
}

func TestApplyIsIdempotent(t *testing.T) {
	store := memory{}
	set := seen.Open(small(), store)
	event := &weftpb.Deduped{Targets: targets("http://a/", "http://b/", "http://a/")}
	set.Apply(event)
	set.Apply(event)
	if set.Count() != 2 || len(store) != 2 {
		t.Errorf("count %d, stored %d, want 2 and 2", set.Count(), len(store))
	}
}

func TestOpenIgnoresOtherKeys(t *testing.T) {
	store := memory{"t/x": nil, "u/short": nil, "v": nil}
	if got := seen.Open(small(), store).Count(); got != 0 {
		t.Errorf("count %d from keys that are no fingerprints", got)
	}
}

// A filter and a cache that are wrong most of the time must not change an
// answer: the model is a plain map.
func TestExactAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		store, model := memory{}, map[string]bool{}
		set := seen.Open(small(), store)
		for range rapid.IntRange(1, 30).Draw(t, "batches") {
			batch := rapid.SliceOfN(rapid.IntRange(0, 400), 0, 40).Draw(t, "batch")
			var in, want []string
			for _, n := range batch {
				url := fmt.Sprintf("https://example.com/%d", n)
				if !model[url] && !slices.Contains(want, url) {
					want = append(want, url)
				}
				in = append(in, url)
			}
			unseen := set.Unseen(targets(in...))
			if got := urlsOf(unseen); !slices.Equal(got, want) {
				t.Fatalf("Unseen = %q, want %q", got, want)
			}
			// Events that are decided and never written must leave no trace.
			if rapid.Bool().Draw(t, "written") {
				set.Apply(&weftpb.Deduped{Targets: unseen})
				for _, url := range want {
					model[url] = true
				}
			}
			// A crash in between must not either.
			if rapid.IntRange(0, 9).Draw(t, "crash") == 0 {
				set = seen.Open(small(), store)
			}
			if set.Count() != int64(len(model)) {
				t.Fatalf("count %d, want %d", set.Count(), len(model))
			}
		}
	})
}

// Replaying the ledger into an empty store must give the store that the live
// fold gave.
func TestReplayEqualsLive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		live, replayed := memory{}, memory{}
		set := seen.Open(small(), live)
		var ledger []*weftpb.Deduped
		for range rapid.IntRange(1, 20).Draw(t, "batches") {
			urls := rapid.SliceOfN(rapid.StringMatching(`http://[ab]/[0-9]{1,2}`), 0, 20).Draw(t, "urls")
			event := &weftpb.Deduped{Targets: set.Unseen(targets(urls...))}
			set.Apply(event)
			ledger = append(ledger, event)
		}
		again := seen.Open(small(), replayed)
		for _, event := range ledger {
			again.Apply(event)
		}
		if !slices.Equal(live.keys(), replayed.keys()) || again.Count() != set.Count() {
			t.Fatalf("replay holds %d keys, live %d", len(replayed), len(live))
		}
	})
}

func TestOptionsValidate(t *testing.T) {
	if err := seen.DefaultOptions().Validate(); err != nil {
		t.Errorf("defaults: %v", err)
	}
	tests := map[string]func(*seen.Options){
		"false-positive": func(o *seen.Options) { o.FalsePositiveRate = 1 },
		"first capacity": func(o *seen.Options) { o.FirstCapacity = 0 },
		"power of two":   func(o *seen.Options) { o.CacheEntries = 3 },
	}
	for want, spoil := range tests {
		options := seen.DefaultOptions()
		spoil(&options)
		if err := options.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v does not name %q", options, err, want)
		}
	}
}

func ExampleSet() {
	set := seen.Open(seen.DefaultOptions(), memory{})
	page := []*weftpb.Target{{Url: "https://example.com/"}, {Url: "https://example.com/a"}}
	set.Apply(&weftpb.Deduped{Targets: set.Unseen(page)})

	next := []*weftpb.Target{{Url: "https://example.com/a"}, {Url: "https://example.com/b"}}
	for _, target := range set.Unseen(next) {
		fmt.Println(target.GetUrl())
	}
	// Output: https://example.com/b
}
