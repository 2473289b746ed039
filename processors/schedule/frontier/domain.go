package frontier

import (
	"math/bits"
	"slices"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
	"github.com/weftcrawl/weft/internal/politeness"
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
	groups     groupCounts

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

func (v visit) unsettled() int64 { return int64(bits.OnesCount32(v.open)) }

func (v visit) isOpen(index uint32) bool {
	return index < v.count && v.open&(1<<index) != 0
}

// queued is the number of URLs in queues, retries and groups that are pending.
func (d *domain) queued() int64 {
	n := d.retries.count + d.groups.waiting()
	for _, q := range d.queues {
		n += q.len()
	}
	return int64(n)
}

func (d *domain) pending() bool { return d.queued() > 0 || len(d.visits) > 0 }

// find returns the index in visits of the one released at offset, or -1.
func (d *domain) find(offset int64, index uint32) int {
	return slices.IndexFunc(d.visits, func(v visit) bool { return v.offset == offset && v.index == index })
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

// fields are the fields of a record. Records of earlier versions have neither who
// answered nor groups.
func (d *domain) fields(f *kv.Fields) {
	for i := range d.queues {
		q := &d.queues[i]
		n := q.len()
		f.Uint(&q.head)
		f.Uint(&n)
		q.tail = q.head + n
	}
	f.Uint(&d.retries.count)
	f.Int(&d.retries.headMS)
	f.Uint(&d.retries.seq)
	f.Uint(&d.origins)
	f.Int(&d.dueMS)
	f.Int(&d.leaseMS)
	f.Int(&d.nextMS)
	f.Uint32(&d.breaker.Failures)
	f.Uint32(&d.breaker.Cycles)
	answered := d.answeredBy != 0 || d.answeredMS != 0 || d.unhealthy != 0
	grouped := d.groups != (groupCounts{})
	f.Bools(&d.breaker.Open, &answered, &grouped)
	f.Uint32(&d.turn)
	f.Uint32(&d.responseMS)
	kv.List(f, &d.visits, maxPerDomain, func(v *visit) {
		f.Int(&v.offset)
		f.Uint32(&v.index)
		f.Uint32(&v.count)
		f.Uint32(&v.open)
		f.Int(&v.leaseMS)
		f.Uint32(&v.delayMS)
		f.Bools(&v.robots, &v.probe)
	})
	if answered {
		f.Uint(&d.answeredBy)
		f.Int(&d.answeredMS)
		f.Uint(&d.unhealthy)
	}
	if grouped {
		for c := range d.groups.counts {
			f.Uint(&d.groups.counts[c])
		}
		f.Int(&d.groups.movedMS)
		f.Require(d.groups != (groupCounts{}))
	}
}

func (d *domain) encode() []byte { return kv.Encode(96+24*len(d.visits), d.fields) }

// decodeDomain reads a record; no value at all is a domain never heard of.
func decodeDomain(b []byte) (*domain, error) {
	d := &domain{}
	if b == nil {
		return d, nil
	}
	return d, kv.Decode(b, d.fields)
}
