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

func TestEvery(t *testing.T) {
	broken := errors.New("broken")
	for name, test := range map[string]struct {
		third func(cancel func()) error
		want  error
	}{
		"until it fails":             {func(func()) error { return broken }, broken},
		"until the context ends":     {func(cancel func()) error { cancel(); return nil }, nil},
		"until it fails for its end": {func(cancel func()) error { cancel(); return broken }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				began, calls := time.Now(), 0
				err := supervise.Every(ctx, time.Second, func() error {
					calls++
					if ago := time.Since(began); ago != time.Duration(calls)*time.Second {
						t.Errorf("call %d is made after %v", calls, ago)
					}
					if calls == 3 {
						return test.third(cancel)
					}
					return nil
				})
				if !errors.Is(err, test.want) || calls != 3 {
					t.Errorf("%d calls, %v; want 3, %v", calls, err, test.want)
				}
				cancel()
			})
		})
	}
}
