package duplicates

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/weftcrawl/weft/similar"
)

// BenchmarkJudge judges and folds pages of 50 domains: texts that are all new, and
// such that one of ten is a duplicate and one of ten nearly so.
func BenchmarkJudge(b *testing.B) {
	b.Run("new", func(b *testing.B) { benchmarkJudge(b, false) })
	b.Run("mixed", func(b *testing.B) { benchmarkJudge(b, true) })
}

func benchmarkJudge(b *testing.B, mixed bool) {
	log := &silentLog{}
	o := DefaultOptions()
	o.Dir = b.TempDir()
	x, err := Open(o, log)
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	var known []Page
	offset := int64(0)
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
			p.Print.Min = similar.MinHash{r.Uint64(), r.Uint64()}
			if mixed && n == 1 && len(known) > 0 {
				p.Print.Min = known[r.IntN(len(known))].Print.Min
				p.Print.Min[0] ^= 1 << 40
			}
			known = append(known, p)
		}
		err := x.Judge(context.Background(), 0, p, func(_ Verdict, written func(int64, int64, error)) {
			written(offset, 10_000, nil)
			offset++
		})
		if err != nil {
			b.Fatal(err)
		}
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
	_ = filepath.Walk(o.Dir, func(_ string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			size += info.Size()
		}
		return nil
	})
	b.ReportMetric(float64(size)/float64(offset), "disk-B/page")
}
