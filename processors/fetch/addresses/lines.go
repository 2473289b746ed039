package addresses

import (
	"net/netip"
	"slices"
	"time"
)

// Lines decide when the requests to each address begin, in one process. They are pure: the
// caller tells them the time, and calls Advance when a time has come. Budgets does so in a
// running crawl, and the simulation (package sim) does so in virtual time. Lines are not safe
// for concurrent use.
type Lines struct {
	opts Options
	// part returns this process's part of the budgets: the number of its partitions, and the
	// number of all partitions.
	part    func() (mine, all int)
	lines   map[netip.Addr]*line
	entered int // since the last sweep
}

// line is the line of one address.
type line struct {
	// next is the earliest start of the next request. granted is the start of the last one.
	next, granted time.Time
	open          int
	waiting       []*Ticket // in the order in which they came
	// pace is about the time between two turns while requests wait.
	pace time.Duration
}

// Ticket is a request that waits in line, or that has had its turn and is open.
type Ticket struct {
	line    *line
	turn    func()
	granted bool
}

// NewLines returns empty lines. part says which part of the budgets this process has.
func NewLines(opts Options, part func() (mine, all int)) *Lines {
	return &Lines{opts: opts, part: part, lines: map[netip.Addr]*line{}}
}

// Join puts a request in the line of an address that has a budget. Advance calls turn when it
// is the request's turn. If the line is too long, there is no ticket, and wait is its length.
func (l *Lines) Join(a netip.Addr, now time.Time, turn func()) (t *Ticket, wait time.Duration) {
	l.sweep(now)
	a = a.Unmap()
	of := l.lines[a]
	if of == nil {
		of = &line{}
		l.lines[a] = of
	}
	if wait = of.wait(now, l.delay()); wait > l.opts.Patience {
		return nil, wait
	}
	t = &Ticket{line: of, turn: turn}
	of.waiting = append(of.waiting, t)
	return t, 0
}

// Leave ends an open request, or takes a waiting request out of the line.
func (l *Lines) Leave(t *Ticket) {
	if t.granted {
		t.line.open--
		return
	}
	t.line.waiting = slices.DeleteFunc(t.line.waiting, func(other *Ticket) bool { return other == t })
}

// Advance gives a turn to the requests in the line of an address whose time has come. Call it
// after Join and Leave, and once more after the time again, unless that is 0.
func (l *Lines) Advance(a netip.Addr, now time.Time) (again time.Duration) {
	of := l.lines[a.Unmap()]
	if of == nil {
		return 0
	}
	for len(of.waiting) > 0 && (l.opts.AtOnce == 0 || of.open < l.atOnce()) {
		if early := of.next.Sub(now); early > 0 {
			return early
		}
		t := of.waiting[0]
		of.waiting[0], of.waiting = nil, of.waiting[1:]
		of.open++
		if len(of.waiting) > 0 && !of.granted.IsZero() {
			of.pace += (now.Sub(of.granted) - of.pace) / 8
		}
		of.granted, of.next = now, now.Add(l.delay())
		t.granted = true
		t.turn()
	}
	if len(of.waiting) == 0 {
		of.pace = 0
	}
	return 0
}

// delay is the time between two starts in this process.
func (l *Lines) delay() time.Duration {
	mine, all := l.part()
	return l.opts.Delay * time.Duration(max(all, 1)) / time.Duration(max(mine, 1))
}

// atOnce is the number of requests to an address that this process may have open, at least one.
func (l *Lines) atOnce() int {
	mine, all := l.part()
	return Part(l.opts.AtOnce, mine, all)
}

// Part returns how many requests a process may have open if all processes together may have
// atOnce, and it has mine of all partitions. It returns at least 1, because no other process can
// make the requests of its domains.
func Part(atOnce, mine, all int) int { return max(atOnce*mine/max(all, 1), 1) }

// wait returns about how long a request that comes now has to wait. delay is the time between
// two starts.
func (l *line) wait(now time.Time, delay time.Duration) time.Duration {
	return max(l.next.Sub(now), 0) + time.Duration(len(l.waiting))*max(l.pace, delay)
}

// sweepEvery is the number of entries after which empty lines are forgotten.
const sweepEvery = 4096

func (l *Lines) sweep(now time.Time) {
	if l.entered++; l.entered < sweepEvery {
		return
	}
	l.entered = 0
	for a, of := range l.lines {
		if of.open == 0 && len(of.waiting) == 0 && !of.next.After(now) {
			delete(l.lines, a)
		}
	}
}
