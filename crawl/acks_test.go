package crawl_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weftcrawl/weft/test/webserver"
	"github.com/weftcrawl/weft/topics"
)

// Whatever a crawl writes is acknowledged by all replicas, and written by an
// idempotent producer: as a broker sees it, batch by batch, in every topic.
func TestWritesAreIdempotentAndAcknowledgedByAll(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	w := serve(t, webserver.Options{Pages: 60, Domains: 3, CrossLinks: 0.2}, webserver.ServerOptions{})
	names := topics.Loop("weft")

	var mu sync.Mutex
	var wrong []string
	written := map[string]bool{}
	const produce = 0
	c.cluster.ControlKey(produce, func(request kmsg.Request) (kmsg.Response, error, bool) {
		c.cluster.KeepControl()
		mu.Lock()
		defer mu.Unlock()
		r := request.(*kmsg.ProduceRequest)
		for _, topic := range r.Topics {
			name := topic.Topic
			if info := c.cluster.TopicIDInfo(topic.TopicID); name == "" && info != nil {
				name = info.Topic
			}
			written[name] = true
			if r.Acks != -1 {
				wrong = append(wrong, fmt.Sprintf("%s is written with acks=%d", name, r.Acks))
			}
			for _, p := range topic.Partitions {
				var batch kmsg.RecordBatch
				if err := batch.ReadFrom(p.Records); err != nil || batch.ProducerID < 0 || batch.FirstSequence < 0 {
					wrong = append(wrong, fmt.Sprintf("%s is written by producer %d, sequence %d (%v)", name, batch.ProducerID, batch.FirstSequence, err))
				}
			}
		}
		return nil, nil, false
	})
	process{
		Dir: t.TempDir(), DelayMS: time.Millisecond.Milliseconds(), Seeds: append(w.server.Seeds(), "nonsense"),
		Brokers: []string{c.addr.String()},
	}.drains(t)

	mu.Lock()
	defer mu.Unlock()
	for _, sentence := range wrong {
		t.Error(sentence)
	}
	want := map[string]bool{}
	for _, topic := range names.Topics() {
		want[topic.Name] = true
	}
	if diff := cmp.Diff(want, written); diff != "" {
		t.Errorf("topics that were written (-want +got):\n%s", diff)
	}
}
