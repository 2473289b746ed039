package hostqueue

import (
	"context"
	"math"
	"net/netip"
	"sync"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/politeness"
	"github.com/weftcrawl/weft/internal/urls"
)

// Visit is a released visit, with what its owner knows of it.
type Visit struct {
	*weftpb.Visit
	Domain    string
	Partition int32
	// Settled has the requests that have an outcome already; nil: none has. It does
	// not change once the visit is started.
	Settled map[uint32]bool
	// NotBefore is the earliest start of its first request. After a takeover this
	// process does not know when the last request was made.
	NotBefore time.Time
	// The Requester sets these fields. LookedUp is how long the next request has waited for
	// look-ups of its host. Address is its address, if that is known. Leave gives back what the
	// current request has of the budget of an address, nil if it has nothing. Charged is that
	// address. It is not valid if the address has no budget.
	LookedUp         time.Duration
	Address, Charged netip.Addr
	Leave            func()

	mu   sync.Mutex
	late map[uint32]bool // settled since the visit was started
	hung time.Time       // when its queue went on without its last request
	// waitsForDelay: its request waits for the delay before it follows a redirect. The last such
	// wait ended at waitedUntil.
	waitsForDelay bool
	waitedUntil   time.Time
}

// Exit gives back what the current request has of the budget of an address.
func (v *Visit) Exit() {
	if v.Leave != nil {
		v.Leave()
	}
	v.Leave = nil
}

// SetWaiting says whether the current request of v waits for the delay before it follows a
// redirect. A request that waits does not hang.
func (v *Visit) SetWaiting(waiting bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.waitsForDelay, v.waitedUntil = waiting, time.Now()
}

// hangsIn is how long the current request may yet take until it hangs.
func (v *Visit) hangsIn(patience time.Duration, now time.Time) time.Duration {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.waitsForDelay {
		return patience
	}
	return v.waitedUntil.Add(patience).Sub(now)
}

// HungAfter returns how long after its start a request was known to hang, 0 if its queue
// waited for it.
func (v *Visit) HungAfter(started time.Time) time.Duration {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.hung.IsZero() {
		return 0
	}
	return max(v.hung.Sub(started), time.Microsecond)
}

// Settle says that a former owner has reported the outcome of request i, so that it need not be
// made. Any goroutine may call it at any time.
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

// Answer is what an exchange means for the requests that follow.
type Answer struct {
	// Stop ends the visit: the request could not be made.
	Stop bool
	// Failed: the host failed, and the scheduler decides when it is asked again. The
	// requests of the visit that go to other hosts are made. Page: perhaps only the page
	// failed. Then the visit goes on until the next request to the host fails, too.
	Failed, Page bool
	// RetryAfter is how long the host asked for no request. It holds for all visits.
	RetryAfter time.Duration
	// Rest is how long the domain must be left alone, if that is longer than the delay.
	Rest time.Duration
	// Referred: the robots.txt of the host redirects to another domain, which perhaps asks for
	// a Crawl-delay.
	Referred bool
	// Unreached: the request reached no server, and no delay runs from its end.
	Unreached bool
}

// Queue decides what the queue of one domain does next. It is pure: the caller
// tells it the time, and when a request ended. Queues runs many of them with a
// goroutine each; the simulation (package sim) steps through them.
//
// The zero value has no visits and may ask at once. A Queue is not safe for
// concurrent use.
type Queue struct {
	waiting  []queued
	current  *queued
	next     int  // request of the current visit to be looked at next
	notBegun int  // requests of the current visit from here on were not begun
	found    bool // the host of the next request has addresses
	stopped  bool
	failed   map[string]bool // hosts that failed in the current visit
	page     map[string]bool // hosts whose last answer in it was a failure, perhaps of the page

	notBefore time.Time
	told      *told   // shared with the domain's other queues; nil: nothing
	memory    *Memory // see Remember; nil: nothing
}

// told is what servers of a domain told all its queues.
type told struct {
	restUntil time.Time       // the domain is left alone until then
	hanging   map[string]bool // hosts to which a request hangs
}

