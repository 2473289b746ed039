// Package addresses bounds the requests to one address, over all of its names. A server with
// ten thousand names gets no more requests than a server with a single name.
//
// The budget of an address is a time between the starts of two requests, and a number of
// requests that are open at once. Requests wait in a line for the budget. If the line is too
// long, it refuses further requests and says how long it is. Their visits go back to the
// scheduler, which serves other domains meanwhile.
//
// The whole crawl shares a budget. A process with a quarter of the partitions may use a quarter
// of the budget, so processes need not talk to each other. All processes together never exceed
// the rate. Each process may have one request open, however small its part is. So the number of
// open requests is exceeded if there are more processes than that number, or if their
// partitions are divided unevenly.
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
	// Delay is the least time between the starts of two requests to an address; 0: no limit.
	Delay time.Duration
	// AtOnce is the largest number of open requests to an address; 0: no limit.
	AtOnce int
	// Exempt are networks without budgets. Their servers can serve many requests at once.
	Exempt []netip.Prefix
	// Patience is the longest wait of a request in line.
	Patience time.Duration
}

// DefaultOptions returns the options of a crawl without options. They exempt the addresses of
// the machine itself, of private networks (RFC 1918, RFC 4193), of shared address space (RFC
// 6598), and of a link (RFC 3927, RFC 4291 section 2.5.6), because people crawl their own
// servers there.
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

// Limits tells whether an address has a budget.
func (o Options) Limits(a netip.Addr) bool {
	if a = a.Unmap(); !a.IsValid() || o.Delay == 0 && o.AtOnce == 0 {
		return false
	}
	return !slices.ContainsFunc(o.Exempt, func(network netip.Prefix) bool { return network.Contains(a) })
}

// Budgets are the budgets of all addresses, in one process. A nil Budgets has no limits. Budgets
// are safe for concurrent use.
type Budgets struct {
	mu     sync.Mutex
	lines  *Lines
	timers map[netip.Addr]*time.Timer // of the lines in which a request waits for the delay
}

// New returns budgets; part says which part of them this process has.
func New(opts Options, part func() (mine, all int)) *Budgets {
	return &Budgets{lines: NewLines(opts, part), timers: map[netip.Addr]*time.Timer{}}
}

// Limits tells whether an address has a budget.
func (b *Budgets) Limits(a netip.Addr) bool { return b != nil && b.lines.opts.Limits(a) }

// Enter waits for the turn of a request to an address. Then the request may begin, and the
// caller calls leave at the end of the request. If the line is too long, or ctx ends, leave is
// nil, and wait is the length of the line.
func (b *Budgets) Enter(ctx context.Context, a netip.Addr) (leave func(), wait time.Duration) {
	if !b.Limits(a) {
		return func() {}, 0
	}
	a = a.Unmap()
	ready := make(chan struct{})
	b.mu.Lock()
	t, wait := b.lines.Join(a, time.Now(), func() { close(ready) })
	if t != nil {
		b.advance(a)
	}
	b.mu.Unlock()
	if t == nil {
		return nil, wait
	}
	leave = func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.lines.Leave(t)
		b.advance(a)
	}
	select {
	case <-ready:
		return leave, 0
	case <-ctx.Done():
		leave()
		return nil, 0
	}
}

// advance gives a turn to the requests in the line of an address whose time has come. It runs
// again when the time of the next request comes. The caller holds mu.
func (b *Budgets) advance(a netip.Addr) {
	if timer := b.timers[a]; timer != nil {
		timer.Stop()
		delete(b.timers, a)
	}
	if again := b.lines.Advance(a, time.Now()); again > 0 {
		b.timers[a] = time.AfterFunc(again, func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.advance(a)
		})
	}
}
