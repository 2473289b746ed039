package frontier

import (
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
)

// ErrImpossible means that an event cannot follow what the store holds: it is
// corrupt, or belongs to another history.
var ErrImpossible = errors.New("impossible event")

func impossible(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrImpossible, fmt.Errorf(format, args...))
}

// fold applies the facts of one event about one domain. A decision folds into
// an overlay and Apply into the store, with the same code. The record of the
// domain, the gauges and the indexes are written only at the end, by save.
//
// Like its store, a fold keeps its first error. What it reads and folds after that does
// not count: the decision or Apply ends with the error.
type fold struct {
	store     kv.Store
	partition int32
	offset    int64
	nowMS     int64
	keys      keys
	d         *domain
	g         gauges
	err       error

	wasPending, wasOut bool
	began, ended       []visit
	reasons            map[string]uint64 // URLs that ended, by reason
	// requests are those of visits that were read, by offset and index.
	requests map[visitKey][]*weftpb.Request
}

type visitKey struct {
	offset int64
	index  uint32
}

func (x *fold) fail(err error) {
	if x.err == nil {
		x.err = err
	}
}

func (x *fold) impossible(format string, args ...any) { x.fail(impossible(format, args...)) }

func openFold(store kv.Store, partition int32, name string, offset, nowMS int64) (fold, error) {
	x := fold{store: store, partition: partition, offset: offset, nowMS: nowMS, keys: keysOf(name)}
	var err error
	if x.d, err = decodeDomain(store.Get(x.keys.record())); err != nil {
		return x, fmt.Errorf("read record of domain %s: %w", name, err)
	}
	if x.g, err = readGauges(store); err != nil {
		return x, err
	}
	x.wasPending, x.wasOut = x.d.pending(), len(x.d.visits) > 0
	return x, nil
}

// arrive folds what came from outside: URLs, outcomes, rules, and leases that
// ran out or began anew.
func (x *fold) arrive(ev *weftpb.Scheduled) {
	for _, id := range ev.Expired {
		x.expire(id)
	}
	for _, r := range ev.Renewed {
		x.renew(r)
	}
	for _, g := range ev.Groups {
		x.setState(g)
	}
	for _, a := range ev.Admitted {
		x.admit(a.GetRequest())
	}
	for _, r := range ev.Recalled {
		x.recall(r)
	}
	for _, r := range ev.Rules {
		x.learn(r)
	}
	for _, h := range ev.Health {
		x.foldHealth(h)
	}
	for _, s := range ev.Settled {
		if s.Visit != "" {
			x.settle(s)
		}
	}
}

// leave folds what was decided about the queues: URLs refused, put off and
// released. They are the ones at the front.
func (x *fold) leave(ev *weftpb.Scheduled) {
	var fronts fronts
	for _, s := range ev.Settled {
		if s.Visit == "" {
			x.leaves(&fronts, s.Priority, s.Again, s.Group)
			x.end(s.Reason)
		}
	}
	for _, d := range ev.Deferred {
		q := d.GetRequest()
		x.leaves(&fronts, q.GetPriority(), q.GetAgain(), q.GetTarget().GetGroup())
	}
	for _, v := range ev.Released {
		for _, q := range v.Requests {
			if !v.Robots {
				x.leaves(&fronts, q.GetPriority(), q.GetAgain(), q.GetTarget().GetGroup())
			}
		}
	}
	x.take(fronts)
	for _, f := range ev.Deferred {
		x.retry(f.Request, f.RetryMs)
	}
	for i, v := range ev.Released {
		x.release(v, uint32(i))
	}
	if x.d.groups.waiting() > 0 && len(ev.Admitted)+len(ev.Recalled)+len(ev.Settled)+len(ev.Groups) > 0 {
		x.d.groups.movedMS = x.nowMS
	}
}

// end counts the end of a URL's journey; a referral is none.
func (x *fold) end(reason string) {
	if reason == ReasonRobots {
		return
	}
	x.g.settle(reason)
	if x.reasons == nil {
		x.reasons = map[string]uint64{}
	}
	x.reasons[reason]++
}

// learn folds robots rules, or that they could not be had.
func (x *fold) learn(r *weftpb.OriginRules) {
	o, heard := x.origin(r.Origin)
	if !heard {
		x.impossible("rules of %s, which was not asked", r.Origin)
	}
	o.learn(r, x.nowMS)
	x.setOrigin(r.Origin, o)
	switch {
	case r.Unchanged, r.Robots.GetAccess() == weftpb.Robots_ACCESS_DISALLOW_ALL:
	case o.unrestricted:
		x.store.Delete(x.keys.policy(r.Origin))
	default:
		b, err := proto.MarshalOptions{Deterministic: true}.Marshal(r.Robots)
		if err != nil {
			x.impossible("rules of %s: %w", r.Origin, err)
		}
		x.store.Set(x.keys.policy(r.Origin), b)
	}
}

// origin reads what is known of an origin and whether anything is.
func (x *fold) origin(name string) (o *origin, heard bool) {
	b := x.store.Get(x.keys.origin(name))
	if b == nil {
		return &origin{}, false
	}
	o, err := decodeOrigin(b)
	if err != nil {
		x.fail(fmt.Errorf("read origin %s: %w", name, err))
	}
	return o, true
}

func (x *fold) setOrigin(name string, o *origin) { x.store.Set(x.keys.origin(name), o.encode()) }

// count brings the gauges of domains up to date, once, at the end.
func (x *fold) count() {
	x.g.domains += change(x.wasPending, x.d.pending())
	x.g.domainsOut += change(x.wasOut, len(x.d.visits) > 0)
	x.wasPending, x.wasOut = x.d.pending(), len(x.d.visits) > 0
}

func change(before, after bool) int64 {
	switch {
	case after && !before:
		return 1
	case before && !after:
		return -1
	}
	return 0
}

// checkState asserts that the domain is exactly one of empty, out and due.
func (x *fold) checkState(dueMS int64) error {
	queued, out := x.d.queued() > 0, len(x.d.visits) > 0
	switch {
	case dueMS < 0 || dueMS == math.MaxInt64:
		return impossible("domain is due at %d", dueMS)
	case !queued && dueMS != 0:
		return impossible("domain without queued URLs is due at %d", dueMS)
	case queued && !out && dueMS == 0:
		return impossible("domain with %d queued URLs is neither out nor due", x.d.queued())
	case out && x.d.firstLease() <= 0:
		return impossible("domain is out without a lease")
	}
	return nil
}
