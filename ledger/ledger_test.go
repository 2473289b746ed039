package ledger

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/dirlock"
)

// valid returns the bodies of the events that a fold applies, once there are
// n of them.
func valid(w *world, n int) (out []string) {
	w.t.Helper()
	w.events(func(all []*weftpb.Event) bool {
		var r Reader
		out = nil
		for offset, ev := range all {
			if read, err := r.Read(encode(ev), ledgerTopic, 0, int64(offset)); err != nil {
				w.t.Fatal(err)
			} else if read != nil && len(read.Body) > 0 {
				out = append(out, string(read.Body))
			}
		}
		return len(out) >= n
	})
	return out
}

func numbers(from, to int) (out []string) {
	for i := from; i < to; i++ {
		out = append(out, strconv.Itoa(i))
	}
	return out
}

func mustStop(t *testing.T, stop func() error) {
	t.Helper()
	if err := stop(); err != nil {
		t.Fatal(err)
	}
}

func TestEventsFollowInputs(t *testing.T) {
	w := newWorld(t)
	stop := w.start(w.options())
	w.produce("a", "b", "skip", "bad", "a")
	if got, want := valid(w, 3), []string{"a", "b", "a"}; !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
	mustStop(t, stop)
	if want := []string{"bad:bad"}; !slices.Equal(w.rejected, want) {
		t.Errorf("rejected %q, want %q", w.rejected, want)
	}
}

// Rule 1: recovery from an empty disk gives, key by key, the state that was.
func TestRecoveryEqualsLive(t *testing.T) {
	w := newWorld(t)
	w.produce(slices.Concat(numbers(0, 300), numbers(100, 150))...)
	stop := w.start(w.options())
	valid(w, 350)
	live := w.newest().dump()
	mustStop(t, stop)

	o := w.options()
	o.Dir = t.TempDir()
	stop = w.start(o)
	w.until("the second claim", func(h map[string]int) bool { return h[HappenedClaim] == 2 })
	recovered := w.newest().dump()
	mustStop(t, stop)
	if len(live) != 300 {
		t.Fatalf("%d keys live", len(live))
	}
	if d := cmp.Diff(live, recovered); d != "" {
		t.Errorf("live and recovered state differ:\n%s", d)
	}
}

// Rule 2 on a broker: an event that it refuses is decided again, none is lost,
// and none is written twice.
func TestRefusedEventIsDecidedAgain(t *testing.T) {
	w := newWorld(t)
	produced := 0
	w.cluster.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
		w.cluster.KeepControl()
		r := req.(*kmsg.ProduceRequest)
		id := w.cluster.TopicInfo(ledgerTopic).TopicID
		if r.Topics[0].Topic != ledgerTopic && r.Topics[0].TopicID != id {
			return nil, nil, false
		}
		if produced++; produced != 3 { // claim, first events, then
			return nil, nil, false
		}
		return refuse(r, kerr.InvalidRecord.Code), nil, true
	})
	stop := w.start(w.options())
	w.until("the claim", func(h map[string]int) bool { return h[HappenedClaim] == 1 })
	for _, v := range numbers(0, 20) {
		w.produce(v)
		time.Sleep(2 * time.Millisecond) // several produce requests, not one batch
	}
	if got := valid(w, 20); !slices.Equal(got, numbers(0, 20)) {
		t.Errorf("events %q", got)
	}
	w.until("a restart", func(h map[string]int) bool { return h[HappenedRestart] >= 1 })
	mustStop(t, stop)
}

func refuse(r *kmsg.ProduceRequest, code int16) kmsg.Response {
	resp := r.ResponseKind().(*kmsg.ProduceResponse)
	for _, rt := range r.Topics {
		t := kmsg.NewProduceResponseTopic()
		t.Topic, t.TopicID = rt.Topic, rt.TopicID
		for _, rp := range rt.Partitions {
			p := kmsg.NewProduceResponseTopicPartition()
			p.Partition, p.ErrorCode = rp.Partition, code
			t.Partitions = append(t.Partitions, p)
		}
		resp.Topics = append(resp.Topics, t)
	}
	return resp
}

// Rule 3: the ledger says where to go on, whatever the group has committed.
func TestPositionsBeatCommits(t *testing.T) {
	for name, commit := range map[string]int64{"behind": 0, "ahead": 30} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			stop := w.start(w.options())
			w.produce(numbers(0, 10)...)
			valid(w, 10)
			mustStop(t, stop)
			w.produce(numbers(10, 30)...)
			var offsets kadm.Offsets
			offsets.AddOffset(inTopic, 0, commit, -1)
			if err := w.admin.CommitAllOffsets(t.Context(), ledgerTopic, offsets); err != nil {
				t.Fatal(err)
			}
			stop = w.start(w.options())
			if got := valid(w, 30); !slices.Equal(got, numbers(0, 30)) {
				t.Errorf("events %q", got)
			}
			mustStop(t, stop)
		})
	}
}

