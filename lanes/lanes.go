package lanes

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// Visit is a released visit with what its owner knows of it.
type Visit struct {
	*weftpb.Visit
	Domain    string
	Partition int32
	// Settled tells which requests have an outcome already; nil: none. It does
	// not change once the visit is started.
	Settled map[uint32]bool
	// NotBefore is the earliest start of its first request: after a takeover
	// nobody here knows when the last request was made.
	NotBefore time.Time

	mu   sync.Mutex
	late map[uint32]bool // settled since the visit was started
}

// Settle says that request i has an outcome after all and need not be made: a
// former owner had reported it. Any goroutine may call it at any time.
func (v *Visit) Settle(i uint32) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.late == nil {
		v.late = map[uint32]bool{}
	}
	v.late[i] = true
}

// settled tells whether request i has an outcome.
func (v *Visit) settled(i int) bool {
	if v.Settled[uint32(i)] {
		return true
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.late[uint32(i)]
}

// Answer is what an exchange means for the rest of its visit.
type Answer struct {
	// Stop ends the visit: the domain failed, and the scheduler decides when
	// it is asked again.
	Stop bool
	// RetryAfter is what the server asked for; no request before.
	RetryAfter time.Duration
	// Unreached: no server heard of the request, and no delay runs from its end.
	Unreached bool
}

// Work makes the requests and reports them. Its methods are called by many
// goroutines, for one visit by one at a time.
type Work interface {
	// Gate returns when a request of v may be made now, or an error when the
	// visit must be dropped. It is asked before a slot is taken.
	Gate(ctx context.Context, v *Visit) error
	// Request makes v.Requests[i].
	Request(ctx context.Context, v *Visit, i int) Answer
	// Finish reports that no further request of v is made; those from index
	// rest on were not begun.
	Finish(ctx context.Context, v *Visit, rest int)
}

// Options of a set of lanes.
type Options struct {
	// Slots bounds the open requests that may be quick; 512.
	Slots int
	// Hanging bounds those besides that are open for longer than Patience;
	// 1536, and 3 s. They are not in the way of others.
	Hanging  int
	Patience time.Duration
	// PerDomain is the number of lanes a domain has; 1.
	PerDomain int
	// Jitter is the largest part by which a delay is stretched; 0.05.
	Jitter float64
}

// Defaults returns the options that a crawl uses unless told otherwise.
func Defaults() Options {
	return Options{Slots: 512, Hanging: 1536, Patience: 3 * time.Second, PerDomain: 1, Jitter: 0.05}
}

// Validate reports the first option that cannot work.
func (o Options) Validate() error {
	switch {
	case o.Slots < 1:
		return errors.New("lanes: at least one slot")
	case o.Hanging < 0:
		return errors.New("lanes: requests that hang are none or more")
	case o.Patience <= 0:
		return errors.New("lanes: patience must be positive")
	case o.PerDomain < 1:
		return errors.New("lanes: at least one lane a domain")
	case o.Jitter < 0 || o.Jitter > 1:
		return errors.New("lanes: jitter is a part between 0 and 1")
	}
	return nil
}

// Lanes runs visits. It is safe for concurrent use.
type Lanes struct {
	opts  Options
	work  Work
	slots *slots
	crew  sync.WaitGroup
	ended chan struct{}
	end   func()

	mu    sync.Mutex
	lanes map[laneKey]*lane
}

type laneKey struct {
	domain string
	nth    int
}

// lane is a Lane, guarded by Lanes.mu, that a goroutine serves.
type lane struct {
	Lane
	key     laneKey
	arrived chan struct{} // signals a visit to a lane that sits out its delay
}

// New returns lanes that have no visits.
func New(opts Options, work Work) *Lanes {
	l := &Lanes{
		opts: opts, work: work, slots: newSlots(opts),
		ended: make(chan struct{}), lanes: map[laneKey]*lane{},
	}
	l.end = sync.OnceFunc(func() { close(l.ended) })
	return l
}

// Close ends lanes that only sit out a delay, and returns when every visit is
// finished or dropped: the contexts of visits must have ended for it to return
// soon. Start must not be called any more.
func (l *Lanes) Close() {
	l.end()
	l.crew.Wait()
}

// Start queues v in a lane of its domain. It does not wait.
func (l *Lanes) Start(ctx context.Context, v *Visit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln := l.lane(v.Domain)
	ln.Add(ctx, v)
	select {
	case ln.arrived <- struct{}{}:
	default:
	}
}

// lane returns the lane of domain that takes its next visit. mu is held.
func (l *Lanes) lane(domain string) *lane {
	key := laneKey{domain, Choose(l.opts.PerDomain, func(nth int) (waiting int, open bool) {
		ln := l.lanes[laneKey{domain, nth}]
		if ln == nil {
			return 0, false
		}
		return ln.Len(), true
	})}
	ln := l.lanes[key]
	if ln == nil {
		ln = &lane{key: key, arrived: make(chan struct{}, 1)}
		for nth := range l.opts.PerDomain {
			if other := l.lanes[laneKey{domain, nth}]; other != nil {
				ln.Join(&other.Lane)
				break
			}
		}
		l.lanes[key] = ln
		l.crew.Go(func() { l.serve(ln) })
	}
	return ln
}

// Choose returns which of a domain's lanes, of which there may be most, takes its
// next visit: one that is not open yet, or the one with the fewest that wait.
func Choose(most int, lane func(nth int) (waiting int, open bool)) int {
	best, fewest := 0, math.MaxInt
	for nth := range most {
		waiting, open := lane(nth)
		if !open {
			return nth
		}
		if waiting < fewest {
			best, fewest = nth, waiting
		}
	}
	return best
}

// Open returns the number of requests being made.
func (l *Lanes) Open() int { return l.slots.open() }

// Wait returns when every visit is finished or dropped and every delay passed.
func (l *Lanes) Wait() { l.crew.Wait() }

// serve does what a lane says until it is over.
func (l *Lanes) serve(ln *lane) {
	for {
		step := l.next(ln)
		switch step.Kind {
		case Over:
			return
		case Idle:
			timer := time.NewTimer(time.Until(step.Until))
			select {
			case <-timer.C:
			case <-ln.arrived:
			case <-l.ended:
				timer.Stop()
				return
			}
			timer.Stop()
		case Wait:
			sleep(step.Context, time.Until(step.Until))
		case Ask:
			l.ask(ln, step)
		case Finish:
			l.work.Finish(step.Context, step.Visit, step.Index)
			l.drop(ln)
		}
	}
}

// next asks a lane what to do, and forgets it when it is over.
func (l *Lanes) next(ln *lane) Step {
	l.mu.Lock()
	defer l.mu.Unlock()
	step := ln.Next(time.Now())
	if step.Kind == Over {
		delete(l.lanes, ln.key)
	}
	return step
}

// ask makes a request, when the gate and a slot allow it.
func (l *Lanes) ask(ln *lane, step Step) {
	if l.work.Gate(step.Context, step.Visit) != nil || !l.slots.take(step.Context) {
		l.drop(ln)
		return
	}
	l.mu.Lock()
	changed := ln.Next(time.Now()) != step
	l.mu.Unlock()
	if changed { // settled, or given up, while it waited
		l.slots.give()
		return
	}
	var answer Answer
	l.slots.hold(func() { answer = l.work.Request(step.Context, step.Visit, step.Index) })
	l.mu.Lock()
	defer l.mu.Unlock()
	ln.Made(time.Now(), answer, rand.Float64()*l.opts.Jitter)
}

func (l *Lanes) drop(ln *lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln.Drop()
}

// sleep returns after d, or when ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
