package ledger

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Rule 3: the ledger says where to go on, whatever the group has committed.
func TestRule3LedgerSaysWhereToGoOn(t *testing.T) {
	t.Parallel()
	for name, commit := range map[string]int64{"commit behind": 0, "commit ahead": 30} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worked(t, numbers(0, 10)...)
			w.produce(numbers(10, 30)...)
			var offsets kadm.Offsets
			offsets.AddOffset(inTopic, 0, commit, -1)
			check(t, w.admin.CommitAllOffsets(t.Context(), ledgerTopic, offsets))
			stop := w.start(w.options())
			w.exactly(numbers(0, 30))
			mustStop(t, stop)
		})
	}
}

// An input at or below the position was folded: it is skipped, even if the
// session delivers it again.
func TestRedeliveredInputIsSkipped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	skipped := newTally(t)
	p, err := NewPartition(w.stage(), 0, memory{}, Nothing(), PartitionOptions{Observe: skipped.add})
	check(t, err)
	check(t, p.Fold("", ClaimOf("m1"), 0))
	p.Live(0)
	answer := func(offset int64, value string) string {
		t.Helper()
		event, err := p.Answer(InputRecord{Topic: inTopic, Key: "k", Value: []byte(value), Offset: offset}, time.Time{})
		check(t, err)
		if event == nil {
			return ""
		}
		check(t, p.FoldNext("k", event, time.Time{}))
		ev, err := decode(event, ledgerTopic, 0, 0)
		check(t, err)
		return string(ev.Body)
	}
	for i, step := range []struct {
		offset      int64
		value, want string
	}{
		{0, "a", "a"}, {1, "skip", ""}, {2, "b", "b"},
		{1, "again", ""}, {2, "again", ""}, {0, "again", ""}, {3, "c", "c"},
	} {
		if got := answer(step.offset, step.value); got != step.want {
			t.Errorf("step %d: event %q, want %q", i, got, step.want)
		}
	}
	if n := skipped.happened()[IncidentRedelivery]; n != 3 {
		t.Errorf("%d redeliveries seen, want 3", n)
	}
}

// Inputs that make no event move positions all the same: the commit reaches
// the end of the log, and a new owner does not see them again.
func TestInputsWithoutEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stop := w.start(w.options())
	w.produce("a", "skip", "skip", "skip")
	w.untilCommitted(4)
	mustStop(t, stop)
	positions := w.rebuiltPositions()
	if positions[inTopic].Offset != 3 {
		t.Errorf("positions rebuilt from the ledger: %v, want 3", positions)
	}
}

// untilCommitted waits until the group has committed the input up to next.
func (w *world) untilCommitted(next int64) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		info := w.cluster.GroupInfo(ledgerTopic)
		if info != nil && info.Commits[inTopic][0].Offset == next {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("the commit never reached %d: %+v", next, info)
		}
	}
}

// rebuiltPositions are the positions that the ledger carries.
func (w *world) rebuiltPositions() map[string]Position {
	w.t.Helper()
	p, err := NewPartition(w.stage(), 0, memory{}, Nothing(), PartitionOptions{})
	check(w.t, err)
	for offset, ev := range w.events(nil) {
		check(w.t, p.Fold("k", encode(ev), int64(offset)))
	}
	return p.Folded().Positions
}

// An input that was trimmed beyond the position has lost something: fatal and
// named, at the start and while running.
func TestInputExpired(t *testing.T) {
	t.Parallel()
	t.Run("before the start", func(t *testing.T) {
		t.Parallel()
		w := worked(t, numbers(0, 5)...)
		w.produce(numbers(5, 10)...)
		check(t, w.cluster.DeleteRecords(inTopic, 0, 8))
		w.endsWith(w.runs(w.options()), ErrInputLost, inTopic+"/0 holds 8 to 10")
	})
	t.Run("while running", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ended := make(chan error, 1)
		go func() { ended <- w.runs(w.options()) }()
		w.produce(numbers(0, 5)...)
		valid(w, 5)
		id := w.cluster.TopicInfo(inTopic).TopicID
		w.cluster.ControlKey(int16(kmsg.Fetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
			w.cluster.KeepControl()
			r := req.(*kmsg.FetchRequest)
			if len(r.Topics) > 0 && (r.Topics[0].Topic == inTopic || r.Topics[0].TopicID == id) && r.Topics[0].Partitions[0].FetchOffset == 5 {
				w.cluster.DropControl()
				w.cluster.SleepControl(func() {
					w.produce(numbers(5, 10)...)
					check(t, w.cluster.DeleteRecords(inTopic, 0, 8))
				})
			}
			return nil, nil, false
		})
		w.endsWith(<-ended, ErrInputLost, inTopic+"/0 holds 8 to 10")
	})
}

// endsWith checks why a stage ended.
func (w *world) endsWith(err, want error, text string) {
	w.t.Helper()
	if !errors.Is(err, want) || !strings.Contains(err.Error(), text) {
		w.t.Errorf("ended with %v, want %v: %s", err, want, text)
	}
}

// An input whose log was cut by the broker's unclean end is gone on with at
// its end on the embedded broker, by an event that says so; a cluster's is
// fatal.
func TestInputCutShort(t *testing.T) {
	t.Parallel()
	for _, embedded := range []bool{true, false} {
		t.Run("embedded="+strconv.FormatBool(embedded), func(t *testing.T) {
			t.Parallel()
			w := worked(t, numbers(0, 10)...)
			_, err := w.admin.DeleteTopic(t.Context(), inTopic)
			check(t, err)
			_, err = w.admin.CreateTopic(t.Context(), 1, 1, nil, inTopic)
			check(t, err)
			o := w.options()
			o.Embedded = embedded
			if !embedded {
				w.endsWith(w.runs(o), ErrInputLost, inTopic+"/0 holds 0 to 0")
				return
			}
			stop := w.start(o)
			w.reaches(IncidentClaim, 2)
			w.client.PurgeTopicsFromClient(inTopic) // forget the deleted topic's id
			w.produce("after")
			w.exactly(append(numbers(0, 10), "after"))
			mustStop(t, stop)
		})
	}
}
