// Package supervise runs what must not end before its context does, and what is
// to be done again and again until then.
package supervise

import (
	"context"
	"log/slog"
	"time"
)

// Pauses between two lives. A life that lasted longer than MaxPause is followed
// by the shortest pause again.
const (
	MinPause = 250 * time.Millisecond
	MaxPause = 30 * time.Second
)

// Run calls once until ctx ends, which is no error, pausing longer after each
// failure. An error for which fatal is true is returned at once.
func Run(ctx context.Context, log *slog.Logger, fatal func(error) bool, once func(context.Context) error) error {
	pause := MinPause
	for {
		began := time.Now()
		err := once(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil && fatal(err) {
			return err
		}
		if time.Since(began) > MaxPause {
			pause = MinPause
		}
		log.Warn("stage ended; building it anew", "error", err, "pause", pause)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		pause = min(2*pause, MaxPause)
	}
}
