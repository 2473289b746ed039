package main

import (
	"os"
	"path/filepath"
	"testing"
)

// Numbers of flags are within what they may be, or refused.
func FuzzNumbers(f *testing.F) {
	for _, text := range []string{"1", "10MiB", "1 TiB", "1B", "86.4M", "1_000", "1e9", "-1", "NaN", "9999999999999999999", "0x10", "Inf"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var size byteSize
		if err := size.UnmarshalText([]byte(text)); err == nil && (size < 0 || size > 1<<50) {
			t.Errorf("size %q is %d", text, size)
		}
		var count amount
		if err := count.UnmarshalText([]byte(text)); err == nil && (count < 0 || count > 1e15) {
			t.Errorf("amount %q is %d", text, count)
		}
	})
}

// A configuration file is read or refused.
func FuzzConfig(f *testing.F) {
	for _, text := range []string{"delay: 2s\nbrokers: [a:9092, b:9092]\n", "a: &a [*a]\n", "? x\n: y\n", "- 1", "delay: [2s", "a: !!binary x", "\xff", "delay: |\n  2s\n"} {
		f.Add([]byte(text))
	}
	name := filepath.Join(f.TempDir(), "weft.yaml")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _ = readConfig(name)
	})
}
