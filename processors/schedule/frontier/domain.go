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

// domain is the record of one registrable domain. The zero value is an unknown domain. The size
// of the record does not depend on the number of URLs.
type domain struct {
	// origins is the number of known origins. It is also the id of the latest one.
	origins uint32
	// held is the number of URLs in queues and retries of origins. upURLs is the number of URLs in
	// the queues of origins that are not down, by priority. uncounted: a former version wrote the
	// record, without upURLs.
	held      uint64
	upURLs    [priorities]uint64
	uncounted bool
	// ready is the number of origins with URLs of a priority that may go out. served is the id of
	// the origin that was served last.
	ready  [priorities]uint64
	served [priorities]uint32
	// waiting is the number of origins that wait. waitMS is the end of the first wait.
	waiting uint64
	waitMS  int64

	// visits are out, oldest first.
	visits []visit

	// dueMS is the time of the domain's entry in the back queue of priority dueIn. leaseMS is the
	// time of its entry in the index of leases, the earliest end of a lease. 0: there is no
	// entry.
	dueMS, leaseMS int64
	dueIn          int
	// nextMS is the earliest time of the next release.
	nextMS     int64
	turn       uint32
	responseMS uint32
	// waited: the last visit was for an origin whose wait was over.
	waited bool
	// crowded: no request goes out before nextMS, because the budget of the address is used up.
	crowded bool
	groups  groupCounts

	// setting is what people ask for the domain.
	setting setting
	// known is the number of URLs that were ever admitted. URLs that a former version admitted
	// are not counted.
	known uint64
	day   day
}

// visit is the part of a visit that is out that the domain's record keeps. offset and index make
// its id.
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
	// hangs: the last request of the visit hangs, and the domain goes on without the visit.
	hangs bool
}

// maxHanging is the number of visits of a domain that may hang at a time.
const maxHanging = politeness.MaxHanging

// aside tells whether the request of the visit is not for a URL of the crawl.
func (v visit) aside() bool { return v.robots || v.check }

func (v visit) unsettled() int64 { return int64(bits.OnesCount32(v.open)) }

func (v visit) isOpen(index uint32) bool {
	return index < v.count && v.open&(1<<index) != 0
}

// queued is the number of URLs in queues, retries and groups that are pending.
func (d *domain) queued() int64 { return int64(d.held + d.groups.waiting()) }

func (d *domain) pending() bool { return d.queued() > 0 || len(d.visits) > 0 }

// out returns the number of visits that the domain waits for, and the number of visits that
// hang.
func (d *domain) out() (out, hanging int) {
	for _, v := range d.visits {
		if v.hangs {
			hanging++
		}
	}
	return len(d.visits) - hanging, hanging
}

// backQueueByDefault is the back queue of domains that have only URLs of hosts that are down, or
// no URLs in queues. It is also the back queue of all domains in the records of former versions.
const backQueueByDefault = 2

// backQueue returns the back queue of the domain. It is the one of the highest priority of the
// URLs in its queues, unless a setting asks for another one. URLs of a host that is down do not
// count, because the next visit of the domain is not for them.
func (d *domain) backQueue() int {
	own := slices.IndexFunc(d.upURLs[:], func(n uint64) bool { return n > 0 })
	if own < 0 {
		own = backQueueByDefault
	}
	return politeness.Asked(d.setting.priority, own)
}

// find returns the index in visits of the visit with this offset and index. It returns -1 if the
// visit is not out.
func (d *domain) find(offset int64, index uint32) int {
	return slices.IndexFunc(d.visits, func(v visit) bool { return v.offset == offset && v.index == index })
}

// firstLease returns the earliest end of a lease, 0 if no visit is out.
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

// setTiming copies the timing of an event, except for DueMs: the index of due times changes with
// DueMs.
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
			f.Uint(&d.upURLs[p])
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