// queued is a visit. It is dropped when its context ends.
type queued struct {
	ctx   context.Context
	visit *Visit
}

// Kind of a step.
type Kind int

// What a queue does next.
const (
	// Over: there is nothing to do, and the delay has passed.
	Over Kind = iota
	// Idle: there is nothing to do, but the queue lives until the time Until.
	Idle
	// Wait for Until, or the end of Context.
	Wait
	// LookUp the host of request Index of Visit; then call Found, or Made if the host
	// has no address.
	LookUp
	// Ask for request Index of Visit; then call Made, or Drop.
	Ask
	// Skip request Index of Visit, because its host must not be asked now; then call
	// Skipped. Until is the end of the time in which the host asked for no request, if it did.
	Skip
	// Finish Visit, whose requests from Index on were not begun; then call Drop.
	Finish
)

// Step is what a queue does next.
type Step struct {
	Kind    Kind
	Until   time.Time
	Visit   *Visit
	Context context.Context // of the visit
	Index   int
}

// Choose returns which of a domain's queues takes its next visit. most is how many
// queues the domain may have. Choose prefers a queue that is not open yet, then the
// one in which the fewest visits wait.
func Choose(most int, queue func(nth int) (waiting int, open bool)) int {
	best, fewest := 0, math.MaxInt
	for nth := range most {
		waiting, open := queue(nth)
		if !open {
			return nth
		}
		if waiting < fewest {
			best, fewest = nth, waiting
		}
	}
	return best
}

// Join makes q another queue of the domain of other. What servers tell one of them holds
// for both.
func (q *Queue) Join(other *Queue) { q.told = other.shared() }

// Remember makes q note in m what it learns of hosts. Queues of all domains may share m, so that
// is remembered when q is over. A queue without Remember has a memory of its own.
func (q *Queue) Remember(m *Memory) { q.memory = m }

func (q *Queue) shared() *told {
	if q.told == nil {
		q.told = &told{hanging: map[string]bool{}}
	}
	return q.told
}

// free is the earliest start of a request.
func (q *Queue) free() time.Time {
	if q.told != nil {
		return later(q.notBefore, q.told.restUntil)
	}
	return q.notBefore
}

// silent tells whether a host must not be asked.
func (q *Queue) silent(host string, now time.Time) bool {
	return q.failed[host] || q.told != nil && q.told.hanging[host] || q.memory != nil && q.memory.silences.silent(host, now)
}

// Host returns the host of request i.
func (v *Visit) Host(i int) string { return urls.HostOf(v.Requests[i].GetTarget().GetUrl()) }

// Add queues a visit.
func (q *Queue) Add(ctx context.Context, v *Visit) { q.waiting = append(q.waiting, queued{ctx, v}) }

// Len is the number of visits that wait for the current one.
func (q *Queue) Len() int { return len(q.waiting) }

// Next says what to do at now. It says the same again until the caller does it,
// until the time comes, or until a request is settled late.
func (q *Queue) Next(now time.Time) Step {
	for q.current != nil || len(q.waiting) > 0 {
		if q.current == nil {
			first := q.waiting[0]
			q.waiting = q.waiting[1:]
			q.current, q.next, q.notBegun, q.found, q.stopped, q.failed, q.page = &first, 0, 0, false, false, nil, nil
			if earliest := first.visit.NotBefore; earliest.After(q.notBefore) {
				q.notBefore = earliest
			}
		}
		v, ctx := q.current.visit, q.current.ctx
		if ctx.Err() != nil {
			q.Drop()
			continue
		}
		for !q.stopped && q.next < len(v.Requests) && v.settled(q.next) {
			q.Skipped()
		}
		step := Step{Visit: v, Context: ctx, Index: q.next}
		free := q.free()
		if q.next < len(v.Requests) {
			free = later(free, q.memory.notBefore(v.Host(q.next), v))
		}
		switch {
		case q.stopped || q.next == len(v.Requests):
			step.Kind, step.Index = Finish, q.notBegun
		case q.silent(v.Host(q.next), now):
			step.Kind = Skip
			if q.memory != nil {
				step.Until = q.memory.silences.until(v.Host(q.next), now)
			}
		case !q.found:
			step.Kind = LookUp
		case free.After(now):
			step.Kind, step.Until = Wait, free
		default:
			step.Kind = Ask
		}
		return step
	}
	until := q.free()
	if q.told != nil && len(q.told.hanging) > 0 {
		until = later(until, now.Add(hangingPause))
	}
	if until.After(now) {
		return Step{Kind: Idle, Until: until}
	}
	return Step{Kind: Over}
}

