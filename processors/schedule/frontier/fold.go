package frontier

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
	"github.com/weftcrawl/weft/internal/urls"
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
	wasBlocked         int64
	began, ended       []visit
	// toComeBack are URLs that are settled and come back later. putBack are URLs that have come
	// back.
	toComeBack, putBack []*weftpb.Refresh
	reasons             map[string]uint64 // URLs that ended, by reason
	// requests are the requests of visits that were read, by offset and index.
	requests map[visitKey][]*weftpb.Request
	// origins and hosts are the records that were read, by name. saveOrigins writes the changed
	// ones.
	origins               map[string]*origin
	hosts                 map[string]*host
	changed, changedHosts map[string]bool
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
	if x.d.uncounted {
		x.recount()
	}
	x.wasPending, x.wasOut, x.wasBlocked = x.d.pending(), len(x.d.visits) > 0, x.d.blocked()
	if nowMS > 0 && !waits(x.d.day.blockMS, nowMS) {
		x.d.day.blockMS = 0
	}
	return x, x.err
}

// recount counts the URLs in queues of origins that are not down, by priority. The record of a
// former version does not have these counts.
func (x *fold) recount() {
	x.d.upURLs = [priorities]uint64{}
	lower := x.keys.origin("")
	for key, value := range kv.Range(x.store, lower, x.keys.make(originKind+1, 0)) {
		o, err := decodeOrigin(value)
		if err != nil {
			x.fail(fmt.Errorf("read origin %s: %w", key[len(lower):], err))
			return
		}
		x.countUp([priorities]uint64{}, o.upURLs(x.host(urls.HostOf(string(key[len(lower):])))))
	}
	x.d.uncounted = false
}

// arrive folds the inputs of the decision: URLs, outcomes, rules, and leases that ran out or
// began anew.
func (x *fold) arrive(ev *weftpb.Scheduled) {
	x.set(ev.Setting)
	for _, id := range ev.Expired {
		x.expire(id)
	}
	for _, r := range ev.Renewed {
		x.renew(r)
	}
	for _, name := range ev.Woken {
		x.wake(name)
	}
	for _, g := range ev.Groups {
		x.setState(g)
	}
	for _, a := range ev.Admitted {
		x.admit(a.GetRequest())
	}
	for _, r := range ev.Refreshed {
		x.comeBack(r)
	}
	for _, r := range ev.Recalled {
		x.recall(r)
	}
	for _, r := range ev.Rules {
		x.learn(r)
	}
	for _, h := range ev.Health {
		x.changeHealth(h)
	}
	for _, h := range ev.Hosts {
		x.changeHost(h)
	}
	for _, s := range ev.Settled {
		if s.Visit != "" {
			x.settle(s)
		}
	}
	for _, id := range ev.Hanging {
		x.hang(id)
	}
}

// leave folds what was decided about URLs at the fronts of queues and groups: they are refused,
// put off or released. URLs that were in no group have left their queues before (pull). leave
// does the rest.
func (x *fold) leave(ev *weftpb.Scheduled) {
	var groups map[string]uint64 // how many URLs leave each
	for d := range departures(ev) {
		switch {
		case d.again:
		case d.group != "":
			if groups == nil {
				groups = map[string]uint64{}
			}
			groups[d.group]++
		case d.released && d.priority < priorities:
			name, _ := originOf(d.url)
			o, _ := x.origin(name)
			x.d.served[d.priority] = o.id
		}
	}
	for _, s := range ev.Settled {
		if s.Visit == "" {
			x.end(s.Reason)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		x.leaveGroup(name, groups[name])
	}
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

// pullAll removes the URLs that an event refuses, puts off or releases from the fronts of their
// queues and retries.
func (x *fold) pullAll(ev *weftpb.Scheduled) {
	for d := range departures(ev) {
		if d.again || d.group == "" {
			x.pull(d.url, d.priority, d.again)
		}
	}
}

// departure is a URL that leaves the front of a queue, of the retries (again) or of a group.
type departure struct {
	url, group string
	priority   uint32
	again      bool
	released   bool // or it is refused, or put off
}

// departures are the URLs that an event refuses, puts off or releases.
func departures(ev *weftpb.Scheduled) iter.Seq[departure] {
	of := func(q *weftpb.Request, released bool) departure {
		return departure{q.GetTarget().GetUrl(), q.GetTarget().GetGroup(), q.GetPriority(), q.GetAgain(), released}
	}
	return func(yield func(departure) bool) {
		for _, s := range ev.Settled {
			if s.Visit == "" && !yield(departure{s.Url, s.Group, s.Priority, s.Again, false}) {
				return
			}
		}
		for _, d := range ev.Deferred {
			if !yield(of(d.GetRequest(), false)) {
				return
			}
		}
		for _, v := range ev.Released {
			for _, q := range v.Requests {
				if !v.Robots && !v.Check && !yield(of(q, true)) {
					return
				}
			}
		}
	}
}

// end counts the end of a URL. A referral is not a URL of the crawl and is not counted.
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

// learn folds robots rules, or the failure to fetch them.
func (x *fold) learn(r *weftpb.OriginRules) {
	if _, heard := x.origin(r.Origin); !heard {
		x.impossible("rules of %s, which was not asked", r.Origin)
	}
	var unrestricted bool
	x.change(r.Origin, func(o *origin) {
		o.learn(r, x.nowMS)
		unrestricted = o.unrestricted
	})
	switch {
	case r.Unchanged, r.Robots.GetAccess() == weftpb.Robots_ACCESS_DISALLOW_ALL:
	case unrestricted:
		x.store.Delete(x.keys.policy(r.Origin))
	default:
		b, err := proto.MarshalOptions{Deterministic: true}.Marshal(r.Robots)
		if err != nil {
			x.impossible("rules of %s: %w", r.Origin, err)
		}
		x.store.Set(x.keys.policy(r.Origin), b)
	}
}

// count brings the gauges of domains up to date, once, at the end.
func (x *fold) count() {
	x.g.domains += delta(x.wasPending, x.d.pending())
	x.g.domainsOut += delta(x.wasOut, len(x.d.visits) > 0)
	x.g.blocked += x.d.blocked() - x.wasBlocked
	x.wasPending, x.wasOut, x.wasBlocked = x.d.pending(), len(x.d.visits) > 0, x.d.blocked()
}

// delta is what a domain adds to a gauge of the domains for which a condition holds.
func delta(before, after bool) int64 {
	switch {
	case after && !before:
		return 1
	case before && !after:
		return -1
	}
	return 0
}

// checkState asserts that the domain is in exactly one of the states empty, out and due.
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
