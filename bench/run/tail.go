package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/inspect/plan"
	"github.com/weftcrawl/weft/internal/kafka"
	"github.com/weftcrawl/weft/topics"
)

// tail reads all topics of a crawl beside it, because consumed records are
// trimmed, and counts what they take. It is one reader more than the loop has;
// the consumers of parsed are another in real life.
type tail struct {
	names  topics.Names
	client *kgo.Client
	cancel context.CancelFunc
	done   chan struct{}

	mu    sync.Mutex
	sizes map[string]topicTaken // by short name
	next  kadm.Offsets          // to be read
	load  plan.Load
	err   error
}

// topicTaken is what a topic took: bytes count the batches as they are in the log, compressed.
type topicTaken struct{ records, bytes float64 }

// batchOverhead is the header of a batch in the log, which the client's figures
// leave out: record batch format of message format 2, 61 bytes.
const batchOverhead = 61

func startTail(names topics.Names, brokers string) (*tail, error) {
	ctx, cancel := context.WithCancel(context.Background())
	t := &tail{names: names, cancel: cancel, done: make(chan struct{}), sizes: map[string]topicTaken{}, next: kadm.Offsets{}}
	var all []string
	for _, topic := range names.Topics() {
		all = append(all, topic.Name)
	}
	client, err := kafka.At(brokers).NewClient(kgo.ConsumeTopics(all...), kgo.WithHooks(t),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMinBytes(1<<20), kgo.FetchMaxWait(time.Second))
	if err != nil {
		cancel()
		return nil, err
	}
	t.client = client
	go t.read(ctx)
	return t, nil
}

// OnFetchBatchRead implements kgo.HookFetchBatchRead.
func (t *tail) OnFetchBatchRead(_ kgo.BrokerMetadata, topic string, _ int32, m kgo.FetchBatchMetrics) {
	described, ok := t.names.Topic(topic)
	if !ok {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.sizes[described.Short]
	s.records += float64(m.NumRecords)
	s.bytes += float64(m.CompressedBytes + batchOverhead)
	t.sizes[described.Short] = s
}

func (t *tail) read(ctx context.Context) {
	defer close(t.done)
	defer t.client.Close()
	for ctx.Err() == nil {
		fetches := t.client.PollFetches(ctx)
		fetches.EachRecord(func(r *kgo.Record) {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.next.Add(kadm.Offset{Topic: r.Topic, Partition: r.Partition, At: r.Offset + 1})
			if err := t.count(r); err != nil {
				t.err = fmt.Errorf("read %s: %w", r.Topic, err)
			}
		})
	}
}

// count notes what a record says of the load; with mu.
func (t *tail) count(r *kgo.Record) error {
	switch r.Topic {
	case t.names.Fetched:
		var f weftpb.Fetched
		if err := proto.Unmarshal(r.Value, &f); err != nil {
			return err
		}
		if f.GetOutcome().GetStatus() != http.StatusOK {
			return nil // tried again, or nothing
		}
		t.load.Pages++
		t.load.KiB += float64(f.GetOutcome().GetBodyBytes()) / 1024
	case t.names.Discovered:
		var d weftpb.Discovered
		if err := proto.Unmarshal(r.Value, &d); err != nil {
			return err
		}
		t.load.Links += float64(len(d.GetLinks()))
	}
	return nil
}

// behind tells whether something before these ends is not read yet.
func (t *tail) behind(ends kadm.ListedOffsets) (behind bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	ends.Each(func(end kadm.ListedOffset) {
		next, _ := t.next.Lookup(end.Topic, end.Partition)
		behind = behind || next.At < end.Offset
	})
	return behind
}

func (t *tail) stop() (plan.Load, map[string]topicTaken, error) {
	t.cancel()
	<-t.done
	return t.load, t.sizes, t.err
}
