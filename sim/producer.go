package sim

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// producer writes for one life of a stage: each partition's records arrive in
// order and are settled in order, between partitions nothing is promised. What
// is on its way when the life ends may still arrive.
type producer struct {
	life  *life
	pipes map[place]*pipe
	cut   time.Duration // what arrives later was never sent; 0: all is sent
	open  int           // not settled
}

type pipe struct{ arrives, settles time.Duration }

func newProducer(l *life) *producer {
	p := &producer{life: l, pipes: map[place]*pipe{}}
	l.producers = append(l.producers, p)
	return p
}

// send writes a record; settled is told when it is acknowledged or lost.
func (p *producer) send(at place, key string, value []byte, settled func(offset int64, err error)) {
	w := p.life.proc.w
	pp := p.pipes[at]
	if pp == nil {
		pp = new(pipe)
		p.pipes[at] = pp
	}
	p.open++
	pp.arrives = max(pp.arrives, w.now+w.latency()) + 1
	arrival := pp.arrives
	r := record{value: value, writtenMs: p.life.proc.wall().UnixMilli()}
	if key != "" {
		r.key = []byte(key)
	}
	r.settled = func(offset int64, err error) {
		pp.settles = max(pp.settles, w.now+w.latency()) + 1
		w.at(pp.settles, func() {
			p.life.inOrder(func() {
				p.open--
				settled(offset, err)
			})
		})
	}
	r.unsent = func() bool { return p.cut > 0 && w.now > p.cut }
	w.at(arrival, func() { w.cluster.arrive(w.cluster.logs[at], r) })
}

// end cuts what is on its way at a moment soon.
func (p *producer) end() {
	w := p.life.proc.w
	p.cut = w.now + w.between(1, 20*time.Millisecond)
}

// Produce, Flush and Close make it a ledger.Log.
func (p *producer) Produce(_ context.Context, r *kgo.Record, promise func(*kgo.Record, error)) {
	p.send(place{r.Topic, r.Partition}, string(r.Key), r.Value, func(offset int64, err error) {
		r.Offset = offset
		promise(r, err)
	})
}

// Flush does not wait: a shell asks again until nothing is open.
func (p *producer) Flush(context.Context) error { return nil }

// Close has nothing to close.
func (p *producer) Close() {}
