package ledger

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// idle is a state that nothing changes.
type idle struct{ Untimed }

func (idle) Decide(InputRecord, time.Time, int64) ([]byte, error) { return nil, nil }
func (idle) Apply(string, []byte, int64) error                    { return nil }
func (idle) Due(time.Time, int) []string                          { return []string{"key"} }

// sound is a store without trouble, and without contents.
type sound struct{ Store }

func (sound) Err() error { return nil }

// reader is a partition that is folded to offset 4 and has read its input to 9.
func reader(t *testing.T) *Partition {
	t.Helper()
	proc := Processor{
		Ledger: "out", Inputs: []Input{{Topic: "in"}, {Topic: "upstream", Events: true}},
		Open: func(int32, Store) (State, error) { return idle{}, nil },
	}
	p, err := NewPartition(proc, 0, sound{}, Folded{
		Offset: 4, Epoch: 1, Positions: map[string]Position{"in": {Offset: 9, TimestampMS: 900}},
	}, PartitionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The order in which an owner makes a partition its own, and what it asks
// before it believes that its inputs are what it folded.
func TestClaimingSteps(t *testing.T) {
	const usual = "claim, fold 6, bounds in, bounds upstream, bounds out, "
	for _, c := range []struct {
		name    string
		log     Bounds // of in
		stamp   int64  // of the record at 9
		commit  int64
		cluster bool
		want    string
		err     error
	}{
		{name: "as it was", log: Bounds{End: 12}, stamp: 900, want: usual + "stamp in 9, set in=10 upstream=0, owned"},
		{name: "read and trimmed", log: Bounds{Start: 10, End: 12}, want: usual + "set in=10 upstream=0, owned"},
		{name: "cut", log: Bounds{End: 7}, commit: 6, want: usual + "commit in, set in=6 upstream=0 lost in 6, reset, owned"},
		{name: "cut and written again", log: Bounds{End: 12}, stamp: 901, commit: 6, want: usual + "stamp in 9, commit in, set in=6 upstream=0 lost in 6, reset, owned"},
		{name: "the ledger lost its end", log: Bounds{Start: 11, End: 12}, commit: 11, want: usual + "commit in, set in=11 upstream=0 lost in -1, reset, owned"},
		{name: "trimmed too far", log: Bounds{Start: 11, End: 12}, commit: 3, want: usual + "commit in, ", err: ErrInputLost},
		{name: "cut, on a cluster", log: Bounds{End: 7}, commit: 6, cluster: true, want: usual + "commit in, ", err: ErrInputLost},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := reader(t)
			claiming := NewClaiming(p, "me", !c.cluster)
			var steps strings.Builder
			err := follow(t, claiming, p, &steps, c.log, c.stamp, c.commit)
			if steps.String() != c.want || !errors.Is(err, c.err) {
				t.Errorf("got  %s (%v)\nwant %s (%v)", steps.String(), err, c.want, c.err)
			}
			if due := p.Due(time.Unix(0, 0)); (c.err == nil) != (len(due) > 0) {
				t.Errorf("%q is due of a partition that is owned: %v", due, c.err == nil)
			}
		})
	}
}

// follow carries steps out until there is no other.
func follow(t *testing.T, c *Claiming, p *Partition, said *strings.Builder, in Bounds, stamp, commit int64) error {
	t.Helper()
	for range 20 {
		step, err := c.Next()
		if err != nil {
			return err
		}
		if again, err := c.Next(); err != nil || fmt.Sprint(again) != fmt.Sprint(step) {
			t.Fatalf("it says %v, then %v (%v)", step, again, err)
		}
		switch step.Kind {
		case AppendClaim:
			said.WriteString("claim, ")
			c.Claimed(5)
		case FoldTo:
			fmt.Fprintf(said, "fold %d, ", step.Offset)
			if err := p.Fold("", ClaimOf("me"), 5); err != nil {
				t.Fatal(err)
			}
		case AskBounds:
			fmt.Fprintf(said, "bounds %s, ", step.Topic)
			c.Bounded(step.Topic, map[string]Bounds{"in": in, "out": {End: 6}}[step.Topic])
		case AskStamp:
			fmt.Fprintf(said, "stamp %s %d, ", step.Topic, step.Offset)
			c.Stamped(step.Topic, stamp)
		case AskCommit:
			fmt.Fprintf(said, "commit %s, ", step.Topic)
			c.Committed(step.Topic, commit)
		case SetInputs:
			fmt.Fprintf(said, "set in=%d upstream=%d", step.Next["in"], step.Next["upstream"])
			for _, l := range step.Losses {
				fmt.Fprintf(said, " lost %s %d", l.Topic, l.Intact)
			}
			said.WriteString(", ")
			c.InputsSet()
		case AppendReset:
			said.WriteString("reset, ")
			c.ResetAppended()
		case Owned:
			said.WriteString("owned")
			return nil
		}
	}
	t.Fatal("no end of steps")
	return nil
}

// Nothing is due until the inputs that are no ledgers are read as far as they
// went when the partition began.
func TestTimersWaitUntilInputsAreRead(t *testing.T) {
	p := reader(t)
	p.Live(0)
	if waits := p.proc.TimersWaitFor(); !slices.Equal(waits, []string{"in"}) {
		t.Fatalf("timers wait for %q", waits)
	}
	p.CatchUp(map[string]int64{"in": 12})
	p.Rejected("in", 10)
	if due := p.Due(time.Unix(0, 0)); len(due) > 0 {
		t.Errorf("%q is due with a record unread", due)
	}
	p.Rejected("in", 11)
	if due := p.Due(time.Unix(0, 0)); len(due) == 0 {
		t.Error("nothing is due with everything read")
	}
}
