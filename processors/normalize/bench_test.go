package normalize

import (
	"fmt"
	"testing"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/normalize/scope"
	"github.com/weftcrawl/weft/topics"
)

// BenchmarkNormalize answers the record of a page with 40 links, decoding and
// encoding included.
func BenchmarkNormalize(b *testing.B) {
	policy, err := scope.New(scope.DefaultOptions())
	if err != nil {
		b.Fatal(err)
	}
	form, err := urls.NewForm(urls.Options{Strip: urls.DefaultStrip()})
	if err != nil {
		b.Fatal(err)
	}
	n := normalizer{
		env: stage.Env{Names: topics.Loop("bench"), Meter: stage.NoMeter{}}, policy: policy, form: form, suffixes: urls.BundledSuffixes(), passed: new(passed),
	}
	page := &weftpb.Discovered{Source: "https://docs.example.org/library/os.path.html", Via: weftpb.Via_VIA_LINK}
	for i := range 40 {
		href := fmt.Sprintf("../reference/section-%d.html#part", i)
		if i%10 == 0 {
			href = fmt.Sprintf("https://other-%d.example.com/", i)
		}
		page.Links = append(page.Links, &weftpb.Link{Url: href, Text: "a section of the reference"})
	}
	record := stage.Encode(page)
	b.ReportAllocs()
	for b.Loop() {
		out, reason := n.discovered(record)
		if reason != "" || out.targets != 36 {
			b.Fatalf("%d targets, rejected for %q", out.targets, reason)
		}
		for _, batch := range out.list {
			stage.Encode(&batch.record)
		}
	}
	b.ReportMetric(float64(b.N)*40/b.Elapsed().Seconds(), "URLs/s")
}
