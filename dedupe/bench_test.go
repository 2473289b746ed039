package dedupe_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/dedupe"
	"github.com/weftcrawl/weft/state"
)

// BenchmarkFilter prints, for a crawl of n URLs, the filter's bits per URL and
// its measured false-positive rate. Bits are dear after a slice has been added
// and cheap when it is full, as all five are at the last size.
func BenchmarkFilter(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000, 31 << 16} {
		b.Run(fmt.Sprintf("urls=%d", n), func(b *testing.B) {
			set := filled(dedupe.Open(dedupe.DefaultOptions(), memory{}), n)
			before := set.Stats()
			batch := targets("")
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				batch[0].Url = fmt.Sprintf("https://unknown.example/%d", i)
				set.Unseen(batch)
			}
			after := set.Stats()
			after.Looks.Filter -= before.Looks.Filter
			after.Looks.FalsePositive -= before.Looks.FalsePositive
			b.ReportMetric(after.BitsPerURL(), "bits/URL")
			b.ReportMetric(100*after.FalsePositiveRate(), "%false-positive")
			b.ReportMetric(float64(after.Slices), "slices")
		})
	}
}

// BenchmarkSet decides and folds pages of 40 links of which one is new, as on
// the web; the repeats fall on few URLs more often than on many.
func BenchmarkSet(b *testing.B) {
	stores := map[string]func() state.Store{
		"memory": func() state.Store { return memory{} },
		"pebble": func() state.Store { return openDisk(b) },
	}
	for _, name := range []string{"memory", "pebble"} {
		for _, n := range []int{100_000, 1_000_000} {
			b.Run(fmt.Sprintf("%s/urls=%d", name, n), func(b *testing.B) {
				set := filled(dedupe.Open(dedupe.DefaultOptions(), stores[name]()), n)
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
	filled(dedupe.Open(dedupe.DefaultOptions(), store), n)
	for b.Loop() {
		if got := dedupe.Open(dedupe.DefaultOptions(), store).Count(); got != n {
			b.Fatalf("count %d, want %d", got, n)
		}
	}
	b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "URLs/s")
}

func filled(set *dedupe.Set, n int) *dedupe.Set {
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
