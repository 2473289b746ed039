package ledger

import (
	"slices"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// Rule 5: a claim fences every earlier writer. A zombie's event after a newer claim is dropped
// by every fold, the owner notices the gap, claims again, and nothing is lost or doubled.
func TestRule5FencingByClaim(t *testing.T) {
	t.Parallel()
	w := worked(t, numbers(0, 5)...) // the zombie's life, epoch 1
	stop := w.start(w.options())
	w.reaches(IncidentClaim, 2)
	zombie := encode(&weftpb.Event{Epoch: 1, Offset: w.end(), Body: []byte("undead"), Positions: []*weftpb.Position{{Topic: inTopic, Offset: 99}}})
	check(t, w.client.ProduceSync(t.Context(), &kgo.Record{Topic: ledgerTopic, Value: zombie}).FirstErr())
	w.produce(numbers(5, 10)...)
	w.reaches(IncidentClaim, 3) // after the gap
	w.produce(numbers(10, 15)...)
	// The event that showed the gap is in the log, but not where its owner
	// meant it to be: it does not count, and its input is decided again.
	w.exactly(numbers(0, 15))
	if w.newest().count("undead") != 0 {
		t.Error("the zombie's event was applied")
	}
	mustStop(t, stop)
}

// Two owners run at once: the group forgets the first, which is not told.
func TestTwoOwnersAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, stopA := w.another("a")
	a.reaches(IncidentClaim, 1)
	w.produce(numbers(0, 5)...)
	valid(w, 5)
	w.deceive()
	w.evict()
	b, stopB := w.another("b")
	b.reaches(IncidentClaim, 1)
	claim := w.end() - 1
	if now := a.happened(); now[IncidentRestart] > 0 || now[IncidentClaim] > 1 {
		t.Fatalf("the first owner noticed: %v", now)
	}
	w.produce(numbers(5, 20)...)
	a.reaches(IncidentRestart, 1)
	w.exactly(numbers(0, 20))
	after := w.events(nil)[claim:]
	if !slices.ContainsFunc(after, func(ev *weftpb.Event) bool { return ev.Epoch == 1 }) {
		t.Error("the first owner wrote nothing after the claim of the second")
	}
	mustStop(t, stopA)
	w.produce(numbers(20, 25)...)
	w.exactly(numbers(0, 25))
	live := w.newest().dump()
	mustStop(t, stopB)
	w.sameAsRebuilt(live)
}

// another starts a further owner, on a machine of its own.
func (w *world) another(member string) (*tally, func() error) {
	w.t.Helper()
	o, own := w.options(), newTally(w.t)
	o.Dir, o.Member, o.Observe = w.t.TempDir(), member, own.observe
	return own, w.start(o)
}

// deceive lets the members that the group has now believe that all is well:
// their heartbeats and commits are answered and not served.
func (w *world) deceive() {
	deceived := map[string]bool{}
	for _, m := range w.cluster.GroupInfo(ledgerTopic).Members {
		deceived[m.MemberID] = true
	}
	w.cluster.ControlKey(int16(kmsg.Heartbeat), func(req kmsg.Request) (kmsg.Response, error, bool) {
		w.cluster.KeepControl()
		return req.ResponseKind(), nil, deceived[req.(*kmsg.HeartbeatRequest).MemberID]
	})
	w.cluster.ControlKey(int16(kmsg.OffsetCommit), func(req kmsg.Request) (kmsg.Response, error, bool) {
		w.cluster.KeepControl()
		r := req.(*kmsg.OffsetCommitRequest)
		resp := req.ResponseKind().(*kmsg.OffsetCommitResponse)
		for _, rt := range r.Topics {
			topic := kmsg.NewOffsetCommitResponseTopic()
			topic.Topic = rt.Topic
			for _, rp := range rt.Partitions {
				partition := kmsg.NewOffsetCommitResponseTopicPartition()
				partition.Partition = rp.Partition
				topic.Partitions = append(topic.Partitions, partition)
			}
			resp.Topics = append(resp.Topics, topic)
		}
		return resp, nil, deceived[r.MemberID]
	})
}

