package sim

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/fetch/addresses"
	"github.com/weftcrawl/weft/processors/fetch/hostqueue"
)

// exempt is the address whose network has no budget.
var exempt = netip.MustParseAddr("198.51.100.1")

// giveAddresses has the names of the web share the addresses of the case. The last one of
// several has no budget.
func (b *web) giveAddresses(rng *rand.Rand, n int) {
	for _, name := range keys(b.hosts) {
		host := urls.HostOf(name)
		if _, given := b.addresses[host]; given || n == 0 {
			continue
		}
		a := netip.AddrFrom4([4]byte{192, 0, 2, byte(rng.IntN(n))})
		if n > 1 && int(a.As4()[3]) == n-1 {
			a = exempt
		}
		b.addresses[host] = a
	}
}

// addressOf is the address of the host of a URL; it is not valid in a web without any.
func (b *web) addressOf(url string) netip.Addr { return b.addresses[urls.HostOf(url)] }

// budget are the options of addresses in the case.
func (c Case) budget() addresses.Options {
	o := addresses.DefaultOptions()
	o.Delay, o.AtOnce = c.AddressDelay, c.PerAddress
	o.Exempt = append(o.Exempt, netip.PrefixFrom(exempt, 24))
	return o
}

// line is a request that waits in line for its address.
type inLine struct {
	queue    *queue
	step     hostqueue.Step
	ticket   *addresses.Ticket
	reserved *reservation
}

// part is the fetcher's part of the budgets.
func (f *fetcher) part() (mine, all int) {
	if f.w.bug("budget-whole") {
		return int(f.w.partitions), int(f.w.partitions)
	}
	return len(f.partitions), int(f.w.partitions)
}

// enter waits until the address of a request may get another request, and makes it. If the line
// is too long, the rest of the visit is given back.
func (q *queue) enter(step hostqueue.Step, reserved *reservation) {
	url := step.Visit.Requests[step.Index].Target.Url
	a := q.w.bugs.charged(url)
	if !q.w.budget.Limits(a) {
		q.ask(step, reserved.cancel)
		return
	}
	in := &inLine{queue: q, step: step, reserved: reserved}
	ticket, wait := q.lines.Join(a, q.instance.proc.mono(), func() {
		q.instance.after(0, func() { q.takeTurn(in, a) })
	})
	if ticket == nil {
		q.w.trace("%s gives the visit of %s back: %v is asked enough for %v", q.instance.name, url, a, wait)
		q.w.count("crowded")
		q.noteCrowd(step.Visit, wait)
		q.w.bugs.crowd(q.report(step.Visit), wait+q.w.between(0, wait))
		reserved.cancel()
		q.GiveBack()
		q.wake(0)
		return
	}
	in.ticket, q.asking = ticket, true
	q.inLine = append(q.inLine, in)
	q.advance(a)
}

// advance gives turns to the requests in the line of an address, now and when their turns come.
func (f *fetcher) advance(a netip.Addr) {
	f.alarms[a]++
	alarm := f.alarms[a]
	if again := f.lines.Advance(a, f.instance.proc.mono()); again > 0 {
		f.instance.after(again, func() {
			if alarm == f.alarms[a] {
				f.advance(a)
			}
		})
	}
}

// takeTurn makes a request whose turn has come, unless it is settled or cancelled.
func (q *queue) takeTurn(in *inLine, a netip.Addr) {
	if in.ticket == nil {
		return // it has left the line in this moment
	}
	q.stopWaiting(in)
	leave := func() {
		q.lines.Leave(in.ticket)
		if !q.w.bug("line-forgotten") {
			q.advance(a)
		}
	}
	if q.w.bug("at-once-ignored") {
		leave()
		leave = func() {}
	}
	q.asking = false
	if q.Next(q.instance.proc.mono()) != in.step {
		leave()
		in.reserved.cancel()
		q.wake(0)
		return
	}
	in.step.Visit.Charged = a
	in.reserved.renew()
	q.ask(in.step, func() {
		leave()
		in.reserved.cancel()
	})
}