// Inputs that make no event move positions all the same, so that the commit
// reaches the end of the log.
func TestPositionsMoveWithoutEvents(t *testing.T) {
	w := newWorld(t)
	stop := w.start(w.options())
	w.produce("a", "skip", "skip", "skip")
	deadline := time.Now().Add(20 * time.Second)
	for {
		offsets, err := w.admin.FetchOffsets(t.Context(), ledgerTopic)
		if o, ok := offsets.Lookup(inTopic, 0); err == nil && ok && o.At == 4 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("commit never reached 4: %v %v", offsets, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	mustStop(t, stop)
}

// Rule 4: a clean close publishes a checkpoint, the next start replays nothing
// of what it holds, and an unusable one costs a replay and no more.
func TestCheckpoints(t *testing.T) {
	damage := map[string]func(t *testing.T, dir string){
		"published": nil,
		"missing":   func(t *testing.T, dir string) { check(t, os.Remove(filepath.Join(dir, checkpointFile))) },
		"torn": func(t *testing.T, dir string) {
			check(t, os.Truncate(filepath.Join(dir, checkpointFile), 40))
		},
		"table truncated": func(t *testing.T, dir string) {
			tables, _ := filepath.Glob(filepath.Join(dir, "copy-*", "*.sst"))
			if len(tables) == 0 {
				t.Fatal("no tables in the checkpoint")
			}
			check(t, os.Truncate(tables[0], 10))
		},
		"of another topic": func(t *testing.T, dir string) {
			c, err := readCheckpoint(dir, ledgerOf(dir))
			check(t, err)
			c.Ledger = "another"
			check(t, c.publish(dir))
		},
		"beyond the ledger's end": func(t *testing.T, dir string) {
			c, err := readCheckpoint(dir, ledgerOf(dir))
			check(t, err)
			c.Offset += 1000
			check(t, c.publish(dir))
		},
	}
	for name, spoil := range damage {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			stop := w.start(w.options())
			w.produce(numbers(0, 50)...)
			valid(w, 50)
			want := w.newest().dump()
			mustStop(t, stop)
			dirs, _ := filepath.Glob(filepath.Join(w.dir, "*", "*", "0"))
			if len(dirs) != 1 {
				t.Fatalf("state directories %q", dirs)
			}
			if spoil != nil {
				spoil(t, dirs[0])
			}
			stop = w.start(w.options())
			w.until("the second claim", func(h map[string]int) bool { return h[HappenedClaim] == 2 })
			got := w.newest()
			if d := cmp.Diff(want, got.dump()); d != "" {
				t.Errorf("state differs:\n%s", d)
			}
			w.produce("more")
			if got := valid(w, 51); len(got) != 51 {
				t.Errorf("%d events", len(got))
			}
			mustStop(t, stop)
		})
	}
}

// ledgerOf returns the topic id in the name of a state directory.
func ledgerOf(dir string) string {
	return strings.TrimPrefix(filepath.Base(filepath.Dir(dir)), ledgerTopic+"-")
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Rule 4: while running, a checkpoint is published only after its last event
// is acknowledged, and a killed owner goes on from it.
func TestCheckpointWhileRunning(t *testing.T) {
	w := newWorld(t)
	o := w.options()
	o.CheckpointEvery = time.Nanosecond
	stop := w.start(o)
	for _, v := range numbers(0, 10) {
		w.produce(v)
	}
	w.until("a checkpoint", func(h map[string]int) bool { return h[HappenedCheckpoint] >= 1 })
	dirs, _ := filepath.Glob(filepath.Join(w.dir, "*", "*", "0"))
	c, err := readCheckpoint(dirs[0], ledgerOf(dirs[0]))
	check(t, err)
	if end := w.end(); c.Offset >= end {
		t.Errorf("checkpoint at %d, log ends at %d", c.Offset, end)
	}
	mustStop(t, stop)
}

// Rule 5: a zombie's event after a newer claim is dropped by every fold, the
// owner notices the gap, claims again, and nothing is lost or doubled.
func TestZombieIsFenced(t *testing.T) {
	w := newWorld(t)
	stop := w.start(w.options())
	w.produce(numbers(0, 5)...)
	valid(w, 5)
	mustStop(t, stop) // the zombie's life, epoch 1
	stop = w.start(w.options())
	w.until("the second claim", func(h map[string]int) bool { return h[HappenedClaim] == 2 })
	zombie := encode(&weftpb.Event{Epoch: 1, Body: []byte("undead"), Positions: []*weftpb.Position{{Topic: inTopic, Offset: 99}}})
	check(t, w.client.ProduceSync(t.Context(), &kgo.Record{Topic: ledgerTopic, Value: zombie}).FirstErr())
	w.produce(numbers(5, 10)...)
	w.until("a claim after the gap", func(h map[string]int) bool { return h[HappenedClaim] >= 3 })
	w.produce(numbers(10, 15)...)
	// The event that showed the gap is in the log, but not where its owner
	// meant it to be: it does not count, and its input is decided again.
	if got := valid(w, 15); !slices.Equal(got, numbers(0, 15)) {
		t.Errorf("valid events %q", got)
	}
	if w.newest().count("undead") != 0 {
		t.Error("the zombie's event was applied")
	}
	mustStop(t, stop)
}

// Rule 5: what another owner wrote validly between our recovery and our claim
// is folded before anything is decided.
func TestClaimWrittenLate(t *testing.T) {
	w := newWorld(t)
	stop := w.start(w.options())
	w.produce("0")
	valid(w, 1)
	mustStop(t, stop)

	// The next owner's claim is held back while the former one writes "1" for
	// the next input.
	var epoch int64
	w.events(func(all []*weftpb.Event) bool {
		for _, ev := range all {
			epoch = max(epoch, ev.Epoch)
		}
		return epoch > 0
	})
	wrote := make(chan error, 1)
	var held atomic.Bool
	w.cluster.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		w.cluster.KeepControl()
		if held.CompareAndSwap(false, true) {
			w.cluster.SleepControl(func() { wrote <- w.produceAs(epoch, "1", 1) })
		}
		return nil, nil, false
	})
	stop = w.start(w.options())
	check(t, <-wrote)
	w.produce("1", "2")
	if got := valid(w, 3); !slices.Equal(got, []string{"0", "1", "2"}) {
		t.Errorf("events %q", got)
	}
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

