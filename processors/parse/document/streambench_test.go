package document

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
)

// BenchmarkStreamOverTree takes turns between the stream, the collector fed by a tree, and a tree
// alone, so that all have the same neighbours on the machine. It reads the page of docPage, or the
// HTML of -corpus.
func BenchmarkStreamOverTree(b *testing.B) {
	bodies := [][]byte{docPage()}
	if *corpus != "" {
		bodies = nil
		if err := filepath.WalkDir(*corpus, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".html") || len(bodies) == 2000 {
				return err
			}
			body, err := os.ReadFile(path)
			bodies = append(bodies, body)
			return err
		}); err != nil {
			b.Fatal(err)
		}
	}
	r := newReader(b, nil)
	var stream, tree, alone time.Duration
	i := 0
	for b.Loop() {
		in := Input{URL: "https://docs.example.org/library/os.path.html", ContentType: "text/html; charset=utf-8", Body: bodies[i%len(bodies)]}
		i++
		start := time.Now()
		r.parser.read(r.streaming, in, nil)
		streamed := time.Now()
		r.parser.read(r.trees, in, nil)
		treed := time.Now()
		if _, err := goquery.NewDocumentFromReader(bytes.NewReader(in.Body)); err != nil {
			b.Fatal(err)
		}
		stream += streamed.Sub(start)
		tree += treed.Sub(streamed)
		alone += time.Since(treed)
	}
	b.ReportMetric(float64(stream.Nanoseconds())/float64(i), "stream-ns/op")
	b.ReportMetric(float64(stream)/float64(tree), "over-tree-path")
	b.ReportMetric(float64(stream)/float64(alone), "over-bare-tree")
}
