package frontier

import (
	"bytes"
	"fmt"
	"math"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
)

// These functions read the state for explanations, without a decision.

// Domains calls visit with every known domain, in the order of their names, until visit returns
// false.
func (f *Frontier) Domains(visit func(name string) bool) {
	lower, upper := []byte{domainKey}, []byte{domainKey + 1}
	for {
		name := ""
		for key := range kv.Range(f.store, lower, upper) {
			name = string(key[1:max(bytes.IndexByte(key, 0), 1)])
			break
		}
		if name == "" || !visit(name) {
			return
		}
		// A domain's keys all continue with a zero byte.
		lower = keysOf(name).prefix
		lower[len(lower)-1] = 1
	}
}

// VisitOut is a visit that is out.
type VisitOut struct {
	ID string
	// Offset of the event that released it.
	Offset int64
	// LeaseAt is the end of its lease, Delay the time between its requests.
	LeaseAt              time.Time
	Delay                time.Duration
	Robots, Probe, Check bool
	// Hangs: the domain does not wait for its request.
	Hangs    bool
	Requests []*weftpb.Request
	// Open tells for each request whether it has no outcome yet.
	Open []bool
}

// Asks returns the URL of the first request without an outcome.
func (v VisitOut) Asks() string {
	for i, open := range v.Open {
		if open {
			return v.Requests[i].GetTarget().GetUrl()
		}
	}
	return ""
}

// Unsettled is the number of requests without an outcome.
func (v VisitOut) Unsettled() (n int) {
	for _, open := range v.Open {
		if open {
			n++
		}
	}
	return n
}

// Visits returns the visits of a domain that are out, oldest first.
func (f *Frontier) Visits(name string) ([]VisitOut, error) {
	x, err := openFold(f.store, f.opts.Partition, name, 0, 0)
	if err != nil {
		return nil, err
	}
	var out []VisitOut
	for _, v := range x.d.visits {
		o := VisitOut{
			ID: VisitID(f.opts.Partition, v.offset, v.index), Offset: v.offset, LeaseAt: moment(v.leaseMS),
			Delay: milliseconds(v.delayMS), Robots: v.robots, Probe: v.probe, Check: v.check, Hangs: v.hangs, Requests: x.requestsOf(v), Open: make([]bool, v.count),
		}
		for i := range o.Open {
			o.Open[i] = v.isOpen(uint32(i))
		}
		out = append(out, o)
	}
	return out, x.err
}

// OriginState is what is known of an origin.
type OriginState struct {
	Name     string
	Standing Standing
	// LearnedAt is when robots.txt was fetched last, EndAt until when its rules hold; zero:
	// it was never fetched.
	LearnedAt, EndAt time.Time
	CrawlDelay       time.Duration
	// Failures is how often in a row robots.txt could not be fetched. The next request for
	// it is at RetryAt. Refuse is the reason with which URLs are settled until then.
	Failures uint32
	RetryAt  time.Time
	Refuse   string
	// URLs is the number of URLs in its queues and retries.
	URLs uint64
	// Failing is how often in a row no connection to the origin could be made. The origin
	// gets no request before WaitAt. GivenUp: its URLs are given up until then.
	Failing uint32
	WaitAt  time.Time
	GivenUp bool
	// Kept: the rules hold until RetryAt although their time is over, because robots.txt
	// cannot be fetched.
	Kept bool
	// Rules are the rules that were fetched last; nil: nothing is forbidden.
	Rules *weftpb.Robots
}

