package ledger

import (
	"context"
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

// tape is a Log in memory that acknowledges at once. Before each record it
// calls before, which may refuse it or let others write.
type tape struct {
	end    int64
	before func(n int) (others int64, err error)
	n      int
}

func (l *tape) Produce(_ context.Context, r *kgo.Record, promise func(*kgo.Record, error)) {
	l.n++
	if l.before != nil {
		others, err := l.before(l.n)
		l.end += others
		if err != nil {
			promise(r, err)
			return
		}
	}
	r.Offset = l.end
	l.end++
	promise(r, nil)
}

func (l *tape) Flush(context.Context) error { return nil }
func (l *tape) Close()                      {}

func appendAll(w *Writer, n int) (accepted int, errs []error) {
	for range n {
		w.Append("k", []byte("v"), func(_ int64, err error) {
			if err == nil {
				accepted++
			} else {
				errs = append(errs, err)
			}
		})
	}
	return accepted, errs
}

// Rule 2: a refused event 3 may not be followed by accepted ones.
func TestRule2WriterIsFailStop(t *testing.T) {
	refused := errors.New("refused")
	log := &tape{before: func(n int) (int64, error) {
		if n == 3 { // the claim is the first
			return 0, refused
		}
		return 0, nil
	}}
	w := NewWriter(log, "t", 0)
	if _, err := w.Claim(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	accepted, errs := appendAll(w, 8)
	if accepted != 1 || len(errs) != 7 || log.end != 2 {
		t.Errorf("%d accepted, %d failed, log ends at %d; want 1, 7, 2", accepted, len(errs), log.end)
	}
	for _, err := range errs {
		if !errors.Is(err, refused) {
			t.Errorf("failed with %v instead of the first error", err)
		}
	}
}

// Rule 5: a gap in the acknowledged offsets means another owner.
func TestWriterStopsAtGap(t *testing.T) {
	log := &tape{end: 40, before: func(n int) (int64, error) {
		if n == 4 {
			return 1, nil
		}
		return 0, nil
	}}
	w := NewWriter(log, "t", 0)
	offset, err := w.Claim(t.Context(), nil)
	if err != nil || offset != 40 {
		t.Fatalf("claim at %d: %v", offset, err)
	}
	accepted, errs := appendAll(w, 5)
	if accepted != 2 || len(errs) != 3 || !errors.Is(errs[0], ErrFenced) || w.Acked() != 42 {
		t.Errorf("%d accepted, errors %v, acked %d; want 2, ErrFenced, 42", accepted, errs, w.Acked())
	}
}

func TestPoisonedWriterAppendsNothing(t *testing.T) {
	log := new(tape)
	w := NewWriter(log, "t", 0)
	broken := errors.New("store is broken")
	w.Poison(broken)
	w.Poison(errors.New("later"))
	if accepted, errs := appendAll(w, 1); accepted != 0 || !errors.Is(errs[0], broken) || log.n != 0 {
		t.Errorf("accepted %d, %v, %d reached the log", accepted, errs, log.n)
	}
}
