package ledger

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kafka"
)

const (
	inTopic     = "test.in"
	ledgerTopic = "test.ledger"
)

// words counts the words of its inputs: an event is a word, the state is how
// often each was applied and where last.
type words struct {
	Untimed
	store Store
}

func (w words) Apply(key string, body []byte, offset int64) error {
	if string(body) == "impossible" {
		return fmt.Errorf("no such event")
	}
	k := append([]byte("w/"), body...)
	n := binary.BigEndian.AppendUint64(nil, w.count(string(body))+1)
	w.store.Set(k, binary.BigEndian.AppendUint64(n, uint64(offset)))
	return nil
}

func (w words) count(word string) uint64 {
	if v := w.store.Get([]byte("w/" + word)); v != nil {
		return binary.BigEndian.Uint64(v)
	}
	return 0
}

// Decide makes no event of "skip" and rejects "bad".
func (w words) Decide(in InputRecord, _ time.Time, _ int64) ([]byte, error) {
	switch string(in.Value) {
	case "skip":
		return nil, nil
	case "bad":
		return nil, &Rejection{Reason: "bad"}
	}
	return in.Value, nil
}

func (w words) dump() map[string]string {
	all := map[string]string{}
	w.store.Scan(nil, nil, func(k, v []byte) bool { all[string(k)] = string(v); return true })
	return all
}

// world is an embedded broker with one input and one ledger of one partition.
type world struct {
	t       *testing.T
	cluster *kfake.Cluster
	brokers []string
	client  *kgo.Client
	admin   *kadm.Client
	dir     string

	*tally // of the owners that no test watches by itself

	mu       sync.Mutex
	states   []words // every state that was opened, newest last
	rejected []string
}

func newWorld(t *testing.T, opts ...kfake.Opt) *world {
	t.Helper()
	cluster, err := kfake.NewCluster(append([]kfake.Opt{
		kfake.NumBrokers(1), kfake.ClusterID("test"), kfake.SeedTopics(1, inTopic, ledgerTopic),
	}, opts...)...)
	check(t, err)
	t.Cleanup(cluster.Close)
	w := newWorldAt(t, cluster.ListenAddrs()...)
	w.cluster = cluster
	return w
}

// newWorldAt is a world whose broker, which has its topics, is the test's own.
func newWorldAt(t *testing.T, brokers ...string) *world {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.DefaultProduceTopic(inTopic))
	check(t, err)
	t.Cleanup(client.Close)
	return &world{
		t: t, brokers: brokers, client: client, admin: kadm.NewClient(client), dir: t.TempDir(), tally: newTally(t),
	}
}

// stage is the word counter.
func (w *world) stage() Processor {
	return Processor{
		Ledger: ledgerTopic,
		Inputs: []Input{{Topic: inTopic}},
		Open: func(_ int32, store Store) (State, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.states = append(w.states, words{store: store})
			return words{store: store}, nil
		},
	}
}

func (w *world) options() Options {
	o := Options{
		// With a dialer, as members have one: so no client sends its metrics.
		Cluster: kafka.Access{Brokers: w.brokers, Dial: new(net.Dialer).DialContext}, Dir: w.dir, Member: "m1", Embedded: true,
		Reject: func(in InputRecord, _ int32, reason string) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.rejected = append(w.rejected, string(in.Value)+":"+reason)
			return nil
		},
		Observe:   w.observe,
		CarryIdle: 20 * time.Millisecond, Resolution: 5 * time.Millisecond,
		SessionTimeout: 6 * time.Second, Heartbeat: 100 * time.Millisecond,
	}
	if os.Getenv("WEFT_TEST_LOG") != "" {
		o.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug})).With("process", os.Getpid())
	}
	return o
}

// start runs the stage; stop ends it gracefully and returns its error.
func (w *world) start(o Options) (stop func() error) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, w.stage(), o) }()
	return func() error { cancel(); return within(patience, ended) }
}

// within returns how something ended, or that it goes on: a test that hangs would
// hold up all others until the run's time is up.
func within(d time.Duration, ended <-chan error) error {
	select {
	case err := <-ended:
		return err
	case <-time.After(d):
		return errors.New("the stage goes on")
	}
}

// bounded is a context for what must happen.
func (w *world) bounded() context.Context {
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	w.t.Cleanup(cancel)
	return ctx
}

// produce appends values to the input.
func (w *world) produce(values ...string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	for _, v := range values {
		if err := w.client.ProduceSync(ctx, &kgo.Record{Key: []byte("k"), Value: []byte(v)}).FirstErr(); err != nil {
			w.t.Fatal(err)
		}
	}
}

