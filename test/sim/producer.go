package sim

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// producer writes for one instance of a stage. The records of a partition arrive
// in order and are settled in order; there is no order between partitions. What
// was sent before the instance ended may still arrive.
type producer struct {
	instance *instance
	pipes    map[topicPartition]*pipe
	cut      time.Duration // what arrives later was never sent; 0: all is sent
	open     int           // records that are not settled
}

type pipe struct{ arrives, settles time.Duration }

func newProducer(i *instance) *producer {
	p := &producer{instance: i, pipes: map[topicPartition]*pipe{}}
	i.producers = append(i.producers, p)
	return p
}

// send writes a record. settled is called when it is acknowledged or lost.
func (p *producer) send(at topicPartition, key string, value []byte, settled func(offset int64, err error)) {
	w := p.instance.proc.w
	pp := p.pipes[at]
	if pp == nil {
		pp = new(pipe)
		p.pipes[at] = pp
	}
	p.open++
	pp.arrives = max(pp.arrives, w.now+w.latency()) + 1
	arrival := pp.arrives
	r := record{value: value, writtenMs: p.instance.proc.wall().UnixMilli()}
	if key != "" {
		r.key = []byte(key)
	}
	r.settled = func(offset int64, err error) {
		pp.settles = max(pp.settles, w.now+w.latency()) + 1
		w.at(pp.settles, func() {
			p.instance.inOrder(func() {
				p.open--
				settled(offset, err)
			})
		})
	}
	r.unsent = func() bool { return p.cut > 0 && w.now > p.cut }
	w.at(arrival, func() { w.cluster.arrive(w.cluster.logs[at], r) })
}

// end loses what has not arrived in some milliseconds.
func (p *producer) end() {
	w := p.instance.proc.w
	p.cut = w.now + w.between(1, 20*time.Millisecond)
}

// Produce, Flush and Close make it a ledger.Log.
func (p *producer) Produce(_ context.Context, r *kgo.Record, promise func(*kgo.Record, error)) {
	p.send(topicPartition{r.Topic, r.Partition}, string(r.Key), r.Value, func(offset int64, err error) {
		r.Offset = offset
		promise(r, err)
	})
}

// Flush does not wait: a shell looks at open again and again.
func (p *producer) Flush(context.Context) error { return nil }

// Close has nothing to close.
func (p *producer) Close() {}
