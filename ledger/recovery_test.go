package ledger

import (
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"
)

// Rule 1: decide, then fold. A decision changes nothing, and the fold of the
// events gives the state that was live, wherever it begins.
func TestRule1DecideThenFold(t *testing.T) {
	t.Parallel()
	w := &world{t: t, tally: newTally(t)}
	rapid.Check(t, func(r *rapid.T) {
		live, store := w.core(r, Nothing(), memory{})
		log := [][]byte{ClaimOf("m1")}
		check(t, live.Fold("", log[0], 0))
		live.Live(0)
		at, middle := Nothing(), memory{}
		inputs := rapid.SliceOf(rapid.SampledFrom([]string{"a", "b", "c", "skip"})).Draw(r, "inputs")
		for offset, value := range inputs {
			before := dump(store)
			event, err := live.Answer(InputRecord{Topic: inTopic, Key: "k", Value: []byte(value), Offset: int64(offset)}, time.Time{})
			if err != nil {
				r.Fatal(err)
			}
			if d := cmp.Diff(before, dump(store)); d != "" {
				r.Fatalf("deciding on %q changed the state:\n%s", value, d)
			}
			if event != nil {
				check(t, live.FoldNext("k", event, time.Time{}))
				log = append(log, event)
			}
			if rapid.Bool().Draw(r, "checkpoint") {
				at, middle = live.Folded(), maps.Clone(store)
			}
		}
		for name, from := range map[string]struct {
			at    Folded
			store memory
		}{"nothing": {Nothing(), memory{}}, "a checkpoint": {at, middle}} {
			rebuilt, _ := w.core(r, from.at, from.store)
			for offset, event := range log {
				if err := rebuilt.Fold("k", event, int64(offset)); err != nil {
					r.Fatal(err)
				}
			}
			if d := cmp.Diff(dump(store), dump(from.store)); d != "" {
				r.Fatalf("live and rebuilt from %s differ:\n%s", name, d)
			}
			if d := cmp.Diff(live.Folded().Positions, rebuilt.Folded().Positions); d != "" {
				r.Fatalf("positions live and rebuilt from %s differ:\n%s", name, d)
			}
		}
	})
}

func (w *world) core(r *rapid.T, at Folded, store memory) (*Partition, memory) {
	p, err := NewPartition(w.stage(), 0, store, at, PartitionOptions{})
	if err != nil {
		r.Fatal(err)
	}
	return p, store
}

func dump(m memory) map[string]string {
	all := map[string]string{}
	for k, v := range m {
		all[k] = string(v)
	}
	return all
}

// Recovery is exact after any history: owners are killed at random appends,
// others take over on machines of their own, state directories are deleted, and
// at each of these moments what was published is the fold of the ledger. In the
// end the state that was live equals, key by key, the one rebuilt from an empty
// disk.
func TestRecoveryFromAnEmptyDisk(t *testing.T) {
	t.Parallel()
	lives := 8
	if testing.Short() {
		lives = 2
	}
	w := newWorld(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	var victim *process
	var left int // appends until it dies
	var then func() (kmsg.Response, error, bool)
	var mu sync.Mutex
	w.onAppend(func(int) (kmsg.Response, error, bool) {
		mu.Lock()
		defer mu.Unlock()
		if left--; victim == nil || left != 0 {
			return served()
		}
		victim.kill()
		return then()
	})
	machines := []string{t.TempDir(), t.TempDir(), t.TempDir()}
	var inputs []string
	feed := func(n int) {
		var batch []string
		for range n {
			batch = append(batch, strconv.Itoa(random.IntN(100)))
		}
		w.produce(batch...)
		inputs = append(inputs, batch...)
	}
	for range lives {
		machine := random.IntN(len(machines))
		p := w.process(owner{
			Dir: machines[machine], Member: "m" + strconv.Itoa(machine),
			CheckpointEvery: []time.Duration{time.Nanosecond, time.Hour}[random.IntN(2)],
		})
		mu.Lock()
		victim, left = p, 1+random.IntN(20)
		then = []func() (kmsg.Response, error, bool){lost, served}[random.IntN(2)]
		mu.Unlock()
		p.start()
		for deadline := time.Now().Add(patience); !closed(p.dead)(); feed(1 + random.IntN(5)) {
			if time.Now().After(deadline) {
				t.Fatalf("seed %d: an owner does not die", seed)
			}
		}
		w.evict()
		for _, dir := range machines {
			w.publishedIsExact(dir)
		}
		if random.IntN(3) == 0 {
			check(t, os.RemoveAll(machines[random.IntN(len(machines))]))
		}
	}
	mu.Lock()
	victim = nil
	mu.Unlock()
	w.dir = machines[0]
	stop := w.start(w.options())
	feed(10)
	w.exactly(inputs)
	live := w.newest().dump()
	mustStop(t, stop)
	w.publishedIsExact(w.dir)
	w.sameAsRebuilt(live)
}

// publishedIsExact checks that the checkpoint of a machine, if it has one, is
// the fold of the ledger.
func (w *world) publishedIsExact(machine string) {
	w.t.Helper()
	dirs, err := filepath.Glob(filepath.Join(machine, "*", "*", "0"))
	check(w.t, err)
	for _, dir := range dirs {
		c, err := readCheckpoint(dir, ledgerOf(dir))
		if err != nil {
			continue // not published yet
		}
		got, err := readState(dir, ledgerOf(dir))
		check(w.t, err)
		if d := cmp.Diff(w.folded(c.Offset), got); d != "" {
			w.t.Errorf("checkpoint at %d and fold of the ledger differ:\n%s", c.Offset, d)
		}
	}
}

// A rebalance interrupts a recovery: goka then reports the partition as recovered. It is not
// claimed, and the next owner recovers all of it.
func TestRecoveryInterruptedByRebalance(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stop := w.start(w.options())
	w.produce(numbers(0, 200)...)
	w.exactly(numbers(0, 200))
	mustStop(t, stop)

	recovering, goOn := make(chan struct{}), make(chan struct{})
	var slept bool // control functions are called one at a time
	id := w.cluster.TopicInfo(ledgerTopic).TopicID
	w.cluster.ControlKey(int16(kmsg.Fetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
		w.cluster.KeepControl()
		r := req.(*kmsg.FetchRequest)
		if len(r.Topics) > 0 && (r.Topics[0].Topic == ledgerTopic || r.Topics[0].TopicID == id) {
			if !slept {
				slept = true
				close(recovering)
				w.cluster.SleepControl(func() { <-goOn })
			}
		}
		return nil, nil, false
	})
	first, stopFirst := w.another("a")
	<-recovering
	second, stopSecond := w.another("b")
	// Not the state of the group, which may have passed before it is looked at.
	_, err := w.cluster.WaitGroupInfo(w.bounded(), ledgerTopic, func(info *kfake.GroupInfo) bool {
		return info != nil && len(info.Members) == 2
	})
	check(t, err)
	// The answer to its next heartbeat tells the first; one more, and it knows.
	check(t, w.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Heartbeat}, Group: ledgerTopic, Observe: true, Count: -1, TopLevel: true}).Wait(w.bounded(), 2))
	close(goOn)
	claims := func() int { return first.happened()[IncidentClaim] + second.happened()[IncidentClaim] }
	w.produce(numbers(200, 210)...)
	w.exactly(numbers(0, 210))
	if got, want := len(w.owners()), 1+claims(); got != want {
		t.Errorf("%d claims in the ledger, want %d: %q", got, want, w.owners())
	}
	live := w.newest().dump()
	mustStop(t, stopFirst)
	mustStop(t, stopSecond)
	w.sameAsRebuilt(live)
}
