package codecs

import (
	"fmt"
	"strings"
	"testing"
)

// What cannot be read is refused, and what follows robots is not looked at.
func TestDecodeParsedFingerprints(t *testing.T) {
	for value, want := range map[string]string{
		`{"id":"1","content_hash":"ab","robots":{"noindex":0`: "1 ab",
		`{"x":[{"id":"2"}],"id":"1"}`:                         "1 ",
		``:                                                    "refused",
		`[]`:                                                  "refused",
		`{"id":1}`:                                            "refused",
		`{"id":"1"`:                                           "refused",
		`{"id":"1",`:                                          "refused",
		`{"duplicate_of":"1"}`:                                "refused",
	} {
		p, err := DecodeParsedFingerprints([]byte(value))
		got := p.ID + " " + p.ContentHash
		if err != nil {
			got = "refused"
		}
		if got != want {
			t.Errorf("%s is %q, %v; want %q", value, got, err, want)
		}
	}
}

func BenchmarkDecodeParsedFingerprints(b *testing.B) {
	for _, kib := range []int{4, 30, 300} {
		b.Run(fmt.Sprintf("KiB=%d", kib), func(b *testing.B) {
			p := sampleParsed()
			p.Text = strings.Repeat("all of it is \"text\" ", kib<<10/20)
			value := p.AppendJSON(nil)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := DecodeParsedFingerprints(value); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
