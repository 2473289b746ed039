package ledger

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/weftcrawl/weft/internal/dirlock"
	"github.com/weftcrawl/weft/internal/supervise"
)

// Run runs a stage with a ledger until ctx ends, which is not an error. It
// builds the goka processors anew, with back-off, whenever one ends. It returns
// only errors that a new processor cannot mend: ErrCorrupt, ErrTrimmed,
// ErrInputLost, ErrNameTaken, kafka.ErrID, and dirlock.ErrInUse when another
// process runs the stage on the same states.
func Run(ctx context.Context, proc Processor, opts Options) (err error) {
	if err := opts.Validate(); err != nil {
		return err
	}
	opts = opts.withDefaults()
	lock, err := dirlock.Take(opts.Dir, proc.Ledger+".lock")
	if err != nil {
		return fmt.Errorf("states of %s: %w", proc.Ledger, err)
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	log := opts.Logger.With("stage", proc.Ledger)
	if opts.Instance != "" {
		defer func() {
			if !errors.Is(err, ErrNameTaken) {
				LeaveGroup(ctx, opts.Cluster, proc.Ledger, opts.Instance, log)
			}
		}()
	}
	var dead error
	strangers := new(strangerLog)
	return supervise.Run(ctx, supervise.Options{
		Logger: log, Fatal: func(error) bool { return dead != nil }, Failed: opts.Failed, Over: opts.Over,
	}, func(ctx context.Context) error {
		r := &runner{Processor: proc, opts: opts, log: log, strangers: strangers}
		err := r.once(ctx)
		if dead = r.fatal(); dead != nil {
			return fmt.Errorf("stage %s cannot go on: %w", proc.Ledger, dead)
		}
		opts.Observe(IncidentRestart, 0)
		return err
	})
}

// logger passes goka's log lines on, below warning, because what matters comes back as
// an error.
type logger struct{ log *slog.Logger }

func (l logger) Print(args ...any)                 { l.log.Debug(fmt.Sprint(args...)) }
func (l logger) Println(args ...any)               { l.log.Debug(fmt.Sprint(args...)) }
func (l logger) Printf(format string, args ...any) { l.log.Debug(fmt.Sprintf(format, args...)) }

// strangerLog warns about records that are not events, at most once a minute, because a client
// that writes to a ledger by mistake may write a lot.
type strangerLog struct {
	mu     sync.Mutex
	next   time.Time
	silent int64 // records since the last warning
}

const warnEvery = time.Minute

// tell returns the function that a partition calls for each record that it skips.
func (c *strangerLog) tell(log *slog.Logger, partition int32) func(topic string, offset int64) {
	return func(topic string, offset int64) {
		c.mu.Lock()
		defer c.mu.Unlock()
		now := time.Now()
		if now.Before(c.next) {
			c.silent++
			return
		}
		log.Warn("a record of a ledger is not an event, and is ignored: another program wrote it",
			"topic", topic, "partition", partition, "offset", offset, "others", c.silent)
		c.next, c.silent = now.Add(warnEvery), 0
	}
}
