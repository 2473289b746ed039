package frontier

import (
	"fmt"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// Folding what happens to the visits of a domain.

// settle folds the outcome of one request of a visit.
func (x *fold) settle(s *weftpb.Settlement) error {
	at, err := x.lookup(s.Visit)
	if err != nil {
		return err
	}
	v := &x.d.visits[at]
	if !v.isOpen(s.Index) {
		return impossible("request %d of visit %s is settled twice", s.Index, s.Visit)
	}
	switch {
	case v.robots:
	case s.RetryMs == 0:
		x.end(s.Reason)
	default:
		if err := x.again(*v, s.Index, s.RetryMs); err != nil {
			return err
		}
	}
	v.open &^= 1 << s.Index
	x.g.out--
	if v.open == 0 {
		return x.close(at)
	}
	return nil
}

// expire queues again what a lost visit has not settled.
func (x *fold) expire(id string) error {
	at, err := x.lookup(id)
	if err != nil {
		return err
	}
	v := x.d.visits[at]
	for i := range v.count {
		if v.isOpen(i) && !v.robots {
			if err := x.again(v, i, -1); err != nil {
				return err
			}
		}
	}
	x.g.out -= v.unsettled()
	return x.close(at)
}

// renew gives a visit another lease.
func (x *fold) renew(r *weftpb.Renewal) error {
	at, err := x.lookup(r.Visit)
	if err != nil {
		return err
	}
	x.d.visits[at].leaseMS = r.LeaseMs
	return nil
}

// again puts a request of a visit among the retries: at a time and with its
// attempt counted, or, with -1, at once and without.
func (x *fold) again(v visit, index uint32, retryMS int64) error {
	qs, err := x.requestsOf(v)
	if err != nil {
		return err
	}
	q := qs[index]
	if retryMS < 0 {
		x.retry(q, x.nowMS)
		return nil
	}
	q.Attempt++
	x.retry(q, retryMS)
	return nil
}

// close ends a visit whose requests are all settled.
func (x *fold) close(at int) error {
	v := x.d.visits[at]
	if v.robots {
		qs, err := x.requestsOf(v)
		if err != nil {
			return err
		}
		name, _ := originOf(qs[0].Target.GetUrl())
		o, _, err := x.origin(name)
		if err != nil {
			return err
		}
		o.asked, o.answered = false, false
		x.store.Set(x.keys.origin(name), o.encode())
	}
	x.store.Delete(x.keys.requests(v))
	x.d.visits = append(x.d.visits[:at:at], x.d.visits[at+1:]...)
	x.ended = append(x.ended, v)
	x.g.visits--
	return nil
}

// release folds a visit that goes out.
func (x *fold) release(r *weftpb.Visit, index uint32) error {
	n := uint32(len(r.Requests))
	if n == 0 || n > maxRequests || r.Robots && n > 1 {
		return impossible("visit %s of %d requests", r.Id, n)
	}
	if r.Id != visitID(x.partition, x.offset, index) {
		return impossible("visit %s is released at offset %d", r.Id, x.offset)
	}
	v := visit{
		offset: x.offset, index: index, count: n, open: uint32(1<<n - 1),
		leaseMS: r.LeaseMs, delayMS: r.DelayMs, robots: r.Robots, probe: r.Probe,
	}
	if r.Robots {
		name, ok := originOf(r.Requests[0].GetTarget().GetUrl())
		if !ok {
			return impossible("visit %s asks %q for robots.txt", r.Id, r.Requests[0].GetTarget().GetUrl())
		}
		o, heard, err := x.origin(name)
		if err != nil {
			return err
		}
		if !heard {
			x.d.origins++
		}
		o.asked = true
		x.store.Set(x.keys.origin(name), o.encode())
	}
	x.store.Set(x.keys.requests(v), encodeRequests(r.Requests))
	x.d.visits = append(x.d.visits, v)
	x.began = append(x.began, v)
	x.g.out += int64(n)
	x.g.visits++
	return nil
}

// lookup finds a visit that is out by its id.
func (x *fold) lookup(id string) (int, error) {
	offset, index, err := splitID(x.partition, id)
	if err != nil {
		return 0, impossible("%w", err)
	}
	at := x.d.find(offset, index)
	if at < 0 {
		return 0, impossible("visit %s is not out", id)
	}
	return at, nil
}

// requestsOf reads the requests of a visit. They are this fold's own.
func (x *fold) requestsOf(v visit) ([]*weftpb.Request, error) {
	key := visitKey{v.offset, v.index}
	if qs, ok := x.requests[key]; ok {
		return qs, nil
	}
	qs, err := decodeRequests(x.store.Get(x.keys.requests(v)))
	if err == nil && uint32(len(qs)) != v.count {
		err = errValue
	}
	if err != nil {
		return nil, fmt.Errorf("read requests of visit %s: %w", visitID(x.partition, v.offset, v.index), err)
	}
	if x.requests == nil {
		x.requests = map[visitKey][]*weftpb.Request{}
	}
	x.requests[key] = qs
	return qs, nil
}
