package frontier

import (
	"math/bits"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/politeness"
)

// maxRequests is how many requests a visit may have: one bit each.
const maxRequests = politeness.MaxVisit

// domain is the record of one registrable domain. The zero value is a domain
// never heard of. Its size does not depend on the number of its URLs.
type domain struct {
	queues  [priorities]queue
	retries retries
	// visits are out, oldest first.
	visits []visit
	// origins is the number of origins known.
	origins uint64

	// dueMS is the entry of the back queue, leaseMS the one of the leases: the
	// earliest of visits. 0: none.
	dueMS, leaseMS int64
	// nextMS is the earliest time of the next release.
	nextMS     int64
	breaker    politeness.Breaker
	turn       uint32
	responseMS uint32
	asides     asides

	// answeredBy is the origin that answered last (originHash), answeredMS when.
	answeredBy uint64
	answeredMS int64
	// unhealthy is the number of origins whose health is not zero; see health.
	unhealthy uint64
}

// queue is a first-in-first-out queue: its entries have the sequence numbers
// [head, tail), without a gap, so that neither end has to be searched for.
type queue struct{ head, tail uint64 }

func (q queue) len() uint64 { return q.tail - q.head }

// retries are URLs that wait for a time.
type retries struct {
	count uint64
	// headMS is the time of the first, where scans begin: entries that left
	// leave traces in the store that would have to be stepped over.
	headMS int64
	// seq is the number of the next one to come.
	seq uint64
}

// visit is what a domain's record remembers of a visit that is out. Its id is
// made of offset and index.
type visit struct {
	offset  int64
	index   uint32
	count   uint32
	open    uint32 // bit i: request i has no outcome yet
	leaseMS int64
	delayMS uint32
	robots  bool
	probe   bool
}

// unsettled is the number of requests without an outcome.
func (v visit) unsettled() int64 { return int64(bits.OnesCount32(v.open)) }

func (v visit) isOpen(index uint32) bool {
	return index < v.count && v.open&(1<<index) != 0
}

// queued is the number of URLs in queues, retries and groups that are pending.
func (d *domain) queued() int64 {
	n := d.retries.count + d.asides.waiting()
	for _, q := range d.queues {
		n += q.len()
	}
	return int64(n)
}

// pending tells whether the domain is not empty.
func (d *domain) pending() bool { return d.queued() > 0 || len(d.visits) > 0 }

// find returns the index in visits of the one released at offset, or -1.
func (d *domain) find(offset int64, index uint32) int {
	for i, v := range d.visits {
		if v.offset == offset && v.index == index {
			return i
		}
	}
	return -1
}

// firstLease is the end of the lease that ends first, 0 when none is out.
func (d *domain) firstLease() int64 {
	var first int64
	for i, v := range d.visits {
		if i == 0 || v.leaseMS < first {
			first = v.leaseMS
		}
	}
	return first
}

// timing is the part that an event carries whole.
func (d *domain) timing(dueMS int64) *weftpb.Timing {
	return &weftpb.Timing{
		DueMs:         dueMS,
		NextMs:        d.nextMS,
		Failures:      d.breaker.Failures,
		BreakerCycles: d.breaker.Cycles,
		BreakerOpen:   d.breaker.Open,
		Turn:          d.turn,
		ResponseMs:    d.responseMS,
		AnsweredBy:    d.answeredBy,
		AnsweredMs:    d.answeredMS,
	}
}

// setTiming takes over an event's timing but for DueMs, which is an index too.
func (d *domain) setTiming(t *weftpb.Timing) {
	d.nextMS = t.NextMs
	d.breaker = politeness.Breaker{Failures: t.Failures, Cycles: t.BreakerCycles, Open: t.BreakerOpen}
	d.turn = t.Turn
	d.responseMS = t.ResponseMs
	d.answeredBy, d.answeredMS = t.AnsweredBy, t.AnsweredMs
}

func (d *domain) encode() []byte {
	w := make(writer, 0, 96+24*len(d.visits))
	for _, q := range d.queues {
		w.uint(q.head)
		w.uint(q.len())
	}
	w.uint(d.retries.count)
	w.int(d.retries.headMS)
	w.uint(d.retries.seq)
	w.uint(d.origins)
	w.int(d.dueMS)
	w.int(d.leaseMS)
	w.int(d.nextMS)
	w.uint(uint64(d.breaker.Failures))
	w.uint(uint64(d.breaker.Cycles))
	answered := d.answeredBy != 0 || d.answeredMS != 0 || d.unhealthy != 0
	grouped := d.asides != (asides{})
	w.bool(d.breaker.Open, answered, grouped)
	w.uint(uint64(d.turn))
	w.uint(uint64(d.responseMS))
	w.uint(uint64(len(d.visits)))
	for _, v := range d.visits {
		w.int(v.offset)
		w.uint(uint64(v.index))
		w.uint(uint64(v.count))
		w.uint(uint64(v.open))
		w.int(v.leaseMS)
		w.uint(uint64(v.delayMS))
		w.bool(v.robots, v.probe)
	}
	if answered { // not in records of earlier versions
		w.uint(d.answeredBy)
		w.int(d.answeredMS)
		w.uint(d.unhealthy)
	}
	if grouped { // not in records of earlier versions
		for _, n := range d.asides.counts {
			w.uint(n)
		}
		w.int(d.asides.movedMS)
	}
	return w
}

// decodeDomain reads a record; no value at all is a domain never heard of.
func decodeDomain(b []byte) (*domain, error) {
	d := &domain{}
	if b == nil {
		return d, nil
	}
	r := reader{rest: b}
	for i := range d.queues {
		head := r.uint()
		d.queues[i] = queue{head: head, tail: head + r.uint()}
	}
	d.retries = retries{count: r.uint(), headMS: r.int(), seq: r.uint()}
	d.origins = r.uint()
	d.dueMS, d.leaseMS, d.nextMS = r.int(), r.int(), r.int()
	d.breaker = politeness.Breaker{Failures: r.uint32(), Cycles: r.uint32()}
	flags := r.bits(3)
	d.breaker.Open = flags&1 != 0
	d.turn, d.responseMS = r.uint32(), r.uint32()
	n := r.uint()
	if n > maxPerDomain {
		return nil, errValue
	}
	for range n {
		v := visit{offset: r.int(), index: r.uint32(), count: r.uint32(), open: r.uint32(), leaseMS: r.int(), delayMS: r.uint32()}
		kind := r.bits(2)
		v.robots, v.probe = kind&1 != 0, kind&2 != 0
		d.visits = append(d.visits, v)
	}
	if flags&2 != 0 {
		d.answeredBy, d.answeredMS, d.unhealthy = r.uint(), r.int(), r.uint()
	}
	if flags&4 != 0 {
		for c := range d.asides.counts {
			d.asides.counts[c] = r.uint()
		}
		d.asides.movedMS = r.int()
		r.bad = r.bad || d.asides == (asides{})
	}
	return d, r.err()
}
