package frontier

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
	"github.com/weftcrawl/weft/internal/urls"
)

// A domain has two indexes of its origins, so that a decision need not search all origins. The
// first index has the origins with URLs that may go out now, for each priority. These origins
// are served in turn, by their ids. The second index has the origins that wait, ordered by the
// end of their wait. An origin whose robots.txt is being fetched is in neither index.

// place says which entries an origin has in these indexes. It follows from the records of the
// origin and its host. It does not depend on a clock.
type place struct {
	// ready has bit p if URLs of priority p may go out.
	ready uint8
	// waitMS is the end of the wait, 0 if the origin does not wait. Afterwards the origin is
	// served in every other visit. An origin without a robots.txt so far waits, too: pages link
	// to many names that do not exist, and visits to them yield nothing.
	waitMS int64
}

// placeOf returns the entries that an origin must have.
func placeOf(o *origin, h *host) (at place) {
	if o.held() == 0 {
		return at
	}
	refused := h.refuse != "" || o.refuse != "" || o.health.refuse != ""
	switch {
	case o.retries.count > 0 && o.retries.headMS == referralMS:
		at.waitMS = referralMS // a referral goes out whatever robots.txt says
		if !refused {
			at.waitMS = max(referralMS, h.waitMS, h.hangsMS, h.silentMS)
		}
		return at
	case o.robotsOut:
		return at
	case refused:
	default:
		at.waitMS = max(h.waitMS, h.hangsMS, h.silentMS, o.health.waitMS)
		if !o.kept {
			at.waitMS = max(at.waitMS, o.retryMS)
		}
	}
	if o.queued() == 0 {
		at.waitMS = max(at.waitMS, o.retries.headMS)
	}
	if at.waitMS > 0 {
		return at
	}
	for p, q := range o.queues {
		if q.len() > 0 {
			at.ready |= 1 << p
		}
	}
	return at
}

// place corrects the entries of an origin in the indexes.
func (x *fold) place(name string, o *origin) {
	to := placeOf(o, x.host(urls.HostOf(name)))
	for p := range priorities {
		bit := uint8(1) << p
		switch {
		case to.ready&bit == o.at.ready&bit:
		case to.ready&bit != 0:
			x.store.Set(x.keys.ready(p, o.id), []byte(name))
			x.d.ready[p]++
		default:
			x.store.Delete(x.keys.ready(p, o.id))
			x.d.ready[p]--
		}
	}
	from := o.at.waitMS
	if o.at = to; from == to.waitMS {
		return
	}
	if to.waitMS > 0 {
		x.store.Set(x.keys.waiting(to.waitMS, o.id), []byte(name))
		if x.d.waiting++; x.d.waiting == 1 || to.waitMS < x.d.waitMS {
			x.d.waitMS = to.waitMS
		}
	}
	if from == 0 {
		return
	}
	x.store.Delete(x.keys.waiting(from, o.id))
	x.d.waiting--
	if from == x.d.waitMS {
		x.d.waitMS = 0
		for key := range kv.Range(x.store, x.keys.waiting(from, 0), x.keys.make(waitingKind+1, 0)) {
			x.d.waitMS = x.keys.waitingMS(key)
			break
		}
	}
}

// origin returns the record of an origin, and whether the domain has heard of the origin. Only
// change may change the record.
func (x *fold) origin(name string) (o *origin, heard bool) {
	if o, ok := x.origins[name]; ok {
		return o, o.id > 0
	}
	o = &origin{}
	if b := x.store.Get(x.keys.origin(name)); b != nil {
		var err error
		if o, err = decodeOrigin(b); err != nil {
			x.fail(fmt.Errorf("read origin %s: %w", name, err))
		}
	}
	if x.origins == nil {
		x.origins = map[string]*origin{}
	}
	x.origins[name] = o
	return o, o.id > 0
}

// change changes the record of an origin, and with it the counts of its URLs and its place. An
// origin that the domain has not heard of is added.
func (x *fold) change(name string, change func(*origin)) {
	o, heard := x.origin(name)
	h := x.host(urls.HostOf(name))
	held, down, up := o.held(), o.downURLs(h), o.upURLs(h)
	if !heard {
		x.d.origins++
		o.id, o.retryMS = x.d.origins, x.nowMS
	}
	change(o)
	x.d.held += o.held() - held
	x.countUp(up, o.upURLs(h))
	x.g.queued += int64(o.held()) - int64(held)
	x.g.down += o.downURLs(h) - down
	x.place(name, o)
	x.touch(name)
}

// countUp corrects domain.upURLs after a change: an origin added before to it, and now adds after.
func (x *fold) countUp(before, after [priorities]uint64) {
	for p := range priorities {
		x.d.upURLs[p] += after[p] - before[p]
	}
}

// touch notes that the record of an origin is to be written.
func (x *fold) touch(name string) {
	if x.changed == nil {
		x.changed = map[string]bool{}
	}
	x.changed[name] = true
}

