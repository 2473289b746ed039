package frontier

import (
	"math"

	"github.com/weftcrawl/weft/internal/kv"
	"github.com/weftcrawl/weft/internal/urls"
)

// A host that is down waits for up to an hour until its next probe. That is too long after a
// time in which no process decided (Moment.WokenAt): a user who starts a crawl again wants to
// know whether its hosts answer now. So hosts that are down are then asked again at once.

const (
	// maxWoken bounds the origins that an event wakes.
	maxWoken = 200
	// maxLooked bounds the waiting origins that are searched for them.
	maxLooked = 5 * maxWoken
)

// asleep returns the domains that have not been woken since at.WokenAt. It searches them once,
// among all domains that are due, at any time, and all domains that are out.
func (f *Frontier) asleep(at Moment) []string {
	if f.wokenAt.Equal(at.WokenAt) {
		return f.sleeping
	}
	f.wokenAt, f.sleeping = at.WokenAt, nil
	if g, err := readGauges(f.store); err != nil || g.down == 0 {
		return nil // the decision that follows reports the error
	}
	for _, x := range append(f.due[:], f.leases) {
		x.upTo(f.store, math.MaxInt64, func(name []byte) bool {
			if d, err := decodeDomain(f.store.Get(keysOf(string(name)).record())); err == nil && d.waiting > 0 {
				f.sleeping = append(f.sleeping, string(name))
			}
			return true
		})
	}
	return f.sleeping
}

// toWake returns the origins of the domain that are woken: origins that are down and wait. It
// does not wake a host that asked for fewer requests, because the host has named its time.
func (p *plan) toWake() (names []string) {
	looked := 0
	for _, value := range kv.Range(p.store, p.keys.waiting(max(p.d.waitMS, p.nowMS), 0), p.keys.make(waitingKind+1, 0)) {
		name := string(value)
		o, _ := p.origin(name)
		h := p.host(urls.HostOf(name))
		if (h.breaker.Open || o.health.breaker.Open) && h.throttled == 0 {
			names = append(names, name)
		}
		if looked++; looked == maxLooked || len(names) == maxWoken {
			break
		}
	}
	return names
}

// wake ends the waits of an origin that is down, and of its host.
func (x *fold) wake(name string) {
	if _, heard := x.origin(name); !heard {
		x.impossible("%s is woken, which was never heard of", name)
		return
	}
	h := *x.host(urls.HostOf(name))
	h.waitMS = min(h.waitMS, x.nowMS)
	x.changeHost(h.record(urls.HostOf(name)))
	x.change(name, func(o *origin) {
		o.health.waitMS = min(o.health.waitMS, x.nowMS)
		o.retryMS = min(o.retryMS, x.nowMS)
	})
}
