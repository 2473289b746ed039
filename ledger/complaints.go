package ledger

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"golang.org/x/sys/unix"
)

// complaints are what Pebble logs. What matters comes back as an error of a
// call or as one of the background, but for one thing: Pebble calls Fatalf when
// it cannot write its MANIFEST, on a full disk above all. When that returns, the
// call fails, or the flush or compaction in the background does. From then on
// the store is broken: nothing that is decided from it is written and no
// checkpoint is made of it, and the next owner opens another copy.
type complaints struct{ store *disk }

func (complaints) Infof(string, ...any)  {}
func (complaints) Errorf(string, ...any) {}

// Fatalf panics at anything else: it is a mistake in a program.
func (c complaints) Fatalf(format string, args ...any) {
	said := fmt.Sprintf(format, args...)
	if !strings.HasPrefix(said, "MANIFEST ") || !strings.Contains(said, " failed: ") {
		panic("pebble: " + said)
	}
	c.store.fail("write", errors.New(said))
}

// mayBeDamaged tells whether a checkpoint is to blame for an error of opening a
// copy of it, and not a lack of room or of files.
func mayBeDamaged(err error) bool {
	for _, lack := range []error{unix.ENOSPC, unix.EDQUOT, unix.EMFILE, unix.ENFILE} {
		if errors.Is(err, lack) {
			return false
		}
	}
	return true
}

var _ pebble.Logger = complaints{}
