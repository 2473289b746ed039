package sim

import (
	"errors"

	"github.com/weftcrawl/weft/ledger"
)

// claim makes the partition this life's, as ledger.Claiming says, one message
// after another.
func (t *table) claim() {
	t.out = newProducer(t.life)
	t.writer = t.w.bugs.writer(t, ledger.NewWriter(t.out, t.def.Ledger(), t.partition))
	claiming := ledger.NewClaiming(t.core, t.life.name, t.w.c.Embedded)
	if t.w.bugs.unclaimed(t) {
		claiming.Claimed(t.core.Folded().Offset)
	}
	t.nextStep(claiming)
}

// nextStep carries out what is due, and what follows it.
func (t *table) nextStep(claiming *ledger.Claiming) {
	if t.closing {
		return
	}
	step, err := claiming.Next()
	if err != nil {
		t.stop(err)
		return
	}
	l := t.w.cluster.log(step.Topic, t.partition)
	then := func() { t.nextStep(claiming) }
	switch step.Kind {
	case ledger.AppendClaim:
		t.writer.AppendClaim(step.Value, func(offset int64, err error) {
			if err != nil {
				t.stop(err)
				return
			}
			t.w.trace("%s claims %v at %d", t.life.name, t.ledger().place, offset)
			claiming.Claimed(offset)
			then()
		})
	case ledger.FoldTo:
		t.recover(step.Offset, then)
	case ledger.AskBounds:
		claiming.Bounded(step.Topic, ledger.Bounds{Start: l.start, End: l.seen})
		t.life.after(t.w.latency(), then)
	case ledger.AskStamp:
		if step.Offset < l.start || step.Offset >= l.seen {
			t.stop(errOutOfRange)
			return
		}
		claiming.Stamped(step.Topic, l.records[step.Offset].writtenMs)
		t.life.after(t.w.latency(), then)
	case ledger.AskCommit:
		claiming.Committed(step.Topic, t.member.group.committed(l.place))
		t.life.after(t.w.latency(), then)
	case ledger.SetInputs:
		t.next = t.w.bugs.resume(t, step.Next)
		for topic, offset := range step.Next {
			t.marks[t.at(topic)] = offset
		}
		claiming.InputsSet()
		then()
	case ledger.AppendReset:
		if !t.w.lossy {
			t.w.violate("reset", "%s sets positions of %v back, and nothing was lost", t.life.name, t.ledger().place)
		}
		t.writer.Append("", step.Value, func(_ int64, err error) {
			if err != nil {
				t.stop(err)
				return
			}
			claiming.ResetAppended()
			then()
		})
	case ledger.Owned:
		t.goLive()
	}
}

// errOutOfRange is an offset that is no more: trimmed, or cut, since it was
// heard of.
var errOutOfRange = errors.New("the offset is out of range")

// goLive begins to work on the inputs.
func (t *table) goLive() {
	t.live = true
	t.catchUp()
	for _, topic := range t.def.Inputs() {
		t.w.cluster.follow(t.at(topic), func() { t.wake() })
	}
	t.life.after(commitEvery, t.commit)
	t.wake()
	t.tick()
}

// catchUp lets timers wait for what was written while nobody read it.
func (t *table) catchUp() {
	ends := map[string]int64{}
	for _, topic := range t.def.TimersWaitFor() {
		if l := t.w.cluster.log(topic, t.partition); l.start < l.seen {
			ends[topic] = l.seen
		}
	}
	t.core.CatchUp(ends)
}
