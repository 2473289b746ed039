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
	// origins is the number of origins heard of, which is the id of the latest.
	origins uint32
	// held is the number of URLs in queues and retries of origins, upBy of those in queues of
	// origins that are not down, by priority. uncounted: a former version wrote the record,
	// without upBy.
	held      uint64
	upBy      [priorities]uint64
	uncounted bool
	// ready is how many origins have URLs of a priority that may go out, served the
	// id of the one that was served last.
	ready  [priorities]uint64
	served [priorities]uint32
	// waiting is how many origins wait for a time, waitMS the first of these times.
	waiting uint64
	waitMS  int64

	// visits are out, oldest first.
	visits []visit

	// dueMS is the entry of the back queue of priority dueIn, leaseMS the one of the
	// leases: the earliest of visits. 0: none.
	dueMS, leaseMS int64
	dueIn          int
	// nextMS is the earliest time of the next release.
	nextMS     int64
	turn       uint32
	responseMS uint32
	// waited: the last visit was for an origin whose time to wait was over.
	waited bool
	// crowded: nothing goes out before nextMS because its address is asked as often as it
	// may be.
	crowded bool
	groups  groupCounts

	// setting is what people ask for it.
	setting setting
	// known is the number of its URLs that were ever admitted; those of former versions
	// are not counted.
	known uint64
	day   day
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
	check   bool
	// hangs: its last request hangs, and the domain goes on without it.
	hangs bool
}

// maxHanging is how many visits of a domain may hang.
const maxHanging = politeness.MaxHanging

// aside tells whether its request is not for a URL of the crawl.
func (v visit) aside() bool { return v.robots || v.check }

func (v visit) unsettled() int64 { return int64(bits.OnesCount32(v.open)) }

func (v visit) isOpen(index uint32) bool {
	return index < v.count && v.open&(1<<index) != 0
}

// queued is the number of URLs in queues, retries and groups that are pending.
func (d *domain) queued() int64 { return int64(d.held + d.groups.waiting()) }

func (d *domain) pending() bool { return d.queued() > 0 || len(d.visits) > 0 }

// out is the number of visits that the domain waits for, hanging that of the others.
func (d *domain) out() (out, hanging int) {
	for _, v := range d.visits {
		if v.hangs {
			hanging++
		}
	}
	return len(d.visits) - hanging, hanging
}

// backQueueByDefault is the back queue of domains that have no URLs in queues but for hosts
// that are down, and of all domains in the records of former versions.
const backQueueByDefault = 2

// backQueue is the back queue to which the domain belongs: that of the highest priority
// of the URLs in its queues, unless people ask for another. URLs that wait for a host that is
// down do not count: however urgent they are, a visit of the domain is for others.
func (d *domain) backQueue() int {
	own := slices.IndexFunc(d.upBy[:], func(n uint64) bool { return n > 0 })
	if own < 0 {
		own = backQueueByDefault
	}
	return politeness.Asked(d.setting.priority, own)
}

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
	return &weftpb.Timing{DueMs: dueMS, NextMs: d.nextMS, Turn: d.turn, ResponseMs: d.responseMS, Waited: d.waited, Crowded: d.crowded}
}

// setTiming takes over an event's timing but for DueMs, which is an index too.
func (d *domain) setTiming(t *weftpb.Timing) {
	d.nextMS, d.turn, d.responseMS, d.waited, d.crowded = t.NextMs, t.Turn, t.ResponseMs, t.Waited, t.Crowded
}

func (d *domain) fields(f *kv.Fields) {
	f.Uint32(&d.origins)
	f.Uint(&d.held)
	for p := range priorities {
		f.Uint(&d.ready[p])
		f.Uint32(&d.served[p])
	}
	f.Uint(&d.waiting)
	f.Int(&d.waitMS)
	f.Int(&d.dueMS)
	f.Int(&d.leaseMS)
	f.Int(&d.nextMS)
	f.Uint32(&d.turn)
	f.Uint32(&d.responseMS)
	kv.List(f, &d.visits, maxPerDomain+maxHanging, func(v *visit) { v.fields(f) })
	grouped, counted, up := d.groups != (groupCounts{}), true, true
	in := uint8(d.dueIn ^ backQueueByDefault)
	high, low := in&2 != 0, in&1 != 0
	set, metered := d.setting != (setting{}), d.known > 0 || d.day != (day{})
	f.Bools(&grouped, &d.waited, &counted, &high, &low, &set, &metered, &d.crowded, &up)
	d.dueIn = (bit(high)<<1 | bit(low)) ^ backQueueByDefault
	if grouped {
		d.groups.fields(f)
	}
	d.uncounted = !counted || !up // or what is down is counted too
	if counted {
		for p := range priorities {
			f.Uint(&d.upBy[p])
		}
	}
	if set {
		d.setting.fields(f)
	}
	if metered {
		f.Uint(&d.known)
		d.day.fields(f)
	}
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (v *visit) fields(f *kv.Fields) {
	f.Int(&v.offset)
	f.Uint32(&v.index)
	f.Uint32(&v.count)
	f.Uint32(&v.open)
	f.Int(&v.leaseMS)
	f.Uint32(&v.delayMS)
	f.Bools(&v.robots, &v.probe, &v.check, &v.hangs)
}

func (a *groupCounts) fields(f *kv.Fields) {
	for c := range a.counts {
		f.Uint(&a.counts[c])
	}
	f.Int(&a.movedMS)
	f.Require(*a != (groupCounts{}))
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