// Rule 7: a corrupt event is fatal and named.
func TestCorruptEventIsFatal(t *testing.T) {
	for name, value := range map[string][]byte{
		"no protobuf": []byte("\xff\xff\xff"),
		"no claim":    encode(&weftpb.Event{Body: []byte("x")}),
		"impossible":  nil, // made below: it must be valid to be applied
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			stop := w.start(w.options())
			w.produce("a")
			valid(w, 1)
			mustStop(t, stop)
			check(t, os.RemoveAll(w.dir))
			// The last record but for the close: nothing is written after it.
			claimed := encode(&weftpb.Event{Claim: &weftpb.Claim{}})
			if name == "impossible" {
				value = encode(&weftpb.Event{Epoch: w.end() + 1, Offset: w.end() + 1, Body: []byte("impossible")})
				check(t, w.client.ProduceSync(t.Context(), &kgo.Record{Topic: ledgerTopic, Value: claimed}).FirstErr())
			}
			check(t, w.client.ProduceSync(t.Context(), &kgo.Record{Topic: ledgerTopic, Value: value}).FirstErr())
			last := w.end() - 1
			ended := make(chan error, 1)
			go func() { ended <- Run(t.Context(), w.stage(), w.options()) }()
			select {
			case err := <-ended:
				if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), ledgerTopic+"/0 at "+strconv.Itoa(int(last))) {
					t.Errorf("ended with %v", err)
				}
			case <-time.After(30 * time.Second):
				t.Error("the stage goes on over a corrupt event")
			}
		})
	}
}

// A ledger that was trimmed below the checkpoint cannot be recovered from.
func TestTrimmedLedgerIsFatal(t *testing.T) {
	w := newWorld(t)
	stop := w.start(w.options())
	w.produce("a")
	valid(w, 1)
	mustStop(t, stop)
	check(t, os.RemoveAll(w.dir))
	var offsets kadm.Offsets
	offsets.AddOffset(ledgerTopic, 0, 1, -1)
	if _, err := w.admin.DeleteRecords(t.Context(), offsets); err != nil {
		t.Fatal(err)
	}
	if err := Run(t.Context(), w.stage(), w.options()); !errors.Is(err, ErrTrimmed) {
		t.Errorf("ended with %v", err)
	}
}

// An input whose log was cut by the broker's unclean end is gone on with at
// its end on the embedded broker, by an event that says so; a cluster's is
// fatal.
func TestInputCutShort(t *testing.T) {
	for _, embedded := range []bool{true, false} {
		t.Run("embedded="+strconv.FormatBool(embedded), func(t *testing.T) {
			w := newWorld(t)
			stop := w.start(w.options())
			w.produce(numbers(0, 10)...)
			valid(w, 10)
			mustStop(t, stop)
			if _, err := w.admin.DeleteTopic(t.Context(), inTopic); err != nil {
				t.Fatal(err)
			}
			if _, err := w.admin.CreateTopic(t.Context(), 1, 1, nil, inTopic); err != nil {
				t.Fatal(err)
			}
			o := w.options()
			o.Embedded = embedded
			if !embedded {
				if err := Run(t.Context(), w.stage(), o); !errors.Is(err, ErrInputLost) {
					t.Errorf("ended with %v", err)
				}
				return
			}
			stop = w.start(o)
			w.until("the second claim", func(h map[string]int) bool { return h[HappenedClaim] == 2 })
			w.client.PurgeTopicsFromClient(inTopic) // forget the deleted topic's id
			w.produce("after")
			if got := valid(w, 11); got[10] != "after" {
				t.Errorf("events %q", got)
			}
			mustStop(t, stop)
		})
	}
}

// Two processes on one directory would destroy each other's states.
func TestDirectoryIsLocked(t *testing.T) {
	w := newWorld(t)
	stop := w.start(w.options())
	w.until("the claim", func(h map[string]int) bool { return h[HappenedClaim] == 1 })
	if err := Run(t.Context(), w.stage(), w.options()); !errors.Is(err, dirlock.ErrInUse) {
		t.Errorf("second run on the directory ended with %v", err)
	}
	mustStop(t, stop)
}
