package seen_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
	"github.com/weftcrawl/weft/processors/dedupe/seen"
)

// BenchmarkFilter prints, for a crawl of n URLs, the filter's bits per URL and
// its measured false-positive rate. Bits are dear after a slice has been added
// and cheap when it is full, as all five are at the last size.
func BenchmarkFilter(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000, 31 << 16} {
		b.Run(fmt.Sprintf("urls=%d", n), func(b *testing.B) {
			store := &counted{Store: memory{}}
			set := filled(seen.Open(seen.DefaultOptions(), store), n)
			store.reads = 0
			batch := targets("")
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				batch[0].Url = fmt.Sprintf("https://unknown.example/%d", i)
				set.Unseen(batch)
			}
			b.ReportMetric(float64(set.FilterBits())/float64(set.Count()), "bits/URL")
			b.ReportMetric(100*float64(store.reads)/float64(b.N), "%false-positive")
		})
	}
}

// counted counts the reads of a store. A set reads what its filter cannot tell.
type counted struct {
	kv.Store
	reads int
}

func (c *counted) Get(key []byte) []byte {
	c.reads++
	return c.Store.Get(key)
}

// BenchmarkSet decides and folds pages of 40 links with one new link, as on the web; the repeats
// fall on few URLs more often than on many.
func BenchmarkSet(b *testing.B) {
	stores := map[string]func() kv.Store{
		"memory": func() kv.Store { return memory{} },
		"pebble": func() kv.Store { return openDisk(b) },
	}
	for _, name := range []string{"memory", "pebble"} {
		for _, n := range []int{100_000, 1_000_000} {
			b.Run(fmt.Sprintf("%s/urls=%d", name, n), func(b *testing.B) {
				set := filled(seen.Open(seen.DefaultOptions(), stores[name]()), n)
				random := rand.New(rand.NewPCG(1, 2))
				popular := rand.NewZipf(random, 1.1, 10, uint64(n-1))
				const links = 40
				page := make([]*weftpb.Target, links)
				pages := make([][]string, 1024)
				for i := range pages {
					for range links {
						pages[i] = append(pages[i], urlNumber(int(popular.Uint64())))
					}
				}
				for i := range page {
					page[i] = &weftpb.Target{}
				}
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					for j, url := range pages[i%len(pages)] {
						page[j].Url = url
					}
					page[0].Url = urlNumber(n + i)
					set.Apply(&weftpb.Deduped{Targets: set.Unseen(page)})
				}
				b.ReportMetric(float64(b.N*links)/b.Elapsed().Seconds(), "URLs/s")
			})
		}
	}
}

// BenchmarkOpen rebuilds the filter from the exact set on Pebble.
func BenchmarkOpen(b *testing.B) {
	const n = 1_000_000
	store := openDisk(b)
	filled(seen.Open(seen.DefaultOptions(), store), n)
	for b.Loop() {
		if got := seen.Open(seen.DefaultOptions(), store).Count(); got != n {
			b.Fatalf("count %d, want %d", got, n)
		}
	}
	b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "URLs/s")
}

func filled(set *seen.Set, n int) *seen.Set {
	event := &weftpb.Deduped{Targets: targets("")}
	for i := range n {
		event.Targets[0].Url = urlNumber(i)
		set.Apply(event)
	}
	return set
}

func urlNumber(n int) string {
	return fmt.Sprintf("https://host%d.example/docs/section/%d/page.html", n%97, n)
}
