package crawl_test

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/internal/broker"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/test/webserver"
	"github.com/weftcrawl/weft/topics"
)

// Seeds come from an outside client, as lines and as an object, while the
// crawl has one request left to answer.
func TestSeedsFromOutside(t *testing.T) {
	t.Parallel()
	w := serve(t, webserver.Options{Pages: 120, Domains: 4}, webserver.ServerOptions{})
	o := options(t, w)
	o.Listen = freePort(t)
	urls := w.server.Seeds()
	o.Seeds = [][]byte{[]byte(urls[0])}
	a := w.at(5)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ended := started(ctx, o)
	a.wait(t)
	write(t, outsider(t, o.Listen), topics.Loop("weft").Seeds,
		[]byte("# two of them\n"+urls[1]+"\n\n"+strings.TrimSuffix(urls[2], "/")+"\r\n"),
		[]byte(`{"url": "`+urls[3]+`", "label": "unknown to us"}`))
	a.release()
	result, err := ended()
	if err != nil || result.Ended != crawl.EndedDrained {
		t.Fatalf("ended %q: %v", result.Ended, err)
	}
	if report := w.audit(t, webserver.Expect{Pages: w.Pages()}); report.Repeats > 0 {
		t.Errorf("the server's log:\n%v", report)
	}
	holds(t, w, read(t, lines(t, o)))
}

