package ledger

import (
	"errors"
	"fmt"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weftcrawl/weft/internal/pebblelog"
)

func TestUnwrittenManifestBreaksTheStore(t *testing.T) {
	s := disk{broken: make(chan struct{})}
	pebblelog.Logger(s.writeFailed).Fatalf("MANIFEST flush failed: %v", unix.ENOSPC)
	if s.Err() == nil || s.Get([]byte("key")) != nil {
		t.Errorf("the store goes on: %v", s.Err())
	}
	defer func() {
		if recover() == nil {
			t.Error("a mistake in the program does not panic")
		}
	}()
	pebblelog.Logger(s.writeFailed).Fatalf("MANIFEST not locked for writing")
}

func TestLackOfRoomIsNoDamage(t *testing.T) {
	full := fmt.Errorf("open state: %w", &unwritten{unix.ENOSPC})
	if mayBeDamaged(full) || !mayBeDamaged(errors.New("bad magic number")) {
		t.Error("a checkpoint is discarded because the disk is full, or kept although it is damaged")
	}
}

type unwritten struct{ error }

func (u *unwritten) Unwrap() error { return u.error }
