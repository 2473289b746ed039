package supervise_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weftcrawl/weft/internal/supervise"
)

func TestRunBuildsAnewWithLongerPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var starts []time.Duration
		began := time.Now()
		err := supervise.Run(ctx, supervise.Options{Logger: slog.New(slog.DiscardHandler), Fatal: func(error) bool { return false }},
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
	err := supervise.Run(t.Context(), supervise.Options{
		Logger: slog.New(slog.DiscardHandler), Fatal: func(err error) bool { return errors.Is(err, fatal) },
	},
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

func TestUntil(t *testing.T) {
	broken, over := errors.New("broken"), errors.New("over")
	for name, test := range map[string]struct {
		third func(cancel func()) (bool, error)
		want  error
	}{
		"until it is done":       {func(func()) (bool, error) { return true, nil }, nil},
		"until it fails":         {func(func()) (bool, error) { return false, broken }, broken},
		"until the context ends": {func(cancel func()) (bool, error) { cancel(); return false, nil }, over},
		"done as it ends":        {func(cancel func()) (bool, error) { cancel(); return true, nil }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				began, calls := time.Now(), 0
				err := supervise.Until(ctx, time.Second, func() (bool, error) {
					if ago := time.Since(began); ago != time.Duration(calls)*time.Second {
						t.Errorf("call %d is made after %v", calls+1, ago)
					}
					if calls++; calls == 3 {
						return test.third(func() { cancel(over) })
					}
					return false, nil
				})
				if !errors.Is(err, test.want) || calls != 3 {
					t.Errorf("%d calls, %v; want 3, %v", calls, err, test.want)
				}
			})
		})
	}
}

// Equal failures in a row are logged at powers of two, and all are told.
func TestRunBoundsRepeatedWarnings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var log bytes.Buffer
		var told []int
		lives := 0
		began := time.Now()
		err := supervise.Run(ctx, supervise.Options{
			Logger: slog.New(slog.NewTextHandler(&log, nil)), Fatal: func(error) bool { return false },
			Failed: func(_ context.Context, f supervise.Failure) {
				told = append(told, f.Times)
				if f.Times > 1 && !f.Since.Before(time.Now()) {
					t.Errorf("failure %d is since %v, it is %v", f.Times, f.Since, time.Now())
				}
				if f.Times == 20 && f.Since != began {
					t.Errorf("since %v, want %v", f.Since, began)
				}
			},
		}, func(context.Context) error {
			switch lives++; {
			case lives == 23:
				time.Sleep(supervise.MaxPause + time.Second) // it went well for a while
			case lives == 25:
				cancel()
			case lives > 20:
				return nil
			}
			return fmt.Errorf("dial tcp 127.0.0.1:%d: connection refused", 30000+lives)
		})
		if err != nil {
			t.Fatal(err)
		}
		want := "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 1 2 1 1"
		if got := strings.Trim(fmt.Sprint(told), "[]"); got != want {
			t.Errorf("told of\n%s, want\n%s", got, want)
		}
		if got := strings.Count(log.String(), "level=WARN"); got != 5+2+1+1 {
			t.Errorf("%d warnings:\n%s", got, log.String())
		}
	})
}

// Failures are over when a call has lived for twenty times the pause before it, or when the
// context ends, and not before.
func TestFailuresAreOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		var told []string
		tell := func(what string) { told = append(told, fmt.Sprintf("%s %v", what, time.Since(began))) }
		lives := []time.Duration{time.Second, 4 * time.Second, 11 * time.Second, time.Second, time.Hour}
		err := supervise.Run(ctx, supervise.Options{
			Logger: slog.New(slog.DiscardHandler), Fatal: func(error) bool { return false },
			Failed: func(_ context.Context, f supervise.Failure) {
				if f.First {
					tell("first")
				} else {
					tell("failed")
				}
			},
			Over: func(ctx context.Context) {
				if ctx.Err() != nil {
					t.Error("Over is called with a context that has ended")
				}
				tell("over")
			},
		}, func(ctx context.Context) error {
			life := lives[0]
			if lives = lives[1:]; len(lives) == 0 {
				cancel()
				<-ctx.Done()
				return ctx.Err()
			}
			time.Sleep(life)
			return errors.New("broken")
		})
		if err != nil {
			t.Fatal(err)
		}
		// The third call begins at 5.75 s after a pause of 0.5 s, and has lived for enough
		// at 15.75 s. The fifth ends the context.
		want := "first 1s; failed 5.25s; over 15.75s; first 16.75s; failed 18.75s; over 20.75s"
		if got := strings.Join(told, "; "); got != want {
			t.Errorf("told\n%s, want\n%s", got, want)
		}
	})
}

func TestFatalFailuresAreNotOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fatal, calls := errors.New("cannot be mended"), 0
		err := supervise.Run(t.Context(), supervise.Options{
			Logger: slog.New(slog.DiscardHandler), Fatal: func(err error) bool { return errors.Is(err, fatal) },
			Over: func(context.Context) { t.Error("the failures are over") },
		}, func(context.Context) error {
			if calls++; calls == 2 {
				return fatal
			}
			return errors.New("broken")
		})
		if !errors.Is(err, fatal) {
			t.Errorf("got %v", err)
		}
	})
}
