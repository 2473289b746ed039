package sim

import (
	"errors"

	"github.com/weftcrawl/weft/ledger"
)

// claim claims the partition for this instance, in the steps of ledger.Claiming.
func (t *table) claim() {
	t.out = newProducer(t.instance)
	t.writer = t.w.bugs.writer(t, ledger.NewWriter(t.out, t.def.Ledger, t.partition))
	claiming := ledger.NewClaiming(t.core, t.instance.name, t.w.c.Embedded)
	if t.w.bugs.unclaimed(t) {
		claiming.Claimed(t.core.Folded().Offset)
	}
	t.nextStep(claiming)
}

// nextStep does the next step of the claim, and those that follow.
func (t *table) nextStep(claiming *ledger.Claiming) {
	if t.closing {
		return
	}
	step, err := claiming.Next()
	if err != nil {
		t.fail(err)
		return
	}
	l := t.w.cluster.log(step.Topic, t.partition)
	then := func() { t.nextStep(claiming) }
	switch step.Kind {
	case ledger.AppendClaim:
		t.writer.AppendClaim(step.Value, func(offset int64, err error) {
			if err != nil {
				t.fail(err)
				return
			}
			t.w.trace("%s claims %v at %d", t.instance.name, t.ledger().topicPartition, offset)
			claiming.Claimed(offset)
			then()
		})
	case ledger.FoldTo:
		t.recover(step.Offset, then)
	case ledger.AskBounds:
		claiming.Bounded(step.Topic, ledger.Bounds{Start: l.start, End: l.highWatermark})
		t.instance.after(t.w.latency(), then)
	case ledger.AskStamp:
		if step.Offset < l.start || step.Offset >= l.highWatermark {
			t.fail(errOutOfRange)
			return
		}
		claiming.Stamped(step.Topic, l.records[step.Offset].writtenMs)
		t.instance.after(t.w.latency(), then)
	case ledger.AskCommit:
		claiming.Committed(step.Topic, t.member.group.committed(l.topicPartition))
		t.instance.after(t.w.latency(), then)
	case ledger.SetInputs:
		t.next = t.w.bugs.resume(t, step.Next)
		for topic, offset := range step.Next {
			t.toCommit[topic] = offset
		}
		claiming.InputsSet()
		then()
	case ledger.AppendReset:
		if !t.w.lostAcknowledged {
			t.w.violate("reset", "%s sets positions of %v back, and nothing was lost", t.instance.name, t.ledger().topicPartition)
		}
		t.writer.Append("", step.Value, func(_ int64, err error) {
			if err != nil {
				t.fail(err)
				return
			}
			claiming.ResetAppended()
			then()
		})
	case ledger.Owned:
		t.goLive()
	}
}

// errOutOfRange means that an offset was trimmed or cut since it was read.
var errOutOfRange = errors.New("the offset is out of range")

// goLive begins to work on the inputs.
func (t *table) goLive() {
	t.live = true
	t.catchUp()
	for _, topic := range t.def.InputTopics() {
		t.w.cluster.subscribe(t.at(topic), func() { t.wake() })
	}
	t.instance.after(commitEvery, t.commit)
	t.wake()
	t.tick()
}

// catchUp makes timers wait for the records that were written and not read.
func (t *table) catchUp() {
	ends := map[string]int64{}
	for _, topic := range t.def.TimersWaitFor() {
		if l := t.w.cluster.log(topic, t.partition); l.start < l.highWatermark {
			ends[topic] = l.highWatermark
		}
	}
	t.core.CatchUp(ends)
}
