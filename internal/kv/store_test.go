package kv_test

import (
	"testing"

	"github.com/weftcrawl/weft/internal/kv"
)

type bounds struct {
	kv.Store
	lower, upper string
}

func (b *bounds) Scan(lower, upper []byte, _ func(key, value []byte) bool) {
	b.lower, b.upper = string(lower), string(upper)
}

func TestBelowEndsBehindThePrefix(t *testing.T) {
	for prefix, upper := range map[string]string{"u/": "u0", "\x01\xff\xff": "\x02", "a\x00": "a\x01"} {
		var b bounds
		for range kv.Below(&b, []byte(prefix)) {
			t.Error("a key of an empty store")
		}
		if b.lower != prefix || b.upper != upper {
			t.Errorf("%q: from %q to %q, want %q", prefix, b.lower, b.upper, upper)
		}
	}
}
