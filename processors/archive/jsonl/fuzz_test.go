package jsonl

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// The sidecar of a file of pages is what was written, or damaged.
func FuzzState(f *testing.F) {
	name := filepath.Join(f.TempDir(), "pages.state")
	if err := (state{Version: stateVersion}).write(name, false); err != nil {
		f.Fatal(err)
	}
	good, err := os.ReadFile(name)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"version":1,"sum":0}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, ok, err := readState(name); ok != (err == nil) || err != nil && !errors.Is(err, ErrDamaged) {
			t.Fatalf("read: %v, %v", ok, err)
		}
	})
}
