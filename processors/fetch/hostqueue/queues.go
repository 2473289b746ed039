package hostqueue

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/weftcrawl/weft/processors/fetch/slots"
)

// Requester makes the requests and reports them. Many goroutines call its methods,
// but for one visit only one at a time.
type Requester interface {
	// LookAhead begins to look up the hosts of v, so that LookUp need not wait. It
	// does not wait itself.
	LookAhead(ctx context.Context, v *Visit)
	// LookUp returns when the addresses of the host of v.Requests[i] are known. It is called
	// before the wait for the delay, and before the request takes a slot. found is false if the
	// host has no addresses. Then LookUp has reported the outcome of the request, and answer
	// says what it means.
	LookUp(ctx context.Context, v *Visit, i int) (answer Answer, found bool)
	// Gate returns when a request of v may be made now, or an error when the
	// visit must be dropped. It is called before a slot is taken.
	Gate(ctx context.Context, v *Visit) error
	// Enter returns when the address of v.Requests[i] may get one more request. leave is called
	// at the end of the request. leave is nil if the wait would be too long, or if the visit
	// must be dropped. If crowded is true, the line is too long, and the rest of the visit is
	// given back. Enter is called before the request takes a slot.
	Enter(ctx context.Context, v *Visit, i int) (leave func(), crowded bool)
	// Priority returns the priority of v.Requests[i], below politeness.Priorities. It decides
	// which requests get slots first when slots are scarce.
	Priority(v *Visit, i int) int
	// Request makes v.Requests[i].
	Request(ctx context.Context, v *Visit, i int) Answer
	// Skip reports that v.Requests[i] is not made, because its host must not be asked. silent
	// is the end of the time in which the host asked for no request, the zero time if it did
	// not.
	Skip(ctx context.Context, v *Visit, i int, silent time.Time)
	// Hang reports that v.Requests[i] hangs, and that its domain goes on without it from
	// at on. Requests after it were not begun, and are not. Finish follows when the
	// request is over.
	Hang(ctx context.Context, v *Visit, i int, at time.Time)
	// Finish reports that no further request of v is made. Requests from index
	// notBegun on were not begun.
	Finish(ctx context.Context, v *Visit, notBegun int)
}

// Options of a set of host queues.
type Options struct {
	// Slots bounds the open requests that may be quick; 512.
	Slots int
	// Hanging bounds the further requests, those that are open for longer than
	// Patience; 1536, and 3 s. They do not delay others.
	Hanging  int
	Patience time.Duration
	// Trial is the largest patience with a request to a host that is not known to answer; 1 s.
	// The patience is the delay of the visit, but at least 250 ms.
	Trial time.Duration
	// PerDomain is the number of queues that a domain has; 1.
	PerDomain int
	// Jitter is the largest part by which a delay is stretched; 0.05.
	Jitter float64
}

// Defaults returns the options that a crawl uses unless told otherwise.
func Defaults() Options {
	return Options{Slots: 512, Hanging: 1536, Patience: 3 * time.Second, Trial: time.Second, PerDomain: 1, Jitter: 0.05}
}

// Validate reports the first option that cannot work.
func (o Options) Validate() error {
	switch {
	case o.Slots < 1:
		return errors.New("host queues: there must be at least one slot")
	case o.Hanging < 0:
		return errors.New("host queues: the number of hanging requests must not be negative")
	case o.Patience <= 0 || o.Trial <= 0:
		return errors.New("host queues: patience must be positive")
	case o.PerDomain < 1:
		return errors.New("host queues: a domain must have at least one queue")
	case o.Jitter < 0 || o.Jitter > 1:
		return errors.New("host queues: jitter must be between 0 and 1")
	}
	return nil
}

// PatienceWith is how long a queue waits for request i of v before it goes on without it.
func (o Options) PatienceWith(v *Visit, i int) time.Duration {
	if v.Robots || v.Probe || v.Requests[i].GetAttempt() > 0 {
		return min(max(v.delay(), leastTrial), o.Trial)
	}
	return o.Patience
}

const leastTrial = 250 * time.Millisecond