// Origins returns the origins of a domain, in the order of their names.
func (f *Frontier) Origins(name string, now time.Time) ([]OriginState, error) {
	k := keysOf(name)
	lower, upper := k.make(originKind, 0), k.make(originKind+1, 0)
	var states []OriginState
	for key, value := range kv.Range(f.store, lower, upper) {
		o, err := decodeOrigin(value)
		if err != nil {
			return nil, fmt.Errorf("read origin %s: %w", key[len(lower):], err)
		}
		s := OriginState{
			Name: string(key[len(lower):]), Standing: o.standing(now.UnixMilli(), f.opts.AgentSinceMS),
			CrawlDelay: milliseconds(o.crawlDelayMS), Failures: o.failures, RetryAt: o.retryAt(), Refuse: o.refuse,
			Kept: o.kept, Failing: o.health.breaker.Failures, URLs: o.held(),
		}
		if waits(o.health.waitMS, now.UnixMilli()) {
			s.WaitAt, s.GivenUp = moment(o.health.waitMS), o.health.refuse != ""
		}
		if o.fetchedMS > 0 {
			s.LearnedAt, s.EndAt = moment(o.fetchedMS), moment(o.fetchedMS+o.ttlMS)
		}
		if o.kept {
			s.EndAt = s.RetryAt
		}
		if b := f.store.Get(k.policy(s.Name)); b != nil {
			if s.Rules, err = decodeRobots(b); err != nil {
				return nil, fmt.Errorf("read rules of %s: %w", s.Name, err)
			}
		}
		states = append(states, s)
	}
	return states, nil
}

// Place is where a URL waits that is not out and not settled.
type Place struct {
	// Origin of the URL.
	Origin string
	// Again: the URL is among the retries of its origin, and ready at ReadyAt. Otherwise it is in
	// the origin's queue of Priority.
	Again    bool
	Priority int
	ReadyAt  time.Time
	// Group is the group in which it waits, empty if it is not in a group.
	Group string
	// Ahead is the number of URLs before it in the same place.
	Ahead uint64
}

// Queued calls visit with every URL of a domain that waits, until visit returns false. The
// order is: the origins, each with its queues by priority and then its retries; then the
// groups. URLs that are withdrawn do not wait.
func (f *Frontier) Queued(name string, visit func(Place, *weftpb.Request) bool) error {
	l := look{store: f.store, keys: keysOf(name), visit: visit}
	on := true
	lower := l.keys.origin("")
	for key, value := range kv.Range(f.store, lower, l.keys.make(originKind+1, 0)) {
		origin := string(key[len(lower):])
		o, err := decodeOrigin(value)
		if err != nil {
			return fmt.Errorf("read an origin of %s: %w", name, err)
		}
		for p := range priorities {
			on = on && l.at(Place{Origin: origin, Priority: p}, l.keys.queue(o.id, p, 0), l.keys.queue(o.id, p+1, 0))
		}
		on = on && l.at(Place{Origin: origin, Again: true}, l.keys.retry(o.id, 0, 0), l.keys.retry(o.id+1, 0, 0))
	}
	for _, c := range []class{trial, free, whenIdle} {
		on = on && l.groups(c)
	}
	return l.wrap(name)
}

// Withdrawn calls visit with every URL of a domain that is withdrawn, until it
// returns false.
func (f *Frontier) Withdrawn(name string, visit func(Place, *weftpb.Request) bool) error {
	l := look{store: f.store, keys: keysOf(name), visit: visit}
	l.groups(withdrawn)
	return l.wrap(name)
}

// look shows the URLs of a domain, place by place, as long as visit wants more.
type look struct {
	store kv.Store
	keys  keys
	visit func(Place, *weftpb.Request) bool
	err   error
}

// at shows the URLs of a place, which are between two keys.
func (l *look) at(place Place, lower, upper []byte) (on bool) {
	for e, err := range entries(l.store, lower, upper) {
		if err != nil {
			l.err = err
			return false
		}
		switch {
		case place.Again:
			place.ReadyAt = moment(l.keys.retryMS(e.key))
		case place.Group != "":
			place.Origin, _ = originOf(e.Target.Url)
			e.Target.Group, place.Priority = place.Group, int(e.Priority)
		}
		if !l.visit(place, e.Request) {
			return false
		}
		place.Ahead++
	}
	return true
}

// groups shows the URLs in the groups of a class.
func (l *look) groups(c class) (on bool) {
	lower := l.keys.served(c, "")
	for key := range kv.Range(l.store, lower, l.keys.served(c+1, "")) {
		name := string(key[len(lower):])
		if !l.at(Place{Group: name}, l.keys.grouped(name, 0), l.keys.grouped(name, math.MaxUint64)) {
			return false
		}
	}
	return true
}

func (l *look) wrap(name string) error {
	if l.err == nil {
		return nil
	}
	return fmt.Errorf("read a queue of domain %s: %w", name, l.err)
}
