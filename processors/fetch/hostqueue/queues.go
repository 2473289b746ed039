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
	// LookUp returns when the addresses of the host of v.Requests[i] are known. It is
	// called before the delay is waited for, and before a slot is taken. found is false
	// when they cannot be known: then the outcome of the request is reported, and
	// answer is what it means.
	LookUp(ctx context.Context, v *Visit, i int) (answer Answer, found bool)
	// Gate returns when a request of v may be made now, or an error when the
	// visit must be dropped. It is called before a slot is taken.
	Gate(ctx context.Context, v *Visit) error
	// Enter returns when the address that v.Requests[i] goes to may get one more request;
	// leave is called at the request's end. If that would take too long, or the visit must
	// be dropped, leave is nil; then crowded tells whether the rest of the visit is given
	// back. It is called before a slot is taken.
	Enter(ctx context.Context, v *Visit, i int) (leave func(), crowded bool)
	// Priority returns that of v.Requests[i], below politeness.Priorities: how it shares the
	// slots when they are scarce.
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
	// rest on were not begun.
	Finish(ctx context.Context, v *Visit, rest int)
}

// Options of a set of host queues.
type Options struct {
	// Slots bounds the open requests that may be quick; 512.
	Slots int
	// Hanging bounds the further requests, those that are open for longer than
	// Patience; 1536, and 3 s. They do not delay others.
	Hanging  int
	Patience time.Duration
	// Trial is the patience with a request to a host of which it is not known that it
	// answers: the delay of its visit, at least 250 ms and at most Trial; 1 s.
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

// Queues runs visits. It is safe for concurrent use.
type Queues struct {
	opts       Options
	requester  Requester
	slots      *slots.Slots
	goroutines sync.WaitGroup
	life       context.Context // of queues that only wait for a delay
	end        context.CancelFunc

	mu     sync.Mutex
	queues map[queueKey]*queue
	memory Memory
}

type queueKey struct {
	domain string
	nth    int
}

// queue is a Queue, guarded by Queues.mu, that a goroutine serves.
type queue struct {
	Queue
	key     queueKey
	arrived chan struct{} // signals a visit to a queue that only waits for its delay
}

// New returns host queues that have no visits.
func New(opts Options, requester Requester) *Queues {
	s := &Queues{opts: opts, requester: requester, slots: slots.New(opts.Slots, opts.Hanging, opts.Patience), queues: map[queueKey]*queue{}}
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

// Close ends queues that only wait for a delay. It returns when every visit is
// finished or dropped, which is soon if the contexts of the visits have ended.
// Start must not be called any more.
func (s *Queues) Close() {
	s.end()
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
		q = &queue{key: key, arrived: make(chan struct{}, 1)}
		q.Remember(&s.memory)
		for nth := range s.opts.PerDomain {
			if other := s.queues[queueKey{v.Domain, nth}]; other != nil {
				q.Join(&other.Queue)
				break
			}
		}
		s.queues[key] = q
		s.goroutines.Go(func() { s.serve(q) })
	}
	q.Add(ctx, v)
	q.signal()
}

// signal wakes a queue that only waits for its delay.
func (q *queue) signal() {
	select {
	case q.arrived <- struct{}{}:
	default:
	}
}

// Open returns the number of requests being made.
func (s *Queues) Open() int { return s.slots.Open() }

// serve does what a queue says until it is over. Then it forgets the queue. When a
// request hangs, another goroutine serves the queue, and this one ends with the request.
func (s *Queues) serve(q *queue) {
	for {
		s.mu.Lock()
		step := q.Next(time.Now())
		if step.Kind == Over {
			delete(s.queues, q.key)
		}
		s.mu.Unlock()
		switch step.Kind {
		case Over:
			return
		case Idle:
			select {
			case <-time.After(time.Until(step.Until)):
			case <-q.arrived:
			case <-s.life.Done():
				return
			}
		case Wait:
			select {
			case <-time.After(time.Until(step.Until)):
			case <-step.Context.Done():
			}
		case LookUp:
			found, hung := s.lookUp(q, step)
			if hung {
				return
			}
			if found {
				s.change(q.Found)
			}
		case Ask:
			if hung := s.ask(q, step); hung {
				return
			}
		case Skip:
			s.requester.Skip(step.Context, step.Visit, step.Index, step.Until)
			s.change(q.Skipped)
		case Finish:
			s.requester.Finish(step.Context, step.Visit, step.Index)
			s.change(q.Drop)
		}
	}
}

// lookUp looks up the host of a request. A request whose host is not found is over: it
// reached no server. One whose look-up hung is not made.
func (s *Queues) lookUp(q *queue, step Step) (found, hung bool) {
	a := s.watch(q, step)
	answer, found := s.requester.LookUp(step.Context, step.Visit, step.Index)
	answer.Unreached = true
	switch hung = a.end(); {
	case hung && found:
		s.requester.Skip(step.Context, step.Visit, step.Index, time.Time{})
		s.hungUp(q, step, answer)
	case hung:
		s.hungUp(q, step, answer)
	case !found:
		s.change(func() { q.Made(time.Now(), answer, 0) })
	}
	return found, hung
}

// ask makes a request, when the gate, its address and a slot allow it. It makes none if the
// request was settled while it waited, or its visit ended. What was looked up before the
// delay may be too old after it. Then the host is looked up again, without a slot.
func (s *Queues) ask(q *queue, step Step) (hung bool) {
	if s.requester.Gate(step.Context, step.Visit) != nil {
		s.change(q.Drop)
		return false
	}
	if found, hung := s.lookUp(q, step); !found || hung {
		return hung
	}
	leave, crowded := s.requester.Enter(step.Context, step.Visit, step.Index)
	if leave == nil {
		if crowded {
			s.change(q.GiveBack)
		} else {
			s.change(q.Drop)
		}
		return false
	}
	defer leave()
	var answer *Answer
	inSlot := s.slots.Use(step.Context, s.requester.Priority(step.Visit, step.Index), func() {
		var changed bool
		s.change(func() { changed = q.Next(time.Now()) != step })
		if changed {
			return
		}
		a := s.watch(q, step)
		got := s.requester.Request(step.Context, step.Visit, step.Index)
		answer, hung = &got, a.end()
	})
	if hung {
		s.hungUp(q, step, *answer)
		return true
	}
	s.change(func() {
		switch {
		case !inSlot:
			q.Drop()
		case answer != nil:
			q.Made(time.Now(), *answer, rand.Float64()*s.opts.Jitter)
		}
	})
	return false
}

// hungUp books that a request that hung is over, and with it its visit.
func (s *Queues) hungUp(q *queue, step Step, answer Answer) {
	if step.Context.Err() == nil {
		s.requester.Finish(step.Context, step.Visit, len(step.Visit.Requests))
	}
	s.change(func() { q.HungUp(step.Visit, step.Index, time.Now(), answer) })
	q.signal()
}

// attempt is a step that may hang.
type attempt struct {
	queues *Queues
	queue  *queue
	step   Step
	timer  *time.Timer

	mu         sync.Mutex
	hung, over bool
}

// watch lets a queue go on without a step once that has taken too long, until the step is
// at its end.
func (s *Queues) watch(q *queue, step Step) *attempt {
	a := &attempt{queues: s, queue: q, step: step}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.timer = time.AfterFunc(s.opts.PatienceWith(step.Visit, step.Index), a.hang)
	return a
}

// hang lets the queue go on without the step, now or later.
func (a *attempt) hang() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return
	}
	s, v, now := a.queues, a.step.Visit, time.Now()
	if left := v.hangsIn(s.opts.PatienceWith(v, a.step.Index), now); left > 0 {
		a.timer.Reset(left)
		return
	}
	s.change(func() { a.hung = a.queue.Hang(now) })
	if !a.hung {
		a.timer.Reset(s.opts.Trial)
		return
	}
	s.requester.Hang(a.step.Context, v, a.step.Index, now)
	s.goroutines.Go(func() { s.serve(a.queue) })
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
