package crawl_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/inspect/progress"
	"github.com/weftcrawl/weft/test/kafkaserver"
	"github.com/weftcrawl/weft/test/webserver"
	"github.com/weftcrawl/weft/topics"
)

// Seeds of transactions are crawled when these are committed and not when they
// are aborted. While one is open the crawl waits and says so, and what ends
// transactions in the log keeps it from nothing.
func TestSeedsOfTransactions(t *testing.T) {
	t.Parallel()
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		seedsOfTransactions(t, nil)
	})
	t.Run("kafka", func(t *testing.T) {
		if testing.Short() {
			t.Skip("starts Apache Kafka")
		}
		t.Parallel()
		seedsOfTransactions(t, kafkaserver.Start(t, kafkaserver.Options{}).Addrs())
	})
}

func seedsOfTransactions(t *testing.T, brokers []string) {
	w := serve(t, webserver.Options{Pages: 120, Domains: 4}, webserver.ServerOptions{})
	o, urls := options(t, w), w.server.Seeds()
	o.Seeds = [][]byte{[]byte(urls[0])}
	if o.Cluster.Brokers = brokers; brokers == nil {
		o.Listen = freePort(t)
		brokers = []string{o.Listen}
	}
	waits := make(chan struct{})
	var once sync.Once
	o.Watch = func(s progress.Snapshot) {
		if strings.Contains(s.Waits, "wait for the end of a transaction") {
			once.Do(func() { close(waits) })
		}
	}
	a := w.at(5)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ended := started(ctx, o)
	a.wait(t)
	producer, wrong := kgo.NewClient(
		kgo.SeedBrokers(brokers...), kgo.TransactionalID("seeds"),
		kgo.DefaultProduceTopic(topics.Loop("weft").Seeds), kgo.RecordPartitioner(kgo.ManualPartitioner()),
	)
	if wrong != nil {
		t.Fatal(wrong)
	}
	defer producer.Close()
	begin := func(url string) {
		if err := producer.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		if err := producer.ProduceSync(ctx, kgo.StringRecord(url)).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	end := func(how kgo.TransactionEndTry) {
		if err := producer.EndTransaction(ctx, how); err != nil {
			t.Fatal(err)
		}
	}
	begin(urls[1])
	end(kgo.TryAbort)
	begin(urls[2])
	a.release()
	select {
	case <-waits:
	case <-ctx.Done():
		t.Error("the crawl does not say what it waits for")
	}
	late := w.at(5)
	end(kgo.TryCommit)
	late.wait(t)
	begin(urls[1]) // the log ends with what ends this one
	end(kgo.TryAbort)
	late.release()
	result, err := ended()
	if err != nil || result.Ended != crawl.EndedDrained {
		t.Fatalf("ended %q: %v", result.Ended, err)
	}
	asked := map[string]bool{}
	for _, e := range w.server.Entries() {
		asked[e.Domain] = true
	}
	for i, url := range urls {
		if domain := strings.Split(strings.TrimPrefix(url, "http://"), ":")[0]; asked[domain] != (i == 0 || i == 2) {
			t.Errorf("%s of seed %d: asked for %v", domain, i, asked[domain])
		}
	}
}
