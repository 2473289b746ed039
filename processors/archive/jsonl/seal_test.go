package jsonl

import (
	"os"
	"path/filepath"
	"testing"
)

// Behind Seal the files may change, and the output goes on in another file, with all offsets.
func TestSeal(t *testing.T) {
	for _, o := range []Options{{}, {Compression: Zstd}, {MaxBytes: 10}} {
		o.Dir = filepath.Join(t.TempDir(), "pages")
		must(t, Seal(o.Dir)) // there is nothing
		p := open(t, o)
		must(t, p.Append(3, 7, []byte(`{"n":7}`)))
		must(t, p.Flush())
		must(t, p.Append(3, 8, []byte(`{"n":8}`))) // it is not recorded
		must(t, p.Append(3, 9, []byte(`{"n":9}`)))
		must(t, p.out.end())
		must(t, Seal(o.Dir))
		must(t, Seal(o.Dir))
		first := filepath.Join(o.Dir, "pages-000001.jsonl"+extensions[o.Compression])
		if text, err := os.ReadFile(first); err != nil || len(text) == 0 {
			t.Fatalf("%q, %v", text, err)
		}
		must(t, os.WriteFile(first, nil, 0o600)) // its page is erased
		p = open(t, o)
		if next := p.Offsets()[3]; next != 8 {
			t.Errorf("it goes on at %d", next)
		}
		must(t, p.Append(3, 8, []byte(`{"n":8}`)))
		must(t, p.Close())
		must(t, Seal(o.Dir))
		must(t, open(t, o).Close())
		if text, err := os.ReadFile(first); err != nil || len(text) > 0 {
			t.Errorf("the erased page is there again: %q, %v", text, err)
		}
		if text, err := os.ReadFile(filepath.Join(o.Dir, "pages-000002.jsonl"+extensions[o.Compression])); err != nil || len(text) == 0 {
			t.Errorf("the next page: %q, %v", text, err)
		}
	}
}
