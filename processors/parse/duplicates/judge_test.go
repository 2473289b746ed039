package duplicates

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/processors/parse/simhash"
)

// BenchmarkJudge judges and folds pages of 50 domains: texts that are all new, and
// such that one of ten is a duplicate and one of ten nearly so.
func BenchmarkJudge(b *testing.B) {
	b.Run("new", func(b *testing.B) { benchmarkJudge(b, false) })
	b.Run("mixed", func(b *testing.B) { benchmarkJudge(b, true) })
}

func benchmarkJudge(b *testing.B, mixed bool) {
	log := &silentLog{}
	dir := b.TempDir()
	x := New(dir, log)
	r := rand.New(rand.NewPCG(1, 1))
	var known []Page
	offset, value := int64(0), make([]byte, 10_000)
	put := func() {
		n := r.IntN(10)
		domain := fmt.Sprintf("site-%d.example", r.IntN(50))
		p := Page{ID: fmt.Sprintf("%032x", r.Uint64()), URL: fmt.Sprintf("https://www.%s/articles/%d/page", domain, offset), Domain: domain}
		switch {
		case mixed && n == 0 && len(known) > 0:
			p.Print = known[r.IntN(len(known))].Print
		default:
			for i := range 2 {
				v := r.Uint64()
				for j := range 8 {
					p.Print.Hash[8*i+j] = byte(v >> (8 * j))
				}
			}
			p.Print.Sim = 1
			p.Print.Min = simhash.MinHash{r.Uint64(), r.Uint64()}
			if mixed && n == 1 && len(known) > 0 {
				p.Print.Min = known[r.IntN(len(known))].Print.Min
				p.Print.Min[0] ^= 1 << 40
			}
			known = append(known, p)
		}
		flight, err := x.Judge(context.Background(), 0, p)
		if err != nil {
			b.Fatal(err)
		}
		flight.Hand()(&kgo.Record{Offset: offset, Value: value}, nil)
		flight.Release()
		offset++
	}
	for range 100_000 {
		put()
	}
	b.ReportAllocs()
	for b.Loop() {
		put()
	}
	b.StopTimer()
	if err := x.Close(); err != nil {
		b.Fatal(err)
	}
	var size int64
	_ = filepath.Walk(dir, func(_ string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			size += info.Size()
		}
		return nil
	})
	b.ReportMetric(float64(size)/float64(offset), "disk-B/page")
}
