package processors

import (
	"strings"
	"testing"
)

func TestBelowReserve(t *testing.T) {
	if said := BelowReserve(t.TempDir(), 1); said != "" {
		t.Errorf("a byte is to be kept free: %s", said)
	}
	if said := BelowReserve(t.TempDir(), 1<<60); !strings.HasPrefix(said, "disk: ") || !strings.Contains(said, "--disk-reserve 1099511627776 MiB") {
		t.Errorf("more than any disk has is to be kept free: %q", said)
	}
	if said := BelowReserve("/does/not/exist", 1<<60); said != "" {
		t.Errorf("a file system that says nothing holds nobody: %q", said)
	}
}
