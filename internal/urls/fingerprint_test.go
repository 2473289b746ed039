package urls

import (
	"encoding/hex"
	"testing"
)

// The values are part of what is stored: a change makes every crawl forget
// what it has seen.
func TestFingerprintIsStable(t *testing.T) {
	got := Fingerprint("https://example.com/")
	if want := "503c1beec51db0209ff1930daa8e5b98"; hex.EncodeToString(got[:]) != want {
		t.Errorf("got %x, want %s", got, want)
	}
}

func TestPageID(t *testing.T) {
	first := PageID("https://example.com/", 0)
	if want := "610ed1c1d857d7ba0f4cca100ee87014"; first != want {
		t.Errorf("got %s, want %s", first, want)
	}
	for _, other := range []string{PageID("https://example.com/", 1), PageID("https://example.com/1", 0)} {
		if other == first {
			t.Errorf("two pages have the id %s", first)
		}
	}
	if PageID("https://example.com/1", 2) == PageID("https://example.com/", 12) {
		t.Error("round and URL run into each other")
	}
}

func BenchmarkFingerprint(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Fingerprint("https://www.example.com/docs/guide/introduction.html")
	}
}