// An owner is stopped in the middle of an append, sleeps until another one has
// its partition, and wakes up. The group's time-out is not waited for: the
// test tells the group what a minute would.
func TestOldOwnerWakes(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]func(wait func()) (kmsg.Response, error, bool){
		"its append comes late": func(wait func()) (kmsg.Response, error, bool) { wait(); return served() },
		"its append is sent again": func(wait func()) (kmsg.Response, error, bool) {
			wait()
			return lost()
		},
		"its append was served": func(func()) (kmsg.Response, error, bool) { return served() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			old := w.process(owner{Dir: t.TempDir(), Member: "winner"})
			asleep, awake := make(chan struct{}), make(chan struct{})
			w.onAppend(func(n int) (kmsg.Response, error, bool) {
				if n != 3 {
					return nil, nil, false
				}
				old.freeze()
				close(asleep)
				return after(func() { w.cluster.SleepControl(func() { <-awake }) })
			})
			old.start()
			old.reaches(IncidentClaim, 1)
			inputs := w.produceUntil(closed(asleep))
			w.evict()
			young, stop := w.another("other")
			young.reaches(IncidentClaim, 1)
			w.produce(numbers(inputs, inputs+5)...)
			valid(w, inputs+5)
			close(awake)
			old.thaw()
			// It has noticed, and begins anew when it gets the partition again.
			w.produce(numbers(inputs+5, inputs+10)...)
			w.exactly(numbers(0, inputs+10))
			mustStop(t, stop)
			old.reaches(IncidentClaim, 2)
			w.produce(numbers(inputs+10, inputs+15)...)
			w.exactly(numbers(0, inputs+15))
			old.kill()
			w.evict()
			last, stop := w.another("last")
			last.reaches(IncidentClaim, 1)
			live := w.newest().dump()
			mustStop(t, stop)
			w.sameAsRebuilt(live)
		})
	}
}

// What another owner wrote validly between our recovery and our claim is
// folded before anything is decided.
func TestClaimWrittenLate(t *testing.T) {
	t.Parallel()
	w := worked(t, "0")

	// The next owner's claim is held back while the former one writes "1" for
	// the next input.
	const epoch = 1
	wrote := make(chan error, 1)
	var held atomic.Bool
	w.cluster.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		w.cluster.KeepControl()
		if held.CompareAndSwap(false, true) {
			w.cluster.SleepControl(func() { wrote <- w.produceAs(epoch, "1", 1) })
		}
		return nil, nil, false
	})
	stop := w.start(w.options())
	check(t, <-wrote)
	w.produce("1", "2")
	w.exactly([]string{"0", "1", "2"})
	mustStop(t, stop)
}

// produceAs writes an event for input offset as the owner of epoch would, on
// connections of its own.
func (w *world) produceAs(epoch int64, body string, input int64) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(w.brokers...), kgo.DisableIdempotentWrite())
	if err != nil {
		return err
	}
	defer client.Close()
	value := encode(&weftpb.Event{Epoch: epoch, Offset: w.end(), Body: []byte(body), Positions: []*weftpb.Position{{Topic: inTopic, Offset: input}}})
	return client.ProduceSync(w.t.Context(), &kgo.Record{Topic: ledgerTopic, Value: value}).FirstErr()
}

// A claim that comes when its owner is gone and the next one is at work costs
// that one a claim more, and no event.
func TestClaimOfTheDeadComesLate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dead := w.process(owner{Dir: t.TempDir(), Member: "dead"})
	held, letGo := make(chan struct{}), make(chan struct{})
	w.onAppend(func(n int) (kmsg.Response, error, bool) {
		if n == 1 {
			dead.kill()
			close(held)
			w.cluster.SleepControl(func() { <-letGo })
		}
		return served()
	})
	dead.start()
	<-held
	w.evict()
	next, stop := w.another("next")
	w.produce(numbers(0, 5)...)
	w.exactly(numbers(0, 5))
	end := w.end()
	close(letGo)
	w.events(func(all []*weftpb.Event) bool { return int64(len(all)) > end })
	w.produce(numbers(5, 10)...)
	next.reaches(IncidentClaim, 2)
	w.exactly(numbers(0, 10))
	if got, want := w.owners(), []string{"next", "dead", "next"}; !slices.Equal(got, want) {
		t.Errorf("claims of %q, want %q", got, want)
	}
	live := w.newest().dump()
	mustStop(t, stop)
	w.sameAsRebuilt(live)
}

// owners are those who claimed, in order.
func (w *world) owners() (owners []string) {
	w.t.Helper()
	for _, ev := range w.events(nil) {
		if ev.Claim != nil {
			owners = append(owners, ev.Claim.Owner)
		}
	}
	return owners
}
