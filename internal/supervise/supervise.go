// Package supervise runs functions that must not end before their context, and functions that are
// called again and again until then.
package supervise

import (
	"context"
	"errors"
	"log/slog"
	"math/bits"
	"regexp"
	"time"
)

// Pauses between two calls. After a call that lasted longer than MaxPause the pause is the shortest
// again.
const (
	MinPause = 250 * time.Millisecond
	MaxPause = 30 * time.Second
)

// Options say what happens when a call ends.
type Options struct {
	// Logger gets a warning about failures; for equal failures in a row only about the
	// first, second, fourth, eighth, and so on.
	Logger *slog.Logger
	// Fatal reports an error that another call cannot fix: Run returns it.
	Fatal func(error) bool
	// Failed is called for all other ends, before the pause; nil: no calls.
	Failed func(context.Context, Failure)
}

// Failure is the end of a call.
type Failure struct {
	Err error
	// Times counts the failures in a row that differ only in numbers, with this one. Since
	// is the time of the first of them.
	Times int
	Since time.Time
}

var errEnded = errors.New("it ended without an error")

// Run calls once again and again until ctx ends, which is not an error. The pause grows with each
// failure. Run returns a fatal error at once.
func Run(ctx context.Context, o Options, once func(context.Context) error) error {
	pause := MinPause
	var last Failure
	for {
		began := time.Now()
		err := once(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil && o.Fatal(err) {
			return err
		}
		if err == nil {
			err = errEnded
		}
		lived := time.Since(began)
		if lived > MaxPause {
			pause = MinPause
		}
		last = last.next(err, lived, time.Now())
		if bits.OnesCount(uint(last.Times)) == 1 {
			o.Logger.Warn("stage ended; building it anew", "error", err, "times", last.Times, "pause", pause)
		}
		if o.Failed != nil {
			o.Failed(ctx, last)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		pause = min(2*pause, MaxPause)
	}
}

// next is the failure after f, for a call that lasted for lived.
func (f Failure) next(err error, lived time.Duration, now time.Time) Failure {
	if f.Err != nil && lived <= MaxPause && shape(f.Err) == shape(err) {
		return Failure{err, f.Times + 1, f.Since}
	}
	return Failure{err, 1, now}
}

var numbers = regexp.MustCompile(`[0-9]+`)

// shape is an error's text without its numbers, such as ports and durations.
func shape(err error) string { return numbers.ReplaceAllString(err.Error(), "#") }

// Every calls do each period, the first time after one period, until do fails or ctx
// ends. The end of ctx is not an error, whatever do returns then.
func Every(ctx context.Context, period time.Duration, do func() error) error {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		err := do()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// Until calls do at once and then each period, until do says that it is done, or fails,
// or ctx ends. The end of ctx is an error: its cause.
func Until(ctx context.Context, period time.Duration, do func() (done bool, err error)) error {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		if done, err := do(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
	}
}
