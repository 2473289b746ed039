package ledger

import (
	"context"
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

// slowTape is a tape that acknowledges nothing before it is flushed.
type slowTape struct {
	tape
	waiting []func()
}

func (l *slowTape) Produce(ctx context.Context, r *kgo.Record, promise func(*kgo.Record, error)) {
	l.waiting = append(l.waiting, func() { l.tape.Produce(ctx, r, promise) })
}

func (l *slowTape) Flush(context.Context) error {
	for _, produce := range l.waiting {
		produce()
	}
	l.waiting = nil
	return nil
}

// Another owner has written, and the first acknowledgement that shows it comes
// with the flush of Close. The group is asked all the same.
func TestCloseThatFindsAnotherOwnerRejoins(t *testing.T) {
	log := &slowTape{tape: tape{before: func(n int) (int64, error) { return int64(n - 1), nil }}}
	rejoined := 0
	r := &runner{rejoin: func() { rejoined++ }}
	tab := &table{run: r, dir: t.TempDir(), writer: NewWriter(log, "t", 0)}
	tab.writer.AppendClaim(nil, func(int64, error) {})
	check(t, log.Flush(t.Context()))
	appendAll(tab.writer, 1)
	check(t, tab.writer.Err())
	if err := tab.Close(); !errors.Is(err, ErrFenced) {
		t.Errorf("closed with %v", err)
	}
	if rejoined != 1 {
		t.Errorf("the group was asked %d times, want once", rejoined)
	}
}
