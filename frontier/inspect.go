package frontier

import (
	"bytes"
	"fmt"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// Looking at the state without deciding anything, for explanations.

// ApplyPart is Apply for one who folds the events of some domains of the
// partition and leaves out those of the others. Gauges are then those of the
// domains that were folded, and what an event says of the partition as a whole
// is not compared with them.
func (f *Frontier) ApplyPart(domain string, ev *weftpb.Scheduled, offset int64) error {
	if err := f.apply(domain, ev, offset, false); err != nil {
		return fmt.Errorf("apply event %d of domain %q: %w", offset, domain, err)
	}
	return nil
}

// Domains calls visit with every domain that was ever heard of, in the order of
// their names, until it returns false.
func (f *Frontier) Domains(visit func(name string) bool) {
	lower, upper := []byte{domainKey}, []byte{domainKey + 1}
	for {
		name, found := "", false
		f.store.Scan(lower, upper, func(key, _ []byte) bool {
			if end := bytes.IndexByte(key, 0); end > 0 {
				name, found = string(key[1:end]), true
			}
			return false
		})
		if !found || !visit(name) {
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
	LeaseAt       time.Time
	Delay         time.Duration
	Robots, Probe bool
	Requests      []*weftpb.Request
	// Open tells of each request that it has no outcome yet.
	Open []bool
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
		requests, err := x.requestsOf(v)
		if err != nil {
			return nil, err
		}
		o := VisitOut{
			ID: visitID(f.opts.Partition, v.offset, v.index), Offset: v.offset, LeaseAt: moment(v.leaseMS),
			Delay: milliseconds(v.delayMS), Robots: v.robots, Probe: v.probe, Requests: requests, Open: make([]bool, v.count),
		}
		for i := range o.Open {
			o.Open[i] = v.isOpen(uint32(i))
		}
		out = append(out, o)
	}
	return out, nil
}

// Standing is whether URLs of an origin may go out, as far as its robots.txt
// is concerned.
type Standing string

const (
	// Unasked says that robots.txt has to be had first.
	Unasked Standing = "unasked"
	// Asking says that a visit for it is out.
	Asking Standing = "asking"
	// Referred says that it redirects to another domain, which is asked for it.
	Referred Standing = "referred"
	// Waiting says that it could not be had and is asked for again later.
	Waiting Standing = "waiting"
	// Refused says that it could not be had and URLs are refused for now.
	Refused Standing = "refused"
	// InForce says that its rules hold.
	InForce Standing = "in_force"
)

// standings names the standings.
var standings = [...]Standing{unknown: Unasked, asking: Asking, referred: Referred, waiting: Waiting, refused: Refused, known: InForce}

// OriginState is what is known of an origin.
type OriginState struct {
	Name     string
	Standing Standing
	// LearnedAt is when the rules were had last, EndAt until when they hold;
	// zero if they never were.
	LearnedAt, EndAt time.Time
	CrawlDelay       time.Duration
	// Failures in a row to get robots.txt, which is asked for again at
	// RetryAt; Refuse is the reason with which URLs are settled until then.
	Failures uint32
	RetryAt  time.Time
	Refuse   string
	// Missing: the name of its host does not exist, as one look-up said, or, with
	// Refuse, two.
	Missing bool
	// Failing is its failures in a row, of which the domain knows nothing, and
	// WaitAt the time before which nothing of it goes out; GivenUp: its URLs are
	// given up until then.
	Failing uint32
	WaitAt  time.Time
	GivenUp bool
	// Kept: they hold until RetryAt although their time is over, since robots.txt
	// cannot be had.
	Kept bool
	// Rules are the ones had last; nil without restriction.
	Rules *weftpb.Robots
}

// Origins returns the origins of a domain, in the order of their names.
func (f *Frontier) Origins(name string, now time.Time) ([]OriginState, error) {
	k := keysOf(name)
	lower, upper := k.make(originKind, 0), k.make(originKind+1, 0)
	var (
		states []OriginState
		err    error
	)
	f.store.Scan(lower, upper, func(key, value []byte) bool {
		var o *origin
		if o, err = decodeOrigin(value); err != nil {
			err = fmt.Errorf("read origin %s: %w", key[len(lower):], err)
			return false
		}
		s := OriginState{
			Name: string(key[len(lower):]), Standing: standings[o.standing(now.UnixMilli())],
			CrawlDelay: milliseconds(o.crawlDelayMS), Failures: o.failures, RetryAt: moment(o.retryMS), Refuse: o.refuse,
			Kept: o.kept, Missing: o.missing, Failing: o.health.breaker.Failures,
		}
		if o.health.waits(now.UnixMilli()) {
			s.WaitAt, s.GivenUp = moment(o.health.waitMS), o.health.breaker.GaveUp(f.opts.BreakerCycles)
		}
		if o.fetchedMS > 0 {
			s.LearnedAt, s.EndAt = moment(o.fetchedMS), moment(o.fetchedMS+o.ttlMS)
		}
		if o.kept {
			s.EndAt = s.RetryAt
		}
		states = append(states, s)
		return true
	})
	for i := range states {
		b := f.store.Get(k.policy(states[i].Name))
		if err != nil || b == nil {
			continue
		}
		states[i].Rules, err = decodeRobots(b)
	}
	return states, err
}

// Place is where a URL that is neither out nor settled waits.
type Place struct {
	// Again: among the retries, ready at ReadyAt; else in the queue of Priority.
	Again    bool
	Priority int
	ReadyAt  time.Time
	// Group it waits in; empty: in none.
	Group string
	// Ahead is how many URLs are before it in the same place.
	Ahead uint64
}

// Queued calls visit with every URL of a domain that waits: the queues by
// priority, then the retries, then the groups, each in order, until it returns false.
// What is withdrawn does not wait.
func (f *Frontier) Queued(name string, visit func(Place, *weftpb.Request) bool) error {
	k := keysOf(name)
	var err error
	each := func(lower, upper []byte, place func(key []byte, ahead uint64) Place) bool {
		ahead, on := uint64(0), true
		f.store.Scan(lower, upper, func(key, value []byte) bool {
			var q *weftpb.Request
			if q, err = decodeRequest(value); err != nil {
				err = fmt.Errorf("read a queue of domain %s: %w", name, err)
				return false
			}
			on = visit(place(key, ahead), q)
			ahead++
			return on
		})
		return on && err == nil
	}
	for p := range priorities {
		if !each(k.queue(p, 0), k.queue(p+1, 0), func(_ []byte, ahead uint64) Place {
			return Place{Priority: p, Ahead: ahead}
		}) {
			return err
		}
	}
	if !each(k.retry(0, 0), k.retriesEnd(), func(key []byte, ahead uint64) Place {
		return Place{Again: true, ReadyAt: moment(k.retryMS(key)), Ahead: ahead}
	}) {
		return err
	}
	for _, c := range []class{trial, free, behind} {
		if on, err := f.inGroups(name, c, visit); !on || err != nil {
			return err
		}
	}
	return nil
}

// Withdrawn calls visit with every URL of a domain that is withdrawn, until it
// returns false.
func (f *Frontier) Withdrawn(name string, visit func(Place, *weftpb.Request) bool) error {
	_, err := f.inGroups(name, withdrawn, visit)
	return err
}

func (f *Frontier) inGroups(name string, c class, visit func(Place, *weftpb.Request) bool) (on bool, err error) {
	x, err := openFold(f.store, f.opts.Partition, name, 0, 0)
	if err != nil {
		return false, err
	}
	cursor := newAsideCursor(&x, c)
	cursor.all = true
	group, ahead := "", uint64(0)
	for {
		found, err := cursor.fill()
		if !found || err != nil {
			return true, err
		}
		for _, q := range cursor.ahead {
			if q.Target.Group != group {
				group, ahead = q.Target.Group, 0
			}
			if !visit(Place{Group: group, Priority: int(q.Priority), Ahead: ahead}, q) {
				return false, nil
			}
			ahead++
		}
		cursor.ahead = nil
	}
}
