package dedupe

import (
	"fmt"
	"testing"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/test/memstore"
	"github.com/weftcrawl/weft/topics"
)

// BenchmarkDedupeVariants decides and folds records of pages of 40 links with one new link, as on
// the web.
func BenchmarkDedupeVariants(b *testing.B) {
	def := Define(stage.Env{Names: topics.Loop("weft"), Definition: topics.Definition{Scope: "any"}, Meter: stage.NoMeter{}})
	state, err := def.Open(0, sound{new(memstore.Store)})
	if err != nil {
		b.Fatal(err)
	}
	const links, known = 40, 10_000
	url := func(n int) string {
		return fmt.Sprintf("https://host.example/docs/section-%d/%d/page.html", n%97, n)
	}
	records := make([][]byte, 4096)
	page := &weftpb.Normalized{}
	for i := range links {
		page.Targets = append(page.Targets, &weftpb.Target{Depth: 3, Via: weftpb.Via_VIA_LINK})
		page.Targets[i].Url = url(i)
	}
	take := func(value []byte) {
		body, err := state.Decide(ledger.InputRecord{Key: "host.example", Value: value}, time.Time{}, 0)
		if err == nil && body != nil {
			err = state.Apply("host.example", body, 0)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	next := 0
	for range known / links {
		for _, t := range page.Targets {
			t.Url = url(next)
			next++
		}
		take(stage.Encode(page))
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i%len(records) == 0 {
			b.StopTimer()
			for j := range records {
				page.Source = url(j % known)
				page.Evidence = []*weftpb.Evidence{{Kind: weftpb.Evidence_KIND_PAGE, Url: page.Source}}
				for k, t := range page.Targets {
					t.Url = url((j*links + k*k) % known)
				}
				page.Targets[0].Url = url(next)
				next++
				records[j] = stage.Encode(page)
			}
			b.StartTimer()
		}
		take(records[i%len(records)])
	}
	b.ReportMetric(float64(b.N*links)/b.Elapsed().Seconds(), "URLs/s")
}