// saveOrigins writes the records of origins and hosts that were changed.
func (x *fold) saveOrigins() {
	for _, name := range slices.Sorted(maps.Keys(x.changed)) {
		x.store.Set(x.keys.origin(name), x.origins[name].encode())
	}
	for _, name := range slices.Sorted(maps.Keys(x.changedHosts)) {
		if h := x.hosts[name]; *h == (host{}) {
			x.store.Delete(x.keys.host(name))
		} else {
			x.store.Set(x.keys.host(name), h.encode())
		}
	}
}

// first returns the URL at the front of a queue of an origin. With again, it returns the first
// of its retries. It is nil if the URL cannot be read.
func (x *fold) first(o *origin, priority int, again bool) (q *weftpb.Request) {
	if again {
		for e, err := range entries(x.store, x.keys.retry(o.id, o.retries.headMS, 0), x.keys.retry(o.id+1, 0, 0)) {
			if err != nil {
				x.fail(fmt.Errorf("read retries: %w", err))
				return nil
			}
			e.Again = true
			return e.Request
		}
		x.fail(fmt.Errorf("read retries: %d entries are missing: %w", o.retries.count, kv.ErrValue))
		return nil
	}
	q, err := decodeRequest(x.store.Get(x.keys.queue(o.id, priority, o.queues[priority].head)))
	if err != nil {
		x.fail(fmt.Errorf("read queue %d at %d: %w", priority, o.queues[priority].head, err))
		return nil
	}
	return q
}

// pull removes the URL at the front of a queue of its origin. With again, it removes the first
// of the origin's retries.
func (x *fold) pull(url string, priority uint32, again bool) {
	name, _ := originOf(url)
	o, _ := x.origin(name)
	switch {
	case again && o.retries.count == 0:
		x.impossible("%q leaves the retries of %s, which are empty", url, name)
	case again:
		x.change(name, func(o *origin) { x.takeRetry(o) })
	case priority >= priorities:
		x.impossible("a URL leaves a queue that does not exist")
	case o.queues[priority].len() == 0:
		x.impossible("%q leaves queue %d of %s, which is empty", url, priority, name)
	default:
		x.change(name, func(o *origin) {
			q := &o.queues[priority]
			x.store.Delete(x.keys.queue(o.id, int(priority), q.head))
			q.head++
			if r := &o.retries; r.count > 0 {
				r.passed = min(r.passed+1, run)
			}
		})
	}
}

// takeRetry removes the first of the retries of an origin.
func (x *fold) takeRetry(o *origin) {
	var gone []byte
	next := int64(0)
	for key := range kv.Range(x.store, x.keys.retry(o.id, o.retries.headMS, 0), x.keys.retry(o.id+1, 0, 0)) {
		if gone != nil {
			next = x.keys.retryMS(key)
			break
		}
		gone = slices.Clone(key)
	}
	if gone == nil {
		x.impossible("a URL leaves the retries, of which none was found")
		return
	}
	x.store.Delete(gone)
	o.retries.count--
	o.retries.headMS, o.retries.passed = next, 0
}

func (x *fold) admit(q *weftpb.Request) {
	if !isReferral(q) {
		x.d.known++
	}
	switch {
	case q.GetTarget().GetUrl() == "" || q.Priority >= priorities:
		x.impossible("admission of %q with priority %d", q.GetTarget().GetUrl(), q.GetPriority())
	case isReferral(q):
		x.retry(q, x.nowMS)
	case q.Target.Group != "":
		x.joinGroup(q)
	default:
		x.queue(q)
	}
}

// queue puts a URL at the end of the queue of its priority.
func (x *fold) queue(q *weftpb.Request) {
	name, _ := originOf(q.Target.Url)
	x.change(name, func(o *origin) {
		queue := &o.queues[q.Priority]
		x.store.Set(x.keys.queue(o.id, int(q.Priority), queue.tail), encodeRequest(q))
		queue.tail++
	})
}

// retry adds a URL to the retries of its origin. Referrals go in front of all others.
func (x *fold) retry(q *weftpb.Request, atMS int64) {
	if isReferral(q) {
		atMS = referralMS
	}
	name, _ := originOf(q.GetTarget().GetUrl())
	x.change(name, func(o *origin) {
		r := &o.retries
		x.store.Set(x.keys.retry(o.id, atMS, r.seq), encodeRequest(q))
		if r.count == 0 || atMS < r.headMS {
			r.headMS = atMS
		}
		r.seq++
		r.count++
	})
}

// nextReady returns the name of the next origin with URLs of a priority that may go out: the one
// after the origin with an id. It is empty if there is none.
func (x *fold) nextReady(priority int, after uint32) (name string) {
	from := x.keys.ready(priority, after+1)
	for _, value := range kv.Range(x.store, from, x.keys.ready(priority+1, 0)) {
		return string(value)
	}
	for _, value := range kv.Range(x.store, x.keys.ready(priority, 0), from) {
		return string(value)
	}
	return ""
}

// nextWaiting returns the name of the origin whose wait ends first. It is empty if no origin
// waits.
func (x *fold) nextWaiting() (name string) {
	for _, value := range kv.Range(x.store, x.keys.waiting(x.d.waitMS, 0), x.keys.make(waitingKind+1, 0)) {
		return string(value)
	}
	return ""
}

func seqOf(key []byte) uint64 { return binary.BigEndian.Uint64(key[len(key)-8:]) }