// PatienceWithLookUp is how long a queue waits for a look-up before it goes on without it. No
// server of the domain is asked for a look-up. So the more requests and look-ups of the domain
// hang, the shorter it is: many names whose name servers do not answer cost little time.
func (q *Queue) PatienceWithLookUp() time.Duration {
	return max(leastTrial/time.Duration(1+len(q.shared().hanging)), leastLookUp)
}

const leastLookUp = 50 * time.Millisecond

// Queues runs visits. It is safe for concurrent use.
type Queues struct {
	opts       Options
	requester  Requester
	slots      *slots.Slots
	goroutines sync.WaitGroup

	mu     sync.Mutex
	queues map[queueKey]*queue
	memory Memory
	closed bool
}

type queueKey struct {
	domain string
	nth    int
}

// queue is a Queue, guarded by Queues.mu. A goroutine serves it while it has visits. A queue that
// only waits for its delay sleeps: it has a timer, because many domains wait for a long time.
type queue struct {
	Queue
	all    *Queues
	key    queueKey
	served bool        // a goroutine serves it
	timer  *time.Timer // wakes it; nil: it never slept
}

// New returns host queues that have no visits.
func New(opts Options, requester Requester) *Queues {
	return &Queues{opts: opts, requester: requester, slots: slots.New(opts.Slots, opts.Hanging, opts.Patience), queues: map[queueKey]*queue{}}
}

// Close returns when every visit is finished or dropped, which is soon if the contexts
// of the visits have ended. Start must not be called any more.
func (s *Queues) Close() {
	s.change(func() { s.closed = true })
	s.goroutines.Wait()
}

// Start adds v to a queue of its domain, which it opens if needed. It does not
// wait.
func (s *Queues) Start(ctx context.Context, v *Visit) {
	s.requester.LookAhead(ctx, v)
	s.mu.Lock()
	defer s.mu.Unlock()
	key := queueKey{v.Domain, Choose(s.opts.PerDomain, func(nth int) (waiting int, open bool) {
		q := s.queues[queueKey{v.Domain, nth}]
		if q == nil {
			return 0, false
		}
		return q.Len(), true
	})}
	q := s.queues[key]
	if q == nil {
		q = &queue{all: s, key: key}
		q.Remember(&s.memory)
		for nth := range s.opts.PerDomain {
			if other := s.queues[queueKey{v.Domain, nth}]; other != nil {
				q.Join(&other.Queue)
				break
			}
		}
		s.queues[key] = q
	}
	q.Add(ctx, v)
	q.wake()
}

// wake lets a goroutine serve the queue, unless one does. Queues.mu is held.
func (q *queue) wake() {
	if !q.served && !q.all.closed {
		q.served = true
		q.all.goroutines.Go(q.serve)
	}
}

// sleep leaves the queue without a goroutine until a time. Queues.mu is held.
func (q *queue) sleep(until time.Time) {
	q.served = false
	if left := time.Until(until); q.timer == nil {
		q.timer = time.AfterFunc(left, func() { q.all.change(q.wake) })
	} else {
		q.timer.Reset(left)
	}
}

// Open returns the number of requests being made.
func (s *Queues) Open() int { return s.slots.Open() }

// serve does what the queue says until it sleeps or is over. A queue that is over is forgotten. When
// a request hangs, another goroutine serves the queue, and this one ends with the request.
func (q *queue) serve() {
	for {
		q.all.mu.Lock()
		step := q.Next(time.Now())
		switch step.Kind {
		case Over:
			delete(q.all.queues, q.key)
		case Idle:
			q.sleep(step.Until)
		}
		q.all.mu.Unlock()
		switch step.Kind {
		case Over, Idle:
			return
		case Wait:
			select {
			case <-time.After(time.Until(step.Until)):
			case <-step.Context.Done():
			}
		case LookUp:
			found, hung := q.lookUp(step)
			if hung {
				return
			}
			if found {
				q.all.change(q.Found)
			}
		case Ask:
			if hung := q.ask(step); hung {
				return
			}
		case Skip:
			q.all.requester.Skip(step.Context, step.Visit, step.Index, step.Until)
			q.all.change(q.Skipped)
		case Finish:
			q.all.requester.Finish(step.Context, step.Visit, step.Index)
			q.all.change(q.Drop)
		}
	}
}

