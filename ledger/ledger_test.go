package ledger

import (
	"errors"
	"slices"
	"testing"

	"github.com/weftcrawl/weft/internal/dirlock"
)

func TestEventsFollowInputs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stop := w.start(w.options())
	w.produce("a", "b", "skip", "bad", "a")
	w.exactly([]string{"a", "b", "a"})
	mustStop(t, stop)
	if want := []string{"bad:bad"}; !slices.Equal(w.rejected, want) {
		t.Errorf("rejected %q, want %q", w.rejected, want)
	}
}

// Two processes on one directory would destroy each other's states.
func TestDirectoryIsLocked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stop := w.start(w.options())
	w.reaches(IncidentClaim, 1)
	if err := Run(t.Context(), w.stage(), w.options()); !errors.Is(err, dirlock.ErrInUse) {
		t.Errorf("second run on the directory ended with %v", err)
	}
	mustStop(t, stop)
}
