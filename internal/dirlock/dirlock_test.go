package dirlock_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/dirlock"
)

func TestTake(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "on", "the", "way")
	lock, err := dirlock.Take(dir, "lock")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dirlock.Take(dir, "lock"); !errors.Is(err, dirlock.ErrInUse) || !strings.Contains(err.Error(), dir) {
		t.Errorf("taken twice: %v", err)
	}
	other, err := dirlock.Take(dir, "other")
	if err != nil {
		t.Errorf("another name: %v", err)
	}
	if err := errors.Join(lock.Release(), other.Release()); err != nil {
		t.Fatal(err)
	}
	again, err := dirlock.Take(dir, "lock")
	if err != nil {
		t.Fatalf("after its release: %v", err)
	}
	if err := again.Release(); err != nil {
		t.Error(err)
	}
}