// lookUp looks up the host of a request. If the host is not found, the request is over without
// having reached a server. If the look-up hung, the request is not made.
func (q *queue) lookUp(step Step) (found, hung bool) {
	a := q.watch(step, q.patienceWithLookUp())
	answer, found := q.all.requester.LookUp(step.Context, step.Visit, step.Index)
	answer.Unreached = true
	switch hung = a.end(); {
	case hung && found:
		q.all.requester.Skip(step.Context, step.Visit, step.Index, time.Time{})
		q.hungUp(step, answer)
	case hung:
		q.hungUp(step, answer)
	case !found:
		q.all.change(func() { q.Made(time.Now(), answer, 0) })
	}
	return found, hung
}

// ask makes a request when the gate, its address and a slot allow it. It makes no request if the
// request was settled while it waited, or if its visit ended. Addresses that were looked up
// before the delay may be too old after it. Then the host is looked up again, without a slot.
func (q *queue) ask(step Step) (hung bool) {
	ctx, v, i := step.Context, step.Visit, step.Index
	if q.all.requester.Gate(ctx, v) != nil {
		q.all.change(q.Drop)
		return false
	}
	if found, hung := q.lookUp(step); !found || hung {
		return hung
	}
	leave, crowded := q.all.requester.Enter(ctx, v, i)
	switch {
	case crowded:
		q.all.change(q.GiveBack)
		return false
	case leave == nil:
		q.all.change(q.Drop)
		return false
	}
	defer leave()
	endSlot := q.all.slots.Take(ctx, q.all.requester.Priority(v, i))
	if endSlot == nil {
		q.all.change(q.Drop)
		return false
	}
	q.all.mu.Lock()
	due := q.Next(time.Now()) == step
	q.all.mu.Unlock()
	if !due {
		endSlot()
		return false
	}
	a := q.watch(step, q.all.opts.PatienceWith(v, i))
	answer := q.all.requester.Request(ctx, v, i)
	hung = a.end()
	endSlot()
	if hung {
		q.hungUp(step, answer)
		return true
	}
	q.all.mu.Lock()
	defer q.all.mu.Unlock()
	q.Made(time.Now(), answer, rand.Float64()*q.all.opts.Jitter)
	return false
}

// hungUp notes that a request that hung is over, and with it its visit.
func (q *queue) hungUp(step Step, answer Answer) {
	if step.Context.Err() == nil {
		q.all.requester.Finish(step.Context, step.Visit, len(step.Visit.Requests))
	}
	q.all.change(func() {
		q.HungUp(step.Visit, step.Index, time.Now(), answer)
		q.wake()
	})
}

// attempt is a step that may hang.
type attempt struct {
	queue    *queue
	step     Step
	patience time.Duration
	timer    *time.Timer

	mu         sync.Mutex
	hung, over bool
}

// watch lets the queue go on without a step if the step takes longer than patience.
func (q *queue) watch(step Step, patience time.Duration) *attempt {
	a := &attempt{queue: q, step: step, patience: patience}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.timer = time.AfterFunc(patience, a.hang)
	return a
}

func (q *queue) patienceWithLookUp() (patience time.Duration) {
	q.all.change(func() { patience = q.PatienceWithLookUp() })
	return patience
}

// hang lets the queue go on without the step, now or later.
func (a *attempt) hang() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return
	}
	q, v, now := a.queue, a.step.Visit, time.Now()
	if left := v.hangsIn(a.patience, now); left > 0 {
		a.timer.Reset(left)
		return
	}
	q.all.change(func() { a.hung = q.Hang(now) })
	if !a.hung {
		a.timer.Reset(q.all.opts.Trial)
		return
	}
	q.all.requester.Hang(a.step.Context, v, a.step.Index, now)
	q.all.goroutines.Go(q.serve)
}

// end tells whether the queue goes on without the step, which is at its end.
func (a *attempt) end() (hung bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
	a.timer.Stop()
	return a.hung
}

// change does something to a queue, with mu held.
func (s *Queues) change(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}
