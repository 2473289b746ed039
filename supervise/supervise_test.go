package supervise_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weftcrawl/weft/supervise"
)

func TestRunBuildsAnewWithLongerPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var starts []time.Duration
		began := time.Now()
		err := supervise.Run(ctx, slog.New(slog.DiscardHandler), func(error) bool { return false },
			func(context.Context) error {
				starts = append(starts, time.Since(began))
				if len(starts) == 4 {
					cancel()
				}
				return errors.New("broken")
			})
		if err != nil {
			t.Fatalf("a context's end is no error: %v", err)
		}
		want := []time.Duration{0, 250 * time.Millisecond, 750 * time.Millisecond, 1750 * time.Millisecond}
		for i := range want {
			if starts[i] != want[i] {
				t.Errorf("life %d began after %v, want %v", i, starts[i], want[i])
			}
		}
	})
}

func TestRunReturnsFatal(t *testing.T) {
	fatal := errors.New("cannot be mended")
	err := supervise.Run(t.Context(), slog.New(slog.DiscardHandler), func(err error) bool { return errors.Is(err, fatal) },
		func(context.Context) error { return fatal })
	if !errors.Is(err, fatal) {
		t.Errorf("got %v", err)
	}
}
