package processors

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/scope"
	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/urls"
)

// silent is a Meter that counts nothing.
type silent struct{ Meter }

func (silent) Normalized(string, int) {}

// BenchmarkNormalize answers the record of a page with 40 links, decoding and
// encoding included.
func BenchmarkNormalize(b *testing.B) {
	policy, err := scope.New(scope.DefaultOptions())
	if err != nil {
		b.Fatal(err)
	}
	form, err := urls.NewForm(urls.DefaultOptions())
	if err != nil {
		b.Fatal(err)
	}
	n := normalizer{
		env: Env{Names: topics.Loop("bench"), Meter: silent{}}, policy: policy, form: form, suffixes: urls.BundledSuffixes(),
	}
	page := &weftpb.Discovered{Source: "https://docs.example.org/library/os.path.html", Via: weftpb.Via_VIA_LINK}
	for i := range 40 {
		href := fmt.Sprintf("../reference/section-%d.html#part", i)
		if i%10 == 0 {
			href = fmt.Sprintf("https://other-%d.example.com/", i)
		}
		page.Links = append(page.Links, &weftpb.Link{Url: href, Text: "a section of the reference"})
	}
	record := &kgo.Record{Topic: n.env.Names.Discovered, Value: encode(page)}
	b.ReportAllocs()
	for b.Loop() {
		out, reason := n.record(record)
		if reason != "" || out.targets != 36 {
			b.Fatalf("%d targets, rejected for %q", out.targets, reason)
		}
		for _, batch := range out.list {
			encode(&batch.record)
		}
	}
	b.ReportMetric(float64(b.N)*40/b.Elapsed().Seconds(), "URLs/s")
}