// hangingPause is how long a queue waits before it looks again, if it only waits for requests
// that hang.
const hangingPause = time.Second

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Found notes that the host of the next request has addresses.
func (q *Queue) Found() { q.found = true }

// Made notes that the current request ended at now. stretch is the part by which the delay is
// made longer.
func (q *Queue) Made(now time.Time, answer Answer, stretch float64) {
	delay := q.current.visit.delay()
	delay += time.Duration(stretch * float64(delay))
	if !answer.Unreached {
		q.notBefore = now.Add(delay)
	}
	host := q.current.visit.Host(q.next)
	q.noteAnswer(host, now, answer)
	switch {
	case answer.Failed && answer.Page && answer.RetryAfter == 0 && !q.page[host]:
		mark(&q.page, host)
	case answer.Failed:
		mark(&q.failed, host)
	default:
		delete(q.page, host)
	}
	q.Skipped()
	q.stopped = answer.Stop
}

func mark(hosts *map[string]bool, host string) {
	if *hosts == nil {
		*hosts = map[string]bool{}
	}
	(*hosts)[host] = true
}

// noteAnswer notes what a host told, for all queues of its domain.
func (q *Queue) noteAnswer(host string, now time.Time, answer Answer) {
	if answer.Rest > 0 {
		q.shared().restUntil = later(q.shared().restUntil, now.Add(answer.Rest))
	}
	if q.memory == nil && (answer.RetryAfter > 0 || answer.Referred) {
		q.memory = new(Memory)
	}
	if answer.RetryAfter > 0 {
		q.memory.silences.add(host, now.Add(answer.RetryAfter), now)
	}
	if answer.Referred {
		q.memory.referrals.add(host, now.Add(politeness.MaxCrawlDelay), now)
	}
}

func (v *Visit) delay() time.Duration { return time.Duration(v.DelayMs) * time.Millisecond }

// Hang says that the current request, or the look-up of its host, hangs. The queue goes on
// without it, after the domain's delay. Until HungUp the host gets no other request. The further
// requests of the visit are not made. Hang returns false if the queue must wait, because too
// many requests of the domain hang, or because another request to the host hangs.
func (q *Queue) Hang(now time.Time) bool {
	v := q.current.visit
	host, hanging := v.Host(q.next), q.shared().hanging
	if len(hanging) >= politeness.MaxHanging || hanging[host] {
		return false
	}
	hanging[host] = true
	v.mu.Lock()
	v.hung = now
	v.mu.Unlock()
	if q.found { // it is asked for, not looked up
		q.notBefore = later(q.notBefore, now.Add(v.delay()))
	}
	q.current = nil
	return true
}

// HungUp notes that request i of v, which hung, ended at now.
func (q *Queue) HungUp(v *Visit, i int, now time.Time, answer Answer) {
	delete(q.told.hanging, v.Host(i))
	if !answer.Unreached {
		answer.Rest = max(answer.Rest, v.delay())
	}
	q.noteAnswer(v.Host(i), now, answer)
}

// Skipped notes that the current request is over without having been made.
func (q *Queue) Skipped() {
	q.next++
	q.notBegun, q.found = q.next, false
}

// GiveBack makes the queue finish the current visit. Its next request was not begun.
func (q *Queue) GiveBack() { q.stopped = true }

// Drop ends the current visit.
func (q *Queue) Drop() { q.current = nil }
