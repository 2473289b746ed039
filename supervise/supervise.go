// Package supervise runs what must not end before its context does, and what is
// to be done again and again until then.
package supervise

import (
	"context"
	"errors"
	"log/slog"
	"math/bits"
	"regexp"
	"time"
)

// Pauses between two lives. A life that lasted longer than MaxPause is followed
// by the shortest pause again.
const (
	MinPause = 250 * time.Millisecond
	MaxPause = 30 * time.Second
)

// Options say what is made of the end of a life.
type Options struct {
	// Logger gets a warning about failures, but of equal ones in a row only
	// about the first, second, fourth, eighth, and so on.
	Logger *slog.Logger
	// Fatal tells an error that no new life can mend: Run returns it.
	Fatal func(error) bool
	// Failed is told of every other end, before the pause; nil: nobody.
	Failed func(context.Context, Failure)
}

// Failure is the end of a life.
type Failure struct {
	Err error
	// Times counts the failures in a row that are equal but for numbers, this
	// one included; Since is when the first of them was.
	Times int
	Since time.Time
}

// errEnded stands for the error of a life that ended without one.
var errEnded = errors.New("it ended without an error")

// Run calls once until ctx ends, which is no error, pausing longer after each
// failure. An error that is fatal is returned at once.
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

// next is the failure that follows f, after a life that lasted for a time.
func (f Failure) next(err error, lived time.Duration, now time.Time) Failure {
	if f.Err != nil && lived <= MaxPause && shape(f.Err) == shape(err) {
		return Failure{err, f.Times + 1, f.Since}
	}
	return Failure{err, 1, now}
}

var numbers = regexp.MustCompile(`[0-9]+`)

// shape is an error's text without its numbers, such as ports and durations.
func shape(err error) string { return numbers.ReplaceAllString(err.Error(), "#") }
