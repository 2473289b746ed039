package seen_test

import (
	"slices"
	"testing"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/processors/dedupe/seen"
)

// Whatever happens in whatever order, a set answers as a map would, before and
// after it is opened anew; and keys of others in its store do it no harm.
//
// Of script each byte is a URL and what is done with it: it is asked for,
// together with the one before it, or folded, as one that is admitted, parked or
// merged; 255 opens the store anew.
func FuzzSet(f *testing.F) {
	f.Add([]byte{0, 1, 2, 0, 1, 255, 0, 1, 64, 128, 192, 64}, []byte("u/"), []byte("x"))
	f.Add([]byte{3, 67, 3, 255, 3}, []byte("u/0123456789abcdef!"), []byte{})
	f.Fuzz(func(t *testing.T, script, key, value []byte) {
		store := memory{}
		if len(key) != len("u/")+16 || string(key[:2]) != "u/" { // else it is one of its own
			store.Set(key, value)
		}
		set, known := seen.Open(small(), store), map[string]bool{}
		before := "http://a/"
		for _, step := range script {
			if step == 255 {
				set = seen.Open(small(), store)
				continue
			}
			url := "http://a/" + string(rune('a'+step%32))
			target := targets(url)
			switch step / 64 {
			case 0, 1:
				var want []string
				for _, u := range []string{before, url} {
					if !known[u] && !slices.Contains(want, u) {
						want = append(want, u)
					}
				}
				if got := urlsOf(set.Unseen(targets(before, url, before))); !slices.Equal(got, want) {
					t.Fatalf("%q are unseen, want %q", got, want)
				}
				before = url
				continue
			case 2:
				set.Apply(&weftpb.Deduped{Targets: target})
			case 3:
				set.Apply(&weftpb.Deduped{
					Parked: []*weftpb.Parked{{Targets: target}},
					Merged: []*weftpb.Merged{{Target: target[0]}},
				})
			}
			known[url] = true
		}
	})
}
