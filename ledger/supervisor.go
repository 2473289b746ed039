package ledger

import (
	"context"
	"errors"
	"fmt"
	"hash"
	"log/slog"

	"github.com/IBM/sarama"

	"github.com/weftcrawl/weft/dirlock"
	"github.com/weftcrawl/weft/supervise"
)

// Run runs a stateful stage until ctx ends, which is no error. It builds the
// processor anew, with back-off, whenever one ends; only what no new one could
// mend is returned: ErrCorrupt, ErrTrimmed, ErrInputLost, ErrNameTaken,
// cluster.ErrID, and
// dirlock.ErrInUse when another process runs the stage on the same states.
func Run[S State](ctx context.Context, stage Stage[S], opts Options) (err error) {
	if err := opts.Validate(); err != nil {
		return err
	}
	opts = opts.withDefaults()
	lock, err := dirlock.Take(opts.Dir, stage.Ledger+".lock")
	if err != nil {
		return fmt.Errorf("states of %s: %w", stage.Ledger, err)
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	log := opts.Logger.With("stage", stage.Ledger)
	if opts.Instance != "" {
		defer func() {
			if !errors.Is(err, ErrNameTaken) {
				LeaveGroup(ctx, opts.Cluster, stage.Ledger, opts.Instance, log)
			}
		}()
	}
	var dead error
	strangers := new(complainer)
	return supervise.Run(ctx, supervise.Options{
		Logger: log, Fatal: func(error) bool { return dead != nil }, Failed: opts.Failed,
	}, func(ctx context.Context) error {
		r := &runner{Definition: Define(stage), opts: opts, log: log, strangers: strangers, tables: map[int32]*table{}}
		err := r.once(ctx)
		if dead = r.fatal(); dead != nil {
			return fmt.Errorf("stage %s cannot go on: %w", stage.Ledger, dead)
		}
		opts.Observe(Happening{Kind: HappenedRestart})
		return err
	})
}

// hasher is the type that goka's producer builder wants.
type hasher = hash.Hash32

// logger passes goka's lines on, nearly all of them below warning: what matters
// comes back as an error.
type logger struct{ log *slog.Logger }

func (l logger) Print(args ...any)   { l.log.Debug(fmt.Sprint(args...)) }
func (l logger) Println(args ...any) { l.log.Debug(fmt.Sprint(args...)) }
func (l logger) Printf(format string, args ...any) {
	l.log.Log(context.Background(), levelOf(args), fmt.Sprintf(format, args...))
}

// levelOf is higher for an input that may not be read: sarama tries again for
// ever, and goka tells its log only.
func levelOf(args []any) slog.Level {
	for _, arg := range args {
		if err, ok := arg.(error); ok && errors.Is(err, sarama.ErrTopicAuthorizationFailed) {
			return slog.LevelWarn
		}
	}
	return slog.LevelDebug
}
