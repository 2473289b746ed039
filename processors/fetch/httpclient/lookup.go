package httpclient

import (
	"context"
	"errors"
	"net/netip"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// LookUp returns when the addresses of the host of a URL are known, so that Do need not
// wait for them. If the look-up fails, it returns the exchange that Do would have made: its
// class is dns_not_found or dns_error, or what the end of ctx means. Otherwise failure is
// nil, also for a URL with another fault: Do reports such faults. A cached name costs no
// time, and no name is looked up for a request that will go to a kept connection.
//
// address is where the next request for the URL will go to, if that is known: the address of a kept
// connection, or the address that is dialled first. Otherwise it is not valid.
func (c *Client) LookUp(ctx context.Context, url string) (address netip.Addr, failure *Exchange) {
	if u, name := c.nameOf(url); name != "" && !c.keptTo(u).IsValid() {
		began := time.Now()
		if _, err := c.dialer.resolver.lookup(ctx, name); err != nil {
			return netip.Addr{}, notFound(url, began, err)
		}
	}
	return c.address(url), nil
}

// notFound is the exchange that failed because of its look-up.
func notFound(url string, began time.Time, err error) *Exchange {
	if known := (failure{}); !errors.As(err, &known) {
		err = failure{ClassCanceled, err}
	}
	x := &Exchange{URL: url, Started: began}
	x.fail(err)
	x.Total = time.Since(began)
	x.DNS = x.Total
	return x
}

// address returns the address of LookUp, as far as it is known without a look-up.
func (c *Client) address(url string) netip.Addr {
	u, err := target(url)
	if err != nil {
		return netip.Addr{}
	}
	if remote := c.keptTo(u); remote.IsValid() {
		return remote
	}
	addrs := c.dialer.own(u.Hostname())
	if name := c.dialer.name(u.Hostname()); name != "" {
		addrs = c.dialer.resolver.peek(name)
	}
	if allowed := c.dialer.reach.allowed(addrs); len(allowed) > 0 {
		return allowed[0]
	}
	return netip.Addr{}
}

// LookAhead begins to look up the hosts of URLs, which will be asked for in ctx. It does
// not wait itself, and hosts that are needed at once (LookUp, Do) wait for few of them.
func (c *Client) LookAhead(ctx context.Context, urls []string) {
	var names []string
	seen := map[string]bool{}
	for _, url := range urls {
		if u, name := c.nameOf(url); name != "" && !seen[name] && !c.dialer.resolver.known(name) && !c.keptTo(u).IsValid() {
			seen[name] = true
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		c.ahead.add(ctx, names)
	}
}

// keptTo is the address of a connection that is kept and that a request for a URL will go to,
// not valid if there is none.
func (c *Client) keptTo(u *url.URL) netip.Addr {
	remote := c.dialer.kept.remote(keptKey(u))
	if remote.IsValid() && c.stale.has(u.Scheme+"://"+u.Host, time.Now()) {
		return netip.Addr{}
	}
	return remote
}

// nameOf parses a URL and returns the name that must be looked up for it; empty: there is none.
func (c *Client) nameOf(raw string) (u *url.URL, name string) {
	u, err := target(raw)
	if err != nil {
		return nil, ""
	}
	if port, err := strconv.ParseUint(u.Port(), 10, 16); err == nil && forOther(uint16(port)) {
		return nil, ""
	}
	return u, c.dialer.name(u.Hostname())
}

// ahead looks names up before they are needed, in the order in which they are added. Few
// are looked up at the same time, so that most slots are free for names that are needed.
// Its goroutines, as many as there is work for, end when there is none, and with the
// client.
type ahead struct {
	resolver *resolver

	mu      sync.Mutex
	waiting []names
	workers int
}

// names are what one visit will need.
type names struct {
	ctx   context.Context
	names []string
}

const (
	// maxAhead bounds the visits whose names wait. The names of others are looked up when
	// they are needed.
	maxAhead = 1 << 14
	// aheadShare is the part of the slots for look-ups that look-ups ahead may take: a
	// half.
	aheadShare = 2
)

func (a *ahead) add(ctx context.Context, list []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.waiting) >= maxAhead || a.resolver.life.Err() != nil {
		return
	}
	a.waiting = append(a.waiting, names{ctx, list})
	for n := 0; n < len(list) && a.workers < a.resolver.most/aheadShare; n++ {
		a.workers++
		go a.work()
	}
}

func (a *ahead) work() {
	for {
		next, name := a.next()
		if next == nil {
			return
		}
		if !a.resolver.known(name) {
			_, _ = a.resolver.answer(next, name) // LookUp says what is wrong
		}
	}
}

// next takes the next name from the list, with the context in which it will be needed. A
// nil context is the end of the worker.
func (a *ahead) next() (context.Context, string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.waiting) > 0 && a.resolver.life.Err() == nil {
		first := &a.waiting[0]
		if len(first.names) == 0 || first.ctx.Err() != nil {
			a.waiting[0] = names{}
			a.waiting = a.waiting[1:]
			continue
		}
		name := first.names[0]
		first.names = first.names[1:]
		return first.ctx, name
	}
	a.waiting = nil
	a.workers--
	return nil, ""
}
