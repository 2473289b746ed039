package topics_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/topics"
)

func definition() topics.Definition {
	return topics.Definition{
		Version: topics.DefinitionVersion, Crawl: "weft", Partitions: 4, SuffixList: "2026-11-01",
		Scope: "host", Include: []string{"/docs/"}, MaxDepth: -1, DelayMS: 1000, PerDomain: 1, UserAgent: "Weft/1",
	}
}

func TestDefinitionLastRecordHolds(t *testing.T) {
	admin, options := cluster(t)
	ctx := deadline(t)
	n := topics.Loop("weft")
	if _, err := topics.ReadDefinition(ctx, n, options...); !errors.Is(err, topics.ErrUndefined) {
		t.Errorf("without a topic: %v", err)
	}
	if _, err := topics.Create(ctx, admin, topics.Spec{Crawl: "weft", Partitions: 4, Replication: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := topics.ReadDefinition(ctx, n, options...); !errors.Is(err, topics.ErrUndefined) {
		t.Errorf("without a record: %v", err)
	}
	first := definition()
	if err := topics.WriteDefinition(ctx, first, options...); err != nil {
		t.Fatal(err)
	}
	second := first
	second.DelayMS, second.Exclude = 50, []string{"/private/"}
	if err := topics.WriteDefinition(ctx, second, options...); err != nil {
		t.Fatal(err)
	}
	got, err := topics.ReadDefinition(ctx, n, options...)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(second, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestPinnedFieldsNeverChange(t *testing.T) {
	admin, options := cluster(t)
	ctx := deadline(t)
	n := topics.Loop("weft")
	if _, err := topics.Create(ctx, admin, topics.Spec{Crawl: "weft", Partitions: 4, Replication: 1}); err != nil {
		t.Fatal(err)
	}
	mine := definition()
	mine.Bodies = "s3://crawls/bodies"
	if got, err := topics.Pin(ctx, mine, options...); err != nil || !cmp.Equal(got, mine) {
		t.Fatalf("first: %+v, %v", got, err)
	}
	other := mine
	other.DelayMS = 1
	if got, err := topics.Pin(ctx, other, options...); err != nil || !cmp.Equal(got, mine) {
		t.Errorf("what is in force is %+v, %v", got, err)
	}
	for what, change := range map[string]func(*topics.Definition){
		"number of partitions":  func(d *topics.Definition) { d.Partitions = 5 },
		"public suffix list":    func(d *topics.Definition) { d.SuffixList = "2027-01-01" },
		"place of large bodies": func(d *topics.Definition) { d.Bodies = topics.InData },
		"source of responses":   func(d *topics.Definition) { d.Replay = "/archive" },
	} {
		d := mine
		change(&d)
		if _, err := topics.Pin(ctx, d, options...); !errors.Is(err, topics.ErrPinned) || !strings.Contains(err.Error(), what) {
			t.Errorf("pin another %s: %v", what, err)
		}
		if err := topics.WriteDefinition(ctx, d, options...); !errors.Is(err, topics.ErrPinned) {
			t.Errorf("write another %s: %v", what, err)
		}
	}
	if got, err := topics.ReadDefinition(ctx, n, options...); err != nil || !cmp.Equal(got, mine) {
		t.Errorf("in the end %+v, %v", got, err)
	}
}

// A crawl that had no place for large bodies may be given one.
func TestPlaceOfBodiesMayBeGivenLater(t *testing.T) {
	first, later := definition(), definition()
	later.Bodies = "/var/lib/weft"
	if err := first.Agrees(later); err != nil {
		t.Error(err)
	}
	if err := later.Agrees(first); !errors.Is(err, topics.ErrPinned) {
		t.Errorf("taken away again: %v", err)
	}
}

// TestPinRace lets processes that disagree begin a crawl at the same time. Only those
// that agree with the first record go on.
func TestPinRace(t *testing.T) {
	admin, options := cluster(t)
	ctx := deadline(t)
	if _, err := topics.Create(ctx, admin, topics.Spec{Crawl: "weft", Partitions: 4, Replication: 1}); err != nil {
		t.Fatal(err)
	}
	lists := []string{"a", "b", "a", "b", "c", "a"}
	results := make([]error, len(lists))
	var all sync.WaitGroup
	for i, list := range lists {
		all.Go(func() {
			d := definition()
			d.SuffixList = list
			_, results[i] = topics.Pin(ctx, d, options...)
		})
	}
	all.Wait()
	inForce, err := topics.ReadDefinition(ctx, topics.Loop("weft"), options...)
	if err != nil {
		t.Fatal(err)
	}
	winners := map[string]bool{}
	for i, list := range lists {
		switch {
		case results[i] == nil:
			winners[list] = true
		case !errors.Is(results[i], topics.ErrPinned):
			t.Errorf("%s: %v", list, results[i])
		}
	}
	if len(winners) != 1 {
		t.Errorf("winners %v, in force %s", winners, inForce.SuffixList)
	}
}

func TestCorruptDefinitionIsNamed(t *testing.T) {
	for what, value := range map[string]string{
		"newer":               `{"version":99,"crawl":"weft","partitions":1,"suffix_list":"a"}`,
		"holds no definition": "{",
	} {
		admin, options := cluster(t)
		ctx := deadline(t)
		n := topics.Loop("weft")
		if _, err := topics.Create(ctx, admin, topics.Spec{Crawl: "weft", Partitions: 1, Replication: 1}); err != nil {
			t.Fatal(err)
		}
		producer, err := topics.NewProducer(n, topics.DefaultProducerOptions(), options...)
		if err != nil {
			t.Fatal(err)
		}
		defer producer.Close()
		if err := producer.ProduceSync(ctx, &kgo.Record{Topic: n.Config, Value: []byte(value)}).FirstErr(); err != nil {
			t.Fatal(err)
		}
		if _, err := topics.ReadDefinition(ctx, n, options...); err == nil || !strings.Contains(err.Error(), what) || !strings.Contains(err.Error(), n.Config) {
			t.Errorf("%s: %v", value, err)
		}
	}
}

// What other programs write to config says nothing, whatever it is: the crawl's
// definition and its control hold.
func TestStrangersInConfig(t *testing.T) {
	admin, options := cluster(t)
	ctx := deadline(t)
	d, n := definition(), topics.Loop("weft")
	if _, err := topics.Create(ctx, admin, topics.Spec{Crawl: "weft", Partitions: d.Partitions, Replication: 1}); err != nil {
		t.Fatal(err)
	}
	producer, err := topics.NewProducer(n, topics.DefaultProducerOptions(), options...)
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()
	other := d
	other.Crawl = "other"
	ofAnother, err := json.Marshal(other)
	if err != nil {
		t.Fatal(err)
	}
	other = d
	other.Partitions++
	ofOtherPartitions, err := json.Marshal(other)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string][]byte{
		"garbage": {0xff, 0xfe}, "no JSON": []byte("{"), "nothing": nil, "empty": {}, "an empty object": []byte("{}"), "a list": []byte("[1]"),
		"no version":             []byte(`{"crawl":"weft","partitions":1,"suffix_list":"a"}`),
		"no partitions":          []byte(`{"version":1,"crawl":"weft","suffix_list":"a"}`),
		"another crawl's":        ofAnother,
		"with other partitions":  ofOtherPartitions,
		"of a newer other crawl": []byte(`{"version":99,"crawl":"other","partitions":1,"suffix_list":"a"}`),
		"huge":                   bytes.Repeat([]byte("a"), 900<<10),
	}
	defined := false
	stranger := func() {
		for what, value := range values {
			if what == "with other partitions" && !defined {
				continue // it would be the crawl's first
			}
			for _, key := range []string{"", "control", "import", "key"} {
				r := &kgo.Record{Topic: n.Config, Value: value}
				if key != "" {
					r.Key = []byte(key)
				}
				if err := producer.ProduceSync(ctx, r).FirstErr(); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
			}
		}
	}
	stranger()
	if _, err := topics.ReadDefinition(ctx, n, options...); !errors.Is(err, topics.ErrUndefined) {
		t.Errorf("without a definition: %v", err)
	}
	if _, err := topics.Pin(ctx, d, options...); err != nil {
		t.Fatal(err)
	}
	orders, err := topics.ReadOrders(ctx, n, options...)
	if err != nil {
		t.Fatal(err)
	}
	defined = true
	told := make(chan topics.Control, 1)
	following, cancel := context.WithCancel(ctx)
	followed := make(chan struct{})
	defer func() { cancel(); <-followed }()
	go func() {
		defer close(followed)
		if err := topics.FollowOrders(following, n, orders.Next, topics.OrderFollower{Control: func(c topics.Control) { told <- c }}, options...); err != nil {
			t.Error(err)
		}
	}()
	stranger()
	if _, err := topics.WriteControl(ctx, n, func(c topics.Control) topics.Control { return c.WithPaused(true, topics.Fetch) }, options...); err != nil {
		t.Fatal(err)
	}
	stranger()
	if c := <-told; !c.Pauses(topics.Fetch) {
		t.Errorf("followed: %v after %v", c, orders.Control)
	}
	if got, err := topics.ReadDefinition(ctx, n, options...); err != nil || got.Crawl != d.Crawl || got.Partitions != d.Partitions {
		t.Errorf("read: %v, %v", got, err)
	}
	if o, err := topics.ReadOrders(ctx, n, options...); err != nil || !o.Control.Pauses(topics.Fetch) {
		t.Errorf("control: %v, %v", o.Control, err)
	}
}

// After a transaction of another program config ends with a record that clients do not
// get. Readers do not wait for it.
func TestTransactionInConfig(t *testing.T) {
	admin, options := cluster(t)
	ctx, d, names := deadline(t), definition(), topics.Loop("weft")
	if _, err := topics.Create(ctx, admin, topics.Spec{Crawl: "weft", Partitions: d.Partitions, Replication: 1}); err != nil {
		t.Fatal(err)
	}
	if err := topics.WriteDefinition(ctx, d, options...); err != nil {
		t.Fatal(err)
	}
	client, err := kgo.NewClient(append(options, kgo.TransactionalID("stranger"))...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, end := range []kgo.TransactionEndTry{kgo.TryCommit, kgo.TryAbort} {
		if err := client.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		if err := client.ProduceSync(ctx, &kgo.Record{Topic: names.Config, Value: []byte("text")}).FirstErr(); err != nil {
			t.Fatal(err)
		}
		if err := client.EndTransaction(ctx, end); err != nil {
			t.Fatal(err)
		}
		if _, err := topics.ReadOrders(ctx, names, options...); err != nil {
			t.Fatal(err)
		}
	}
}
