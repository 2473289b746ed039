package warc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// Wherever a file that an earlier version left open is cut or garbled at its end, the
// records that lie before it survive, and the rest is gone.
func TestRecover(t *testing.T) {
	var some []*weftpb.Fetched
	for n := range 4 {
		some = append(some, exchange(n, strings.Repeat(fmt.Sprint(n), 1000)))
	}
	whole, _ := write(t, Options{}, some...)
	all := readAll(t, whole)
	ends := memberEnds(t, whole)
	const final = "WEFT-20261101123005-00001-host.example.warc.gz"

	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp("", "warc-")
		must(t, err)
		defer os.RemoveAll(dir)
		cut := rapid.IntRange(0, len(whole)).Draw(r, "cut")
		torn := slices.Clone(whole[:cut])
		if rapid.Bool().Draw(r, "zeros") { // blocks that were allocated and not written
			torn = append(torn, make([]byte, 100)...)
		}
		must(t, os.WriteFile(filepath.Join(dir, final+openSuffix), torn, 0o600))
		must(t, os.WriteFile(filepath.Join(dir, "mine.open"), torn, 0o600))
		must(t, Recover(dir))
		must(t, Recover(filepath.Join(dir, "none")))
		survivors := 0
		for survivors < len(ends) && bytes.HasPrefix(torn, whole[:ends[survivors]]) { // zeros may complete a length that ends in some
			survivors++
		}
		file, err := os.ReadFile(filepath.Join(dir, final))
		if survivors == 0 {
			if !os.IsNotExist(err) {
				r.Fatalf("a file without records: %v", err)
			}
			return
		}
		must(t, err)
		if got := readAll(t, file); !slices.Equal(got, all[:survivors]) {
			r.Fatalf("cut at %d of %d: %d records, want %d", cut, len(whole), len(got), survivors)
		}
	})
}

// memberEnds finds the members by their header, which deflated data of this
// size does not contain by chance.
func memberEnds(t *testing.T, b []byte) []int {
	t.Helper()
	var ends []int
	for i := 1; i < len(b); i++ {
		if bytes.HasPrefix(b[i:], []byte{0x1f, 0x8b, 8}) {
			ends = append(ends, i)
		}
	}
	ends = append(ends, len(b))
	if len(ends) != 9 {
		t.Fatalf("%d members, want 9", len(ends))
	}
	return ends
}