// produceUntil appends numbers to the input until done, and returns how many
// there are.
func (w *world) produceUntil(done func() bool) (inputs int) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); !done(); inputs++ {
		if time.Now().After(deadline) {
			w.t.Fatalf("%d inputs were not enough", inputs)
		}
		w.produce(strconv.Itoa(inputs))
	}
	return inputs
}

func closed(c <-chan struct{}) func() bool {
	return func() bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
}

// events returns the ledger's records once enough of them are read; nil: all
// that there are.
func (w *world) events(enough func(all []*weftpb.Event) bool) (all []*weftpb.Event) {
	w.t.Helper()
	if enough == nil {
		end := w.end()
		enough = func(all []*weftpb.Event) bool { return int64(len(all)) >= end }
	}
	reader, err := kgo.NewClient(kgo.SeedBrokers(w.brokers...), kgo.ConsumeTopics(ledgerTopic), kgo.KeepControlRecords(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		w.t.Fatal(err)
	}
	defer reader.Close()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	for !enough(all) {
		fetches := reader.PollFetches(ctx)
		if ctx.Err() != nil {
			w.t.Fatalf("%d events are not enough: %v", len(all), all)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			ev, err := decode(r.Value, r.Topic, r.Partition, r.Offset)
			if errors.Is(err, errStranger) {
				ev, err = new(weftpb.Event), nil
			}
			if err != nil {
				w.t.Fatal(err)
			}
			all = append(all, ev)
		})
	}
	return all
}

// end returns the end of the ledger.
func (w *world) end() int64 {
	w.t.Helper()
	ends, err := w.admin.ListEndOffsets(w.bounded(), ledgerTopic)
	if err != nil {
		w.t.Fatal(err)
	}
	end, _ := ends.Lookup(ledgerTopic, 0)
	return end.Offset
}

// newest returns the state that was opened last.
func (w *world) newest() words {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.states[len(w.states)-1]
}

// rebuilt is the state that a new machine makes from the ledger alone. No other process may own the
// partition.
func (w *world) rebuilt() map[string]string {
	w.t.Helper()
	o, fresh := w.options(), newTally(w.t)
	o.Dir, o.Observe = w.t.TempDir(), fresh.observe
	stop := w.start(o)
	fresh.reaches(IncidentClaim, 1)
	state := w.newest().dump()
	mustStop(w.t, stop)
	return state
}

// evict has every member leave the group, as when their sessions have run out.
func (w *world) evict() {
	w.t.Helper()
	groups, err := w.admin.DescribeGroups(w.bounded(), ledgerTopic)
	check(w.t, err)
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Group = ledgerTopic
	for _, m := range groups[ledgerTopic].Members {
		member := kmsg.NewLeaveGroupRequestMember()
		member.MemberID = m.MemberID
		req.Members = append(req.Members, member)
	}
	_, err = req.RequestWith(w.bounded(), w.client)
	check(w.t, err)
}

// onAppend calls fn with the number, from 1, of each request that appends to
// the ledger; what it returns is what a control function of the broker does.
func (w *world) onAppend(fn func(n int) (kmsg.Response, error, bool)) {
	var n atomic.Int64
	id := w.cluster.TopicInfo(ledgerTopic).TopicID
	w.cluster.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
		w.cluster.KeepControl()
		r := req.(*kmsg.ProduceRequest)
		if r.Topics[0].Topic != ledgerTopic && r.Topics[0].TopicID != id {
			return nil, nil, false
		}
		return fn(int(n.Add(1)))
	})
}

// valid returns the bodies of the events that a fold applies, once there are
// n of them.
func valid(w *world, n int) (out []string) {
	w.t.Helper()
	w.events(func(all []*weftpb.Event) bool {
		var r EventReader
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

// exactly checks that the valid events are want, once there are as many.
func (w *world) exactly(want []string) {
	w.t.Helper()
	if got := valid(w, len(want)); !slices.Equal(got, want) {
		w.t.Errorf("valid events %q, want %q", got, want)
	}
}

// sameAsRebuilt checks a state that was live against one that is rebuilt.
func (w *world) sameAsRebuilt(live map[string]string) {
	w.t.Helper()
	if d := cmp.Diff(live, w.rebuilt()); d != "" {
		w.t.Errorf("live and rebuilt state differ:\n%s", d)
	}
}

func numbers(from, to int) (out []string) {
	for i := from; i < to; i++ {
		out = append(out, strconv.Itoa(i))
	}
	return out
}

func mustStop(t *testing.T, stop func() error) {
	t.Helper()
	check(t, stop())
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