func (f *fetcher) stopWaiting(in *inLine) {
	f.inLine = slices.DeleteFunc(f.inLine, func(other *inLine) bool { return other == in })
}

// leaveLines takes the requests of visits that have ended out of their lines.
func (f *fetcher) leaveLines() {
	for _, in := range slices.Clone(f.inLine) {
		if in.step.Context.Err() == nil {
			continue
		}
		f.stopWaiting(in)
		f.lines.Leave(in.ticket)
		in.ticket = nil
		in.reserved.cancel()
		f.advance(f.w.bugs.charged(in.step.Visit.Requests[in.step.Index].Target.Url))
		in.queue.asking = false
		in.queue.wake(0)
	}
}

// checkAddress checks when a request to an address begins, as its server sees it, decision
// 0034. A process with a part of the partitions has that part of the budget. So between the
// starts of n requests are n-1 delays, but one fewer for each further process, and for each
// time that the part of one of them has changed. No more are open than the budget says, or
// one of each process.
func (w *world) checkAddress(a *access, address netip.Addr) {
	if !w.budget.Limits(address) {
		return
	}
	before := append(w.web.byAddress[address], a)
	w.web.byAddress[address] = before
	var (
		first = map[*fetcher]bool{}
		open  = map[*fetcher]bool{}
		opens int
	)
	free := -1
	for i := len(before) - 1; i >= max(0, len(before)-recent); i-- {
		b := before[i]
		if b.end < 0 {
			open[b.fetcher] = true
			opens++
		}
		if !first[b.fetcher] {
			first[b.fetcher] = true
			free++
		}
		changes := 0
		for f := range first {
			for _, at := range f.moves {
				if at > b.start {
					changes++
				}
			}
		}
		starts := len(before) - 1 - i - free - changes
		if needed := time.Duration(starts) * w.c.AddressDelay; needed > a.start-b.start {
			w.violate("address", "%s is the request %d to %v since %v, of %d processes; the delay is %v",
				a.url, len(before)-i, address, b.start, len(first), w.c.AddressDelay)
		}
	}
	if most := max(w.c.PerAddress, len(open)); w.c.PerAddress > 0 && opens > most {
		w.violate("address", "%s is asked while %d requests to %v are open, of at most %d", a.url, opens-1, address, most)
	}
}

// crowd is a visit that was given back because the line for its address was too long.
type crowd struct {
	at, wait time.Duration
	visit    string
}

func (q *queue) noteCrowd(v *hostqueue.Visit, wait time.Duration) {
	if q.w.crowds[v.Domain] == nil {
		q.w.crowds[v.Domain] = &crowd{q.w.now, wait, v.Id}
	}
}

// checkCrowd checks that a domain that rested because of its address comes back after that
// time, and not much later. Crawls keep to that when faults and orders are over, with one visit
// of a domain at a time.
func (w *world) checkCrowd(domain, visit string) {
	c := w.crowds[domain]
	if c == nil || c.visit == visit {
		return
	}
	delete(w.crowds, domain)
	if c.at < w.othersOver() || w.c.perDomain() > 1 {
		return
	}
	switch gap := w.now - c.at; {
	case gap < c.wait:
		w.violate("crowd", "%s is visited again after %v; its address was asked enough for %v", domain, gap, c.wait)
	case gap > 2*c.wait+mostLate && w.web.well(domain):
		w.violate("crowd", "%s is visited again only after %v; its address was asked enough for %v", domain, gap, c.wait)
	}
}

// mostLate is how much later a domain may be visited for other reasons: its pages fail now
// and then, and all wait for the same fetcher.
const mostLate = 3 * time.Minute

func (a *access) String() string { return fmt.Sprintf("%s at %v", a.url, a.start) }
