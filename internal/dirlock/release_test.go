package dirlock

import (
	"testing"

	"golang.org/x/sys/unix"
)

// A process that is being forked has all files open until it runs its own program. A lock that is
// released is free all the same.
func TestReleaseWhileForking(t *testing.T) {
	dir := t.TempDir()
	lock, err := Take(dir, "lock")
	if err != nil {
		t.Fatal(err)
	}
	forked, err := unix.Dup(int(lock.file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(forked)
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	again, err := Take(dir, "lock")
	if err != nil {
		t.Fatalf("after its release: %v", err)
	}
	if err := again.Release(); err != nil {
		t.Error(err)
	}
}
