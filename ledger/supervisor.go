package ledger

import (
	"context"
	"fmt"
	"hash"
	"log/slog"
	"time"
)

// Run runs a stateful stage until ctx ends, which is no error. It builds the
// processor anew, with back-off, whenever one ends; only what no new one could
// mend is returned: ErrCorrupt, ErrTrimmed, ErrInputLost.
func Run[S State](ctx context.Context, stage Stage[S], opts Options) error {
	if err := opts.Validate(); err != nil {
		return err
	}
	opts = opts.withDefaults()
	log := opts.Logger.With("stage", stage.Ledger)
	pause := minPause
	for {
		r := &runner{definition: define(stage), opts: opts, log: log, tables: map[int32]*table{}}
		began := time.Now()
		err := r.once(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if r.dead != nil {
			return fmt.Errorf("stage %s cannot go on: %w", stage.Ledger, r.dead)
		}
		if time.Since(began) > maxPause {
			pause = minPause
		}
		log.Warn("processor ended; building it anew", "error", err, "pause", pause)
		opts.Observe(Happening{Kind: HappenedRestart})
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		pause = min(2*pause, maxPause)
	}
}

const (
	minPause = 250 * time.Millisecond
	maxPause = 30 * time.Second
)

// hasher is the type that goka's producer builder wants.
type hasher = hash.Hash32

// logger passes goka's lines on, all of them below warning: what matters comes
// back as an error.
type logger struct{ log *slog.Logger }

func (l logger) Print(args ...any)                 { l.log.Debug(fmt.Sprint(args...)) }
func (l logger) Println(args ...any)               { l.log.Debug(fmt.Sprint(args...)) }
func (l logger) Printf(format string, args ...any) { l.log.Debug(fmt.Sprintf(format, args...)) }
