// Package addresses bounds the requests to one address, over all of its names. A server with
// ten thousand names gets no more requests than a server with a single name.
//
// The budget of an address is a time between the starts of two requests, and a number of
// requests that are open at once. Requests wait in line for it. A line that has become too
// long refuses further ones, and says how long it is: their visits go back to the scheduler,
// which serves other domains meanwhile.
//
// The budget is the whole crawl's. A process has the part of it that it has of the
// partitions: so no two processes need to talk. All of them together never exceed the rate, nor
// the number at once if there are no more processes than that and each has about as many
// partitions; each may have a request open, whatever its part.
package addresses

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Options of budgets.
type Options struct {
	// Delay is the least time between the starts of two requests to an address; 0: none.
	Delay time.Duration
	// AtOnce is how many requests to an address may be open; 0: any number.
	AtOnce int
	// Exempt are networks without budgets. Their servers can serve many requests at once.
	Exempt []netip.Prefix
	// Patience is how long a request may have to wait in line.
	Patience time.Duration
}

// DefaultOptions returns the options of a crawl without options. They exempt the addresses of
// the machine itself and of private networks (RFC 1918, RFC 4193, RFC 6598), because people
// crawl their own servers there.
func DefaultOptions() Options {
	return Options{Delay: 50 * time.Millisecond, AtOnce: 8, Exempt: slices.Clone(private), Patience: 5 * time.Second}
}

var private = []netip.Prefix{
	netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("172.16.0.0/12"),
	netip.MustParsePrefix("192.168.0.0/16"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("169.254.0.0/16"),
	netip.MustParsePrefix("::1/128"), netip.MustParsePrefix("fc00::/7"), netip.MustParsePrefix("fe80::/10"),
}

// Validate reports the first option that cannot work.
func (o Options) Validate() error {
	switch {
	case o.Delay < 0 || o.Delay > time.Hour:
		return errors.New("addresses: the delay is not between 0 and 1h")
	case o.AtOnce < 0:
		return errors.New("addresses: the number of requests at once is negative")
	case o.Patience <= 0:
		return errors.New("addresses: the patience is not positive")
	}
	return nil
}

// Budgets are those of all addresses, in one process. Nil bounds nothing. They are safe for
// concurrent use.
type Budgets struct {
	opts Options
	// part returns this process's part of the budgets: its partitions, of all.
	part func() (mine, all int)

	mu      sync.Mutex
	lines   map[netip.Addr]*line
	entered int // since the last sweep
}

// line is what is known of one address.
type line struct {
	budgets *Budgets
	// next is the earliest start of the next request, granted the latest of one.
	next, granted time.Time
	open          int
	waiting       []*ticket // in the order in which they came
	timer         *time.Timer
	// pace is about how long each of those that wait has to wait for the one before it.
	pace time.Duration
}

// ticket is a request in line. ready is closed at its turn.
type ticket struct {
	ready   chan struct{}
	granted bool
}

// New returns budgets; part says which part of them this process has.
func New(opts Options, part func() (mine, all int)) *Budgets {
	return &Budgets{opts: opts, part: part, lines: map[netip.Addr]*line{}}
}

// Enter waits for the turn of a request to an address. The request may then begin, and its
// caller calls leave at its end. If the line is too long, or ctx ends, there is no turn: leave
// is nil, and wait is how long the line is.
func (b *Budgets) Enter(ctx context.Context, a netip.Addr) (leave func(), wait time.Duration) {
	if a = a.Unmap(); b == nil || !b.limits(a) {
		return func() {}, 0
	}
	b.mu.Lock()
	b.sweep()
	l := b.lines[a]
	if l == nil {
		l = &line{budgets: b}
		b.lines[a] = l
	}
	if wait = l.wait(time.Now()); wait > b.opts.Patience {
		b.mu.Unlock()
		return nil, wait
	}
	t := &ticket{ready: make(chan struct{})}
	l.waiting = append(l.waiting, t)
	l.advance(time.Now())
	b.mu.Unlock()
	select {
	case <-t.ready:
		return l.leave, 0
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if t.granted {
		l.open--
	} else {
		l.waiting = slices.DeleteFunc(l.waiting, func(other *ticket) bool { return other == t })
	}
	l.advance(time.Now())
	return nil, 0
}

// limits tells whether an address has a budget.
func (b *Budgets) limits(a netip.Addr) bool {
	if !a.IsValid() || b.opts.Delay == 0 && b.opts.AtOnce == 0 {
		return false
	}
	return !slices.ContainsFunc(b.opts.Exempt, func(network netip.Prefix) bool { return network.Contains(a) })
}

// delay is the time between two starts in this process.
func (b *Budgets) delay() time.Duration {
	mine, all := b.part()
	return b.opts.Delay * time.Duration(max(all, 1)) / time.Duration(max(mine, 1))
}

// atOnce is how many requests of this process to an address may be open: at least one.
func (b *Budgets) atOnce() int {
	mine, all := b.part()
	return Part(b.opts.AtOnce, mine, all)
}

// Part is how many of so many requests at once a process may have open that has mine of all
// partitions: at least one, because nobody else can ask for its domains.
func Part(atOnce, mine, all int) int { return max(atOnce*mine/max(all, 1), 1) }

// wait is about how long a request that comes now has to wait.
func (l *line) wait(now time.Time) time.Duration {
	pace := max(l.pace, l.budgets.delay())
	return max(l.next.Sub(now), 0) + time.Duration(len(l.waiting))*pace
}

// advance gives a turn to those whose time has come.
func (l *line) advance(now time.Time) {
	b := l.budgets
	for len(l.waiting) > 0 && (b.opts.AtOnce == 0 || l.open < b.atOnce()) {
		if early := l.next.Sub(now); early > 0 {
			l.wake(early)
			return
		}
		t := l.waiting[0]
		l.waiting[0], l.waiting = nil, l.waiting[1:]
		t.granted = true
		close(t.ready)
		l.open++
		if len(l.waiting) > 0 && !l.granted.IsZero() {
			l.pace += (now.Sub(l.granted) - l.pace) / 8
		}
		l.granted, l.next = now, now.Add(b.delay())
	}
	if len(l.waiting) == 0 {
		l.pace = 0
	}
}

// wake advances the line after a while.
func (l *line) wake(after time.Duration) {
	if l.timer != nil {
		l.timer.Stop()
	}
	l.timer = time.AfterFunc(after, func() {
		l.budgets.mu.Lock()
		defer l.budgets.mu.Unlock()
		l.advance(time.Now())
	})
}

// leave ends a request.
func (l *line) leave() {
	l.budgets.mu.Lock()
	defer l.budgets.mu.Unlock()
	l.open--
	l.advance(time.Now())
}

// sweepEvery is after how many entries the lines are forgotten in which nothing is left.
const sweepEvery = 4096

func (b *Budgets) sweep() {
	if b.entered++; b.entered < sweepEvery {
		return
	}
	b.entered = 0
	now := time.Now()
	for a, l := range b.lines {
		if l.open == 0 && len(l.waiting) == 0 && !l.next.After(now) {
			delete(b.lines, a)
		}
	}
}
