package processors

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/topics"
)

// reasonPanic is the reason of a record on which a stage's code panicked. Such a
// record is set aside, and the stage goes on; a program without the bug takes it
// from rejected again.
const reasonPanic = "panic"

// errPanic marks a panic where no record can be set aside: the state of a ledger
// must not be guessed at.
var errPanic = errors.New("panicked")

// caught logs a panic in the work on one record.
func caught(log *slog.Logger, cause any, r *kgo.Record) {
	log.Error("a record made its stage panic", "panic", fmt.Sprint(cause), "stack", stackTop(),
		"topic", r.Topic, "partition", r.Partition, "offset", r.Offset)
}

// stackTop is where the panic that is being recovered from began.
func stackTop() string {
	const frames = 8
	lines := strings.Split(string(debug.Stack()), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "panic(") && i+2 < len(lines) { // and its place
			lines = lines[i+2:]
			break
		}
	}
	return strings.Join(lines[:min(len(lines), 2*frames)], "\n")
}

// guard is transform(r), but that a panic is a reason to reject r.
func (o *outbox) guard(transform Transform, r *kgo.Record) (out []Output, reason string) {
	defer func() {
		if cause := recover(); cause != nil {
			caught(o.env.Logger.With("stage", o.stage), cause, r)
			out, reason = nil, reasonPanic
		}
	}()
	return transform(r)
}

// aside is where the writers of files put what they cannot write.
func (e Env) aside(stage topics.Stage) (*outbox, error) {
	producer, err := e.producer()
	if err != nil {
		return nil, err
	}
	return &outbox{env: e, stage: stage, client: producer}, nil
}

// unlessPanic does the work on r. When that panics, r is written to rejected.
func (o *outbox) unlessPanic(ctx context.Context, r *kgo.Record, work func() error) (panicked bool, err error) {
	func() {
		defer func() {
			if cause := recover(); cause != nil {
				caught(o.env.Logger.With("stage", o.stage), cause, r)
				panicked = true
			}
		}()
		err = work()
	}()
	if !panicked {
		return false, err
	}
	return true, o.setAside(ctx, r, reasonPanic)
}

// setAside writes r to rejected, and waits for that.
func (o *outbox) setAside(ctx context.Context, r *kgo.Record, reason string) error {
	o.env.Meter.Rejected(o.stage, reason)
	return o.client.ProduceSync(context.WithoutCancel(ctx), o.env.rejected(o.stage, r, reason)).FirstErr()
}

// guardedState is a state whose panics are errors.
type guardedState[S ledger.State] struct {
	ledger.State
	inner S
	log   *slog.Logger
}

// Apply folds an event. A panic ends the stage: what the fold has done by then
// is not known, and the ledger must not diverge.
func (s guardedState[S]) Apply(key string, body []byte, offset int64) (err error) {
	defer func() { err = s.panicked(recover(), err) }()
	return s.State.Apply(key, body, offset)
}

// panicked is err, or the error that a panic with this cause is.
func (s guardedState[S]) panicked(cause any, err error) error {
	if cause == nil {
		return err
	}
	s.log.Error("a ledger made its stage panic", "panic", fmt.Sprint(cause), "stack", stackTop())
	return fmt.Errorf("%w: %v", errPanic, cause)
}

// timer is err of a timer's decision; one that panicked would do so for ever.
func timer(what string, err error) error {
	if errors.Is(err, errPanic) {
		return fmt.Errorf("%w: %s: %w", ledger.ErrCorrupt, what, err)
	}
	return err
}

// guarded is stage, but that a panic in a decision on an input rejects that
// input, since decisions change nothing, and any other panic is a fatal error.
func guarded[S ledger.State](env Env, name topics.Stage, stage ledger.Stage[S]) ledger.Stage[guardedState[S]] {
	log := env.Logger.With("stage", name)
	safe := ledger.Stage[guardedState[S]]{
		Ledger: stage.Ledger,
		Open: func(partition int32, store ledger.Store) (guardedState[S], error) {
			s, err := stage.Open(partition, store)
			return guardedState[S]{s, s, log}, err
		},
		Tick: func(s guardedState[S], key string, now time.Time, offset int64) (event []byte, err error) {
			defer func() { err = timer("timer of "+key, s.panicked(recover(), err)) }()
			return stage.Tick(s.inner, key, now, offset)
		},
	}
	if stage.Begins != nil {
		safe.Begins = func(s guardedState[S], offset int64) { stage.Begins(s.inner, offset) }
	}
	if stage.Snapshot != nil {
		safe.Snapshot = func(s guardedState[S], now time.Time, offset int64) (event []byte, err error) {
			defer func() { err = timer("snapshot", s.panicked(recover(), err)) }()
			return stage.Snapshot(s.inner, now, offset)
		}
	}
	for _, in := range stage.Inputs {
		decide := in.Decide
		safe.Inputs = append(safe.Inputs, ledger.Input[guardedState[S]]{
			Topic: in.Topic, Events: in.Events,
			Decide: func(s guardedState[S], r ledger.Record, now time.Time, offset int64) (event []byte, err error) {
				defer func() {
					if cause := recover(); cause != nil {
						caught(log, cause, &kgo.Record{Topic: r.Topic, Offset: r.Offset})
						event, err = nil, &ledger.Rejection{Reason: reasonPanic}
					}
				}()
				return decide(s.inner, r, now, offset)
			},
		})
	}
	return safe
}
