package ledger

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

const (
	inTopic     = "test.in"
	ledgerTopic = "test.ledger"
)

// words counts the words of its inputs: an event is a word, the state is how
// often each was applied and where last.
type words struct{ store Store }

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

func (w words) Due(time.Time, int) []string { return nil }
func (w words) Close()                      {}

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

	mu       sync.Mutex
	states   []words // every state that was opened, newest last
	rejected []string
	happened map[string]int
	changed  chan struct{}
}

func newWorld(t *testing.T, opts ...kfake.Opt) *world {
	t.Helper()
	cluster, err := kfake.NewCluster(append([]kfake.Opt{
		kfake.NumBrokers(1), kfake.ClusterID("test"), kfake.SeedTopics(1, inTopic, ledgerTopic),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.DefaultProduceTopic(inTopic))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		t: t, cluster: cluster, brokers: cluster.ListenAddrs(), client: client, admin: kadm.NewClient(client),
		dir: t.TempDir(), happened: map[string]int{}, changed: make(chan struct{}, 1),
	}
	t.Cleanup(func() { client.Close(); cluster.Close() })
	return w
}

// stage is the word counter: an input "skip" makes no event, "bad" is refused.
func (w *world) stage() Stage[words] {
	return Stage[words]{
		Ledger: ledgerTopic,
		Inputs: []Input[words]{{Topic: inTopic, Decide: func(_ words, in Record, _ time.Time, _ int64) ([]byte, error) {
			switch string(in.Value) {
			case "skip":
				return nil, nil
			case "bad":
				return nil, &Rejection{Reason: "bad"}
			}
			return in.Value, nil
		}}},
		Open: func(_ int32, store Store) (words, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.states = append(w.states, words{store})
			return words{store}, nil
		},
		Tick: func(words, string, time.Time, int64) ([]byte, error) { return nil, nil },
	}
}

func (w *world) options() Options {
	o := Options{
		Brokers: w.brokers, Dir: w.dir, Member: "m1", Embedded: true,
		Reject: func(in Record, _ int32, reason string) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.rejected = append(w.rejected, string(in.Value)+":"+reason)
			return nil
		},
		Observe: func(h Happening) {
			w.mu.Lock()
			w.happened[h.Kind]++
			w.mu.Unlock()
			select {
			case w.changed <- struct{}{}:
			default:
			}
		},
		CarryIdle: 20 * time.Millisecond, Resolution: 5 * time.Millisecond,
		SessionTimeout: 6 * time.Second, Heartbeat: 100 * time.Millisecond,
	}
	if os.Getenv("WEFT_TEST_LOG") != "" {
		o.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	return o
}

// start runs the stage; stop ends it gracefully and returns its error.
func (w *world) start(o Options) (stop func() error) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, w.stage(), o) }()
	return func() error { cancel(); return <-ended }
}

// produce appends values to the input.
func (w *world) produce(values ...string) {
	w.t.Helper()
	for _, v := range values {
		if err := w.client.ProduceSync(w.t.Context(), &kgo.Record{Key: []byte("k"), Value: []byte(v)}).FirstErr(); err != nil {
			w.t.Fatal(err)
		}
	}
}

// events returns the ledger's records once enough of them are read.
func (w *world) events(enough func(all []*weftpb.Event) bool) (all []*weftpb.Event) {
	w.t.Helper()
	reader, err := kgo.NewClient(kgo.SeedBrokers(w.brokers...), kgo.ConsumeTopics(ledgerTopic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		w.t.Fatal(err)
	}
	defer reader.Close()
	ctx, cancel := context.WithTimeout(w.t.Context(), 30*time.Second)
	defer cancel()
	for !enough(all) {
		fetches := reader.PollFetches(ctx)
		if ctx.Err() != nil {
			w.t.Fatalf("%d events are not enough: %v", len(all), all)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			ev, err := decode(r.Value, r.Topic, r.Partition, r.Offset)
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
	ends, err := w.admin.ListEndOffsets(w.t.Context(), ledgerTopic)
	if err != nil {
		w.t.Fatal(err)
	}
	end, _ := ends.Lookup(ledgerTopic, 0)
	return end.Offset
}

// until waits until cond holds of what happened.
func (w *world) until(what string, cond func(happened map[string]int) bool) {
	w.t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		w.mu.Lock()
		seen := maps.Clone(w.happened)
		w.mu.Unlock()
		if cond(seen) {
			return
		}
		select {
		case <-w.changed:
		case <-deadline:
			w.t.Fatalf("waited for %s; happened: %v", what, seen)
		}
	}
}

func (w *world) newest() words {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.states[len(w.states)-1]
}