// prepared creates the topics of a crawl that does not run, if there are none, and
// lets others write to them.
func prepared(t *testing.T, o crawl.Options, outside func(names topics.Names, write func(*kgo.Record))) {
	t.Helper()
	b, err := broker.Open(broker.Options{Dir: filepath.Join(o.Dir, "broker")})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	client, err := kgo.NewClient(append(b.Client(), kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	spec := topics.Spec{Crawl: o.Definition.Crawl, Partitions: o.Definition.Partitions, Replication: 1}
	if _, err := topics.Create(t.Context(), kadm.NewClient(client), spec); err != nil {
		t.Fatal(err)
	}
	outside(topics.Loop(o.Definition.Crawl), func(r *kgo.Record) {
		if err := client.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatalf("%s/%d: %v", r.Topic, r.Partition, err)
		}
	})
}

// Records that do not belong to their topic, and records that do but make no sense.
func TestCorruptRecordsAreRejected(t *testing.T) {
	t.Parallel()
	w := serve(t, webserver.Options{Pages: 60, Domains: 3}, webserver.ServerOptions{})
	o := options(t, w)
	o.Definition.Partitions = 2
	type rejection struct{ stage, topic, reason, value string }
	noise := []byte{0xff, 0xff, 0xff, 0xff}
	encode := func(m proto.Message) []byte {
		raw, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	nonsense := encode(&weftpb.Discovered{Source: "mailto:nobody", Links: []*weftpb.Link{{Url: "/"}}})
	empty := encode(&weftpb.Fetched{Id: "1"})
	want := map[rejection]bool{}
	const domain = "127.1.0.1"
	prepared(t, o, func(n topics.Names, append func(*kgo.Record)) {
		write := func(topic string, value []byte) {
			append(&kgo.Record{Topic: topic, Partition: topics.Partition(domain, o.Definition.Partitions), Key: []byte(domain), Value: value})
		}
		refused := func(stage topics.Stage, topic, reason string, value []byte) {
			write(topic, value)
			want[rejection{string(stage), topic, reason, string(value)}] = true
		}
		refused(topics.Normalize, n.Seeds, "seed_not_json", []byte(`{"url": `))
		refused(topics.Normalize, n.Seeds, "seed_no_url", []byte(`{}`))
		refused(topics.Normalize, n.Seeds, "seed_not_text", noise)
		refused(topics.Normalize, n.Discovered, "undecodable", noise)
		refused(topics.Normalize, n.Discovered, "source_not_crawlable_mailto", nonsense)
		refused(topics.Normalize, n.Discovered, "source_empty", nil)
		refused(topics.Dedupe, n.Normalized, "undecodable", noise)
		refused(topics.Schedule, n.Visited, "undecodable", noise)
		refused(topics.Parse, n.Fetched, "undecodable", noise)
		refused(topics.Parse, n.Fetched, "source_empty", empty)
		// An unknown visit of a former owner has no effect.
		write(n.Visited, encode(&weftpb.Visited{Visit: "unknown", Outcomes: []*weftpb.Outcome{{Status: 200}}, Done: true}))
		// A record without a value has no effect, either.
		for _, topic := range []string{n.Seeds, n.Normalized, n.Visited} {
			write(topic, nil)
		}
	})
	run(t, o, crawl.EndedDrained)
	w.audit(t, webserver.Expect{Pages: w.Pages()})
	for _, r := range readTopic(t, reopened(t, o), topics.Loop("weft").Rejected) {
		var have weftpb.Rejected
		if err := proto.Unmarshal(r.Value, &have); err != nil {
			t.Fatal(err)
		}
		got := rejection{have.Stage, have.Topic, have.Reason, string(have.Value)}
		if !want[got] {
			t.Errorf("rejected %+v", got)
		}
		if string(have.Key) != domain || string(r.Key) != domain {
			t.Errorf("%+v: key %q in a record with key %q", got, have.Key, r.Key)
		}
		delete(want, got)
	}
	for missing := range want {
		t.Errorf("not rejected: %+v", missing)
	}
}

// Records of every kind, in every partition of every topic but seeds, before the
// crawl, between two of its lives and beside it, change nothing: every page is
// fetched once, and what others wrote is in no file.
func TestStrangersStopNothing(t *testing.T) {
	t.Parallel()
	w := serve(t, webserver.Options{Pages: 120, Domains: 4}, webserver.ServerOptions{})
	o := options(t, w)
	o.Definition.Partitions = 2
	o.Listen, o.Listener.Trusted = freePort(t), true
	normalized, err := proto.Marshal(&weftpb.Normalized{Source: "http://other.example/"})
	if err != nil {
		t.Fatal(err)
	}
	claim, err := ledger.Encode(&weftpb.Event{Claim: &weftpb.Claim{Owner: "a copy"}})
	if err != nil {
		t.Fatal(err)
	}
	// One at the offset that it names would be a forgery (docs/guarantees.md, S).
	event, err := ledger.Encode(&weftpb.Event{Epoch: 1, Offset: 1 << 40, Body: normalized})
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string][]byte{
		"garbage": {0xff, 0xff, 0xff}, "text": []byte("http://other.example/"), "empty": {}, "nothing": nil, "JSON": []byte(`{"id":1}`),
		"huge": bytes.Repeat([]byte("weft"), 200<<10), "another type": normalized, "a claim": claim, "an event": event, "half of one": event[:len(event)-3],
	}
	strangers := func(names topics.Names, write func(*kgo.Record)) {
		for _, topic := range names.Topics() {
			if topic.Name == names.Seeds {
				continue // URLs there are seeds
			}
			for partition := range o.Definition.Partitions {
				if topic.Name == names.Config && partition > 0 {
					continue
				}
				for _, value := range kinds {
					for _, key := range [][]byte{nil, []byte("\xff"), []byte("other.example")} {
						write(&kgo.Record{Topic: topic.Name, Partition: partition, Key: key, Value: value})
					}
				}
			}
		}
	}
	prepared(t, o, strangers)
	beside := func() {
		client, err := kgo.NewClient(kgo.SeedBrokers(o.Listen), kgo.RecordPartitioner(kgo.ManualPartitioner()))
		if err != nil {
			t.Error(err)
			return
		}
		defer client.Close()
		var all []*kgo.Record
		strangers(topics.Loop("weft"), func(r *kgo.Record) { all = append(all, r) })
		if err := client.ProduceSync(t.Context(), all...).FirstErr(); err != nil {
			t.Error(err)
		}
	}
	a := w.at(20)
	var writing sync.WaitGroup
	writing.Go(func() { a.wait(t); beside(); a.release() })
	run(t, o, crawl.EndedDrained)
	writing.Wait()
	w.audit(t, webserver.Expect{Pages: w.Pages()})
	holds(t, w, read(t, lines(t, o)))
	prepared(t, o, strangers)
	o.Seeds = nil
	run(t, o, crawl.EndedDrained)
	if report := w.audit(t, webserver.Expect{Pages: w.Pages()}); report.Repeats > 0 {
		t.Errorf("the server's log:\n%v", report)
	}
	holds(t, w, read(t, lines(t, o)))
}
