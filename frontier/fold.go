package frontier

import (
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/state"
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
type fold struct {
	store     state.Store
	partition int32
	offset    int64
	nowMS     int64
	keys      keys
	d         *domain
	g         gauges

	wasPending, wasOut bool
	began, ended       []visit
	reasons            []string
	// requests are those of visits that were read, by offset and index.
	requests map[visitKey][]*weftpb.Request
}

type visitKey struct {
	offset int64
	index  uint32
}

// openFold reads the state of a domain.
func openFold(store state.Store, partition int32, name string, offset, nowMS int64) (fold, error) {
	x := fold{store: store, partition: partition, offset: offset, nowMS: nowMS, keys: keysOf(name)}
	var err error
	if x.d, err = decodeDomain(store.Get(x.keys.record())); err != nil {
		return x, fmt.Errorf("read record of domain %s: %w", name, err)
	}
	if x.g, err = decodeGauges(store.Get([]byte{gaugesKey})); err != nil {
		return x, fmt.Errorf("read gauges: %w", err)
	}
	x.wasPending, x.wasOut = x.d.pending(), len(x.d.visits) > 0
	return x, nil
}

// arrive folds what came from outside: URLs, outcomes, rules, and leases that
// ran out or began anew.
func (x *fold) arrive(ev *weftpb.Scheduled) error {
	for _, id := range ev.Expired {
		if err := x.expire(id); err != nil {
			return err
		}
	}
	for _, r := range ev.Renewed {
		if err := x.renew(r); err != nil {
			return err
		}
	}
	for _, g := range ev.Groups {
		if err := x.setState(g); err != nil {
			return err
		}
	}
	for _, a := range ev.Admitted {
		if err := x.admit(a.GetRequest()); err != nil {
			return err
		}
	}
	for _, r := range ev.Recalled {
		if err := x.recall(r); err != nil {
			return err
		}
	}
	for _, r := range ev.Rules {
		if err := x.learn(r); err != nil {
			return err
		}
	}
	for _, h := range ev.Health {
		if err := x.foldHealth(h); err != nil {
			return err
		}
	}
	for _, s := range ev.Settled {
		if s.Visit == "" {
			continue
		}
		if err := x.settle(s); err != nil {
			return err
		}
	}
	return nil
}

// leave folds what was decided about the queues: URLs refused, put off and
// released. They are the ones at the front.
func (x *fold) leave(ev *weftpb.Scheduled) error {
	var fronts fronts
	for _, s := range ev.Settled {
		if s.Visit == "" {
			fronts.count(s.Priority, s.Again, s.Group)
			x.end(s.Reason)
		}
	}
	for _, f := range ev.Deferred {
		fronts.countRequest(f.GetRequest())
	}
	for _, v := range ev.Released {
		for _, q := range v.Requests {
			if !v.Robots {
				fronts.countRequest(q)
			}
		}
	}
	if err := x.take(fronts); err != nil {
		return err
	}
	for _, f := range ev.Deferred {
		x.retry(f.Request, f.RetryMs)
	}
	for i, v := range ev.Released {
		if err := x.release(v, uint32(i)); err != nil {
			return err
		}
	}
	if x.d.asides.waiting() > 0 && len(ev.Admitted)+len(ev.Recalled)+len(ev.Settled)+len(ev.Groups) > 0 {
		x.d.asides.movedMS = x.nowMS
	}
	return nil
}

// end counts the end of a URL's journey; a referral is none.
func (x *fold) end(reason string) {
	if reason == ReasonRobots {
		return
	}
	x.g.settle(reason)
	x.reasons = append(x.reasons, reason)
}

// learn folds robots rules, or that they could not be had.
func (x *fold) learn(r *weftpb.OriginRules) error {
	o, heard, err := x.origin(r.Origin)
	if err != nil {
		return err
	}
	if !heard {
		return impossible("rules of %s, which was not asked", r.Origin)
	}
	o.learn(r, x.nowMS)
	x.store.Set(x.keys.origin(r.Origin), o.encode())
	switch {
	case r.Unchanged, r.Robots.GetAccess() == weftpb.Robots_ACCESS_DISALLOW_ALL:
	case o.unrestricted:
		x.store.Delete(x.keys.policy(r.Origin))
	default:
		b, err := proto.MarshalOptions{Deterministic: true}.Marshal(r.Robots)
		if err != nil {
			return impossible("rules of %s: %w", r.Origin, err)
		}
		x.store.Set(x.keys.policy(r.Origin), b)
	}
	return nil
}

// origin reads what is known of an origin and whether anything is.
func (x *fold) origin(name string) (*origin, bool, error) {
	b := x.store.Get(x.keys.origin(name))
	if b == nil {
		return &origin{}, false, nil
	}
	o, err := decodeOrigin(b)
	if err != nil {
		return nil, false, fmt.Errorf("read origin %s: %w", name, err)
	}
	return o, true, nil
}

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
