package ledger

import (
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// An owner is killed with kill -9 at every point of an event's way. The next
// one loses no input, answers none twice, and its state is the ledger's.
func TestKilled(t *testing.T) {
	t.Parallel()
	for name, point := range map[string]struct {
		own owner
		arm func(w *world, p *process)
	}{
		"before the claim is appended": {arm: func(w *world, p *process) {
			w.onAppend(killAt(p, 1, lost))
		}},
		"claim appended, not acknowledged": {arm: func(w *world, p *process) {
			w.onAppend(killAt(p, 1, served))
		}},
		"before the event is appended": {arm: func(w *world, p *process) {
			w.onAppend(killAt(p, 3, lost))
		}},
		"event appended, not acknowledged": {arm: func(w *world, p *process) {
			w.onAppend(killAt(p, 3, served))
		}},
		"acknowledged, not committed": {arm: func(w *world, p *process) {
			w.onCommit(3, func() (kmsg.Response, error, bool) { p.kill(); return lost() })
		}},
		"committed, not in a checkpoint": {arm: func(w *world, p *process) {
			w.onCommit(3, func() (kmsg.Response, error, bool) { p.kill(); return served() })
		}},
		"checkpoint behind": {own: owner{CheckpointEvery: time.Nanosecond}, arm: func(w *world, p *process) {
			w.onAppend(func(n int) (kmsg.Response, error, bool) {
				if p.happened()[IncidentCheckpoint] < 2 {
					return nil, nil, false
				}
				p.kill()
				return served()
			})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := w.process(point.own)
			point.arm(w, p)
			p.start()
			inputs := w.produceUntil(closed(p.dead))
			w.evict()
			stop := w.start(w.options())
			w.produce(numbers(inputs, inputs+5)...)
			w.exactly(numbers(0, inputs+5))
			live := w.newest().dump()
			mustStop(t, stop)
			w.sameAsRebuilt(live)
		})
	}
}

// lost closes the connection instead of serving a request; served serves it.
func lost() (kmsg.Response, error, bool)   { return nil, errors.New("lost"), true }
func served() (kmsg.Response, error, bool) { return nil, nil, false }

// killAt kills p when it asks for the n-th append, before or after the broker
// did what it was asked for.
func killAt(p *process, at int, then func() (kmsg.Response, error, bool)) func(int) (kmsg.Response, error, bool) {
	return func(n int) (kmsg.Response, error, bool) {
		if n != at {
			return nil, nil, false
		}
		p.kill()
		return then()
	}
}

// onCommit calls fn for the first commit of an input's offset at or above from.
func (w *world) onCommit(from int64, fn func() (kmsg.Response, error, bool)) {
	w.cluster.ControlKey(int16(kmsg.OffsetCommit), func(req kmsg.Request) (kmsg.Response, error, bool) {
		for _, topic := range req.(*kmsg.OffsetCommitRequest).Topics {
			if topic.Partitions[0].Offset >= from {
				w.cluster.DropControl()
				return fn()
			}
		}
		w.cluster.KeepControl()
		return nil, nil, false
	})
}

// Whatever the broker answers to an append, each input has one valid event.
func TestBrokerAnswers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer  func(w *world)
		restart bool // the owner cannot know what became of the event
	}{
		"rejected":              {answer: fault(kerr.InvalidRecord), restart: true},
		"not authorized":        {answer: fault(kerr.TopicAuthorizationFailed), restart: true},
		"not leader":            {answer: fault(kerr.NotLeaderForPartition)},
		"appended, timed out":   {answer: fault(kerr.RequestTimedOut)},
		"appended, not in sync": {answer: fault(kerr.NotEnoughReplicasAfterAppend)},
		"connection lost before it is appended": {answer: func(w *world) {
			w.onAppend(func(n int) (kmsg.Response, error, bool) {
				if n != 3 {
					return nil, nil, false
				}
				return lost()
			})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			test.answer(w)
			stop := w.start(w.options())
			w.reaches(IncidentClaim, 1)
			const inputs = 50
			for i, v := range numbers(0, inputs) {
				w.produce(v)
				w.reaches(IncidentEvent, i+1) // several appends, not one batch
			}
			w.exactly(numbers(0, inputs))
			if test.restart {
				w.reaches(IncidentRestart, 1)
			}
			live := w.newest().dump()
			mustStop(t, stop)
			w.sameAsRebuilt(live)
		})
	}
}

// fault answers the third append to the ledger with err.
func fault(err *kerr.Error) func(w *world) {
	return func(w *world) {
		n := 0
		w.cluster.Fault(kfake.Fault{
			Keys: []kmsg.Key{kmsg.Produce}, Topic: ledgerTopic, Err: err,
			When: func(kmsg.Request) bool { n++; return n == 3 },
		})
	}
}
