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
	// Over is called once after one or more calls of Failed: when a call has lived for 20
	// times the pause before it, at most MaxPause, or when ctx ends. nil: no calls. It is not
	// called after a fatal error. Its context has not ended.
	Over func(context.Context)
}

// livesPauses is how many times the pause before it a call lives before its failures are over.
const livesPauses = 20

// Failure is the end of a call.
type Failure struct {
	Err error
	// Times counts the failures in a row that differ only in numbers, with this one. Since
	// is the time of the first of them.
	Times int
	Since time.Time
	// First is true for the first failure since the last call of Over.
	First bool
}

var errEnded = errors.New("it ended without an error")

// Run calls once again and again until ctx ends, which is not an error. The pause grows with each
// failure. Run returns a fatal error at once.
func Run(ctx context.Context, o Options, once func(context.Context) error) error {
	pause, waited := MinPause, time.Duration(0)
	var last Failure
	failing := false
	for {
		began := time.Now()
		var err error
		if failing {
			failing, err = o.watched(ctx, min(livesPauses*waited, MaxPause), once)
		} else {
			err = once(ctx)
		}
		if ctx.Err() != nil {
			o.end(ctx, failing)
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
		last.First, failing = !failing, true
		if bits.OnesCount(uint(last.Times)) == 1 {
			o.Logger.Warn("stage ended; it starts again after a pause", "error", err, "times", last.Times, "pause", pause)
		}
		if o.Failed != nil {
			o.Failed(ctx, last)
		}
		select {
		case <-ctx.Done():
			o.end(ctx, failing)
			return nil
		case <-time.After(pause):
		}
		waited, pause = pause, min(2*pause, MaxPause)
	}
}

// watched calls once, and Over when the call has lived for enough. failing tells whether it
// has not.
func (o Options) watched(ctx context.Context, enough time.Duration, once func(context.Context) error) (failing bool, err error) {
	ended, watched := make(chan struct{}), make(chan bool)
	go func() {
		select {
		case <-ended:
			watched <- true
		case <-ctx.Done():
			watched <- true
		case <-time.After(enough):
			o.end(ctx, true)
			watched <- false
		}
	}()
	err = once(ctx)
	close(ended)
	return <-watched, err
}

func (o Options) end(ctx context.Context, failing bool) {
	if failing && o.Over != nil {
		o.Over(context.WithoutCancel(ctx))
	}
}

// next is the failure after f, for a call that lasted for lived.
func (f Failure) next(err error, lived time.Duration, now time.Time) Failure {
	if f.Err != nil && lived <= MaxPause && shape(f.Err) == shape(err) {
		return Failure{Err: err, Times: f.Times + 1, Since: f.Since}
	}
	return Failure{Err: err, Times: 1, Since: now}
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
