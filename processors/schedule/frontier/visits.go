package frontier

import (
	"fmt"
	"slices"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
)

// These functions fold what happens to the visits of a domain.

func (x *fold) settle(s *weftpb.Settlement) {
	at, ok := x.lookup(s.Visit)
	if !ok {
		return
	}
	v := &x.d.visits[at]
	if !v.isOpen(s.Index) {
		x.impossible("request %d of visit %s is settled twice", s.Index, s.Visit)
		return
	}
	x.countAttempt(*v, s)
	switch {
	case v.aside():
	case s.RetryMs == 0:
		x.end(s.Reason)
		x.leaveToComeBack(*v, s)
	default:
		x.again(*v, s)
	}
	v.open &^= 1 << s.Index
	x.g.out--
	if v.open == 0 {
		x.close(at)
	}
}

// expire queues the requests again that a lost visit has not settled.
func (x *fold) expire(id string) {
	at, ok := x.lookup(id)
	if !ok {
		return
	}
	v := x.d.visits[at]
	for i := range v.count {
		if v.isOpen(i) && !v.aside() {
			x.again(v, &weftpb.Settlement{Index: i, RetryMs: -1})
		}
	}
	x.g.out -= v.unsettled()
	x.close(at)
}

// hang notes that the last request of a visit hangs, and that the domain goes on without the
// visit.
func (x *fold) hang(id string) {
	at, ok := x.lookup(id)
	if !ok {
		return
	}
	if _, hanging := x.d.out(); x.d.visits[at].hangs || hanging == maxHanging {
		x.impossible("visit %s hangs too, beside %d", id, hanging)
	}
	x.d.visits[at].hangs = true
}

func (x *fold) renew(r *weftpb.Renewal) {
	if at, ok := x.lookup(r.Visit); ok {
		x.d.visits[at].leaseMS = r.LeaseMs
	}
}

// again adds a request of a visit to the retries, for the time of its settlement, and counts the
// attempt. If the time is -1, the request was not made: it may go out at once, and no attempt is
// counted. If the URL keeps its attempts, nothing is counted. If the server asked for fewer
// requests, that is counted instead of an attempt.
func (x *fold) again(v visit, s *weftpb.Settlement) {
	q, at := x.requestsOf(v)[s.Index], s.RetryMs
	switch {
	case at < 0:
		at = x.nowMS
	case s.Kept:
	case s.Throttled:
		q.Throttled++
	default:
		q.Attempt++
	}
	x.retry(q, at)
}

// close ends a visit whose requests are all settled.
func (x *fold) close(at int) {
	v := x.d.visits[at]
	if v.robots {
		name, _ := originOf(x.requestsOf(v)[0].Target.GetUrl())
		x.change(name, func(o *origin) { o.robotsOut, o.answered = false, false })
	}
	x.store.Delete(x.keys.requests(v))
	x.d.visits = append(x.d.visits[:at:at], x.d.visits[at+1:]...)
	x.ended = append(x.ended, v)
	x.g.visits--
}

func (x *fold) release(r *weftpb.Visit, index uint32) {
	n := uint32(len(r.Requests))
	if n == 0 || n > maxRequests || (r.Robots || r.Check) && n > 1 {
		x.impossible("visit %s of %d requests", r.Id, n)
		return
	}
	if r.Id != VisitID(x.partition, x.offset, index) {
		x.impossible("visit %s is released at offset %d", r.Id, x.offset)
	}
	v := visit{
		offset: x.offset, index: index, count: n, open: uint32(1<<n - 1),
		leaseMS: r.LeaseMs, delayMS: r.DelayMs, robots: r.Robots, probe: r.Probe, check: r.Check,
	}
	if r.Robots {
		name, ok := originOf(r.Requests[0].GetTarget().GetUrl())
		if !ok {
			x.impossible("visit %s asks %q for robots.txt", r.Id, r.Requests[0].GetTarget().GetUrl())
		}
		x.change(name, func(o *origin) { o.robotsOut = true })
	}
	x.store.Set(x.keys.requests(v), encodeRequests(r.Requests))
	x.d.visits = append(x.d.visits, v)
	x.began = append(x.began, v)
	x.g.out += int64(n)
	x.g.visits++
}

// lookup returns the index in visits of the visit with an id.
func (x *fold) lookup(id string) (at int, ok bool) {
	offset, index, err := splitID(x.partition, id)
	if err != nil {
		x.impossible("%w", err)
		return 0, false
	}
	if at = x.d.find(offset, index); at < 0 {
		x.impossible("visit %s is not out", id)
	}
	return at, at >= 0
}

// requestsOf reads the requests of a visit. They are this fold's own. If they cannot be
// read, it returns empty ones.
func (x *fold) requestsOf(v visit) []*weftpb.Request {
	key := visitKey{v.offset, v.index}
	if qs, ok := x.requests[key]; ok {
		return qs
	}
	qs, err := decodeRequests(x.store.Get(x.keys.requests(v)))
	if err == nil && uint32(len(qs)) != v.count {
		err = kv.ErrValue
	}
	if err != nil {
		x.fail(fmt.Errorf("read requests of visit %s: %w", VisitID(x.partition, v.offset, v.index), err))
		qs = slices.Repeat([]*weftpb.Request{{Target: &weftpb.Target{}}}, maxRequests)
	}
	if x.requests == nil {
		x.requests = map[visitKey][]*weftpb.Request{}
	}
	x.requests[key] = qs
	return qs
}
