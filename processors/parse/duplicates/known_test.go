package duplicates

import (
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/processors/parse/simhash"
)

// Every text that was added is found, and of others only those that begin like one.
func TestTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var set texts
		have := map[uint32]bool{}
		// Few values, so that they meet, and such that want the same slot.
		value := rapid.OneOf(rapid.Uint32Range(0, 40), rapid.Map(rapid.Uint32Range(0, 2000), func(n uint32) uint32 { return n << 16 }))
		for range rapid.IntRange(0, 300).Draw(t, "texts") {
			var hash simhash.Hash
			v := value.Draw(t, "hash")
			binary.BigEndian.PutUint32(hash[:], v)
			if want := have[max(v, 1)]; set.mayHave(hash) != want {
				t.Fatalf("%d: found is %v", v, !want)
			}
			if rapid.Bool().Draw(t, "add") {
				set.add(hash)
				have[max(v, 1)] = true
			}
		}
		if set.n != len(have) {
			t.Fatalf("%d texts, want %d", set.n, len(have))
		}
	})
}
