package duplicates

import (
	"testing"

	"github.com/weftcrawl/weft/processors/parse/simhash"
)

// FuzzEntry: whatever is stored, reading it fails or gives an entry that is stored
// the same.
func FuzzEntry(f *testing.F) {
	f.Add([]byte{})
	f.Add(entryOf(page("id", "x.example", 1, 2)).append(nil))
	p := page("id", "x.example", 1, 2)
	p.Verdict = Verdict{ID: "other", URL: "https://x.example/other", Distance: 3, Own: true}
	f.Add(entryOf(p).append(nil))
	f.Fuzz(func(t *testing.T, value []byte) {
		e, err := readEntry(simhash.Hash{9}, value)
		if err != nil {
			return
		}
		again, err := readEntry(simhash.Hash{9}, e.append(nil))
		if err != nil || again != e {
			t.Errorf("%+v came back as %+v, %v", e, again, err)
		}
	})
}
