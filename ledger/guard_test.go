package ledger

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// fragile is a state that panics where it is told to.
type fragile struct {
	decide, fold, tick, snapshot func()
	begins                       *int64
}

func run(f func()) {
	if f != nil {
		f()
	}
}

func (s fragile) Decide(InputRecord, time.Time, int64) ([]byte, error) {
	run(s.decide)
	return []byte("event"), nil
}
func (s fragile) Apply(string, []byte, int64) error { run(s.fold); return nil }
func (fragile) Due(time.Time, int) []string         { return nil }
func (s fragile) Tick(string, time.Time, int64) ([]byte, error) {
	run(s.tick)
	return []byte("tick"), nil
}
func (s fragile) Snapshot(time.Time, int64) ([]byte, error) {
	run(s.snapshot)
	return []byte("snapshot"), nil
}
func (s fragile) Begins(offset int64) { *s.begins = offset }
func (fragile) Close()                {}

// told is a panic that a partition told of.
type told struct {
	cause  any
	topic  string
	offset int64
}

// guarded is a live partition of s that recovers from panics.
func guarded(t *testing.T, s fragile) (p *Partition, panics *[]told) {
	t.Helper()
	begins := int64(0)
	s.begins, panics = &begins, new([]told)
	p, err := NewPartition(Processor{
		Ledger: "l", Inputs: []Input{{Topic: "in"}}, Open: func(int32, Store) (State, error) { return s, nil },
	}, 3, sound{}, Nothing(), PartitionOptions{Panicked: func(cause any, topic string, offset int64) {
		*panics = append(*panics, told{cause, topic, offset})
	}})
	check(t, err)
	check(t, p.Fold("", ClaimOf("a"), 0))
	// A stage that did not know where its ledger begins waited for visits that a repair had cut
	// off.
	if p.Live(7); begins != 7 {
		t.Errorf("the state was told that the ledger begins at %d", begins)
	}
	return p, panics
}

func bug() { panic("what a bug") }

// All that the state says passes the guard.
func TestGuardedPartitionsLackNothing(t *testing.T) {
	p, panics := guarded(t, fragile{})
	for _, decided := range []struct {
		want   string
		decide func() ([]byte, error)
	}{
		{"event", func() ([]byte, error) { return p.Answer(InputRecord{Topic: "in", Offset: 1}, time.Time{}) }},
		{"tick", func() ([]byte, error) { return p.Tick("k.example", time.Time{}) }},
		{"snapshot", func() ([]byte, error) { return p.Tick(carryKey, time.Time{}) }},
	} {
		event, err := decided.decide()
		check(t, err)
		if ev, err := decode(event, "l", 3, 1); err != nil || string(ev.Body) != decided.want {
			t.Errorf("%s: got %v, %v", decided.want, ev, err)
		}
	}
	if len(*panics) > 0 {
		t.Errorf("it panicked: %v", *panics)
	}
}

func TestPanicOfADecisionIsARejection(t *testing.T) {
	p, panics := guarded(t, fragile{decide: bug})
	event, err := p.Answer(InputRecord{Topic: "in", Offset: 5}, time.Time{})
	var rejected *Rejection
	if event != nil || !errors.As(err, &rejected) || rejected.Reason != ReasonPanic {
		t.Errorf("got %q, %v", event, err)
	}
	if len(*panics) != 1 || (*panics)[0] != (told{"what a bug", "in", 5}) {
		t.Errorf("it told of %v", *panics)
	}
}

func TestPanicOfATimerIsFatal(t *testing.T) {
	p, _ := guarded(t, fragile{tick: bug, snapshot: bug})
	for key, what := range map[string]string{"k.example": "k.example", carryKey: "snapshot"} {
		if _, err := p.Tick(key, time.Now()); !errors.Is(err, ErrCorrupt) || !errors.Is(err, ErrPanic) || !strings.Contains(err.Error(), what) {
			t.Errorf("got %v", err)
		}
	}
}

func TestPanicOfAFoldIsFatal(t *testing.T) {
	p, _ := guarded(t, fragile{fold: bug})
	event, err := p.Answer(InputRecord{Topic: "in"}, time.Time{})
	check(t, err)
	if err := p.FoldNext("k.example", event, time.Now()); !errors.Is(err, ErrCorrupt) || !errors.Is(err, ErrPanic) || !strings.Contains(err.Error(), "l/3 at 1") {
		t.Errorf("got %v", err)
	}
}

// A partition without a place to tell of panics does not recover from them.
func TestUnguardedPartitionsPanic(t *testing.T) {
	p, _ := guarded(t, fragile{decide: bug})
	p.opts.Panicked = nil
	defer func() {
		if recover() == nil {
			t.Error("the panic is lost")
		}
	}()
	_, _ = p.Answer(InputRecord{Topic: "in"}, time.Time{})
}
