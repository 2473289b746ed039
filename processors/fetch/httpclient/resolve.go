package httpclient

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"github.com/weftcrawl/weft/processors/fetch/slots"
)

// resolver caches the answers of a Resolver, and asks it once for callers that want the same
// name at the same time. An entry has addresses, kept for ttl, or says "does not exist", kept
// for negativeTTL. Failures are not kept, so that the next attempt asks again. A name may have
// thousands of addresses; only those that are dialled are kept.
type resolver struct {
	ask         Resolver
	reach       reach
	ttl         time.Duration
	negativeTTL time.Duration
	timeout     time.Duration // of one look-up
	now         func() time.Time
	answers     *lru.Cache[string, answer]
	flights     singleflight.Group
	slots       *slots.Slots
	most        int // of the slots

	// Look-ups outlive the caller that began them, because other callers wait for
	// them too. They end with the client.
	life context.Context
}

// Look-ups that take longer than lookUpPatience give their slot to others. Each may have
// two sockets open.
const (
	lookUpPatience = time.Second
	hangingLookUps = 512
)

type answer struct {
	addrs   []netip.Addr // see worthKeeping; empty: the name does not exist
	expires time.Time
}

func newResolver(life context.Context, o Options) *resolver {
	ask := o.Resolver
	if ask == nil {
		ask = families{&net.Resolver{PreferGo: true}}
	}
	answers, _ := lru.New[string, answer](o.DNSNames) // fails only without room
	return &resolver{
		ask:         ask,
		reach:       o.reach(),
		ttl:         o.DNSTTL,
		negativeTTL: o.DNSNegativeTTL,
		timeout:     o.ConnectTimeout,
		now:         time.Now,
		answers:     answers,
		slots:       slots.New(o.DNSLookups, hangingLookUps, lookUpPatience),
		most:        o.DNSLookups,
		life:        life,
	}
}

// lookup returns the addresses of name that are worth keeping, at least one. Its errors are of
// class dns_not_found or dns_error, or the context's cause. The caller must not change the
// slice.
func (r *resolver) lookup(ctx context.Context, name string) ([]netip.Addr, error) {
	if known, ok := r.answers.Get(name); ok && r.now().Before(known.expires) {
		return known.result(name)
	}
	flight := r.flights.DoChan(name, func() (any, error) { return r.fly(name) })
	select {
	case <-ctx.Done():
		if cause := context.Cause(ctx); cause != errConnectTimeout {
			return nil, cause
		}
		return nil, failf(ClassDNSError, "look up %s: no answer in time", name)
	case result := <-flight:
		if result.Err != nil {
			return nil, result.Err
		}
		return result.Val.(answer).result(name)
	}
}

// known tells whether a look-up would be answered from the cache.
func (r *resolver) known(name string) bool {
	known, ok := r.answers.Peek(name)
	return ok && r.now().Before(known.expires)
}

// fly waits for a slot and looks a name up.
func (r *resolver) fly(name string) (got answer, err error) {
	inSlot := r.slots.Use(r.life, func() {
		ctx, cancel := context.WithTimeout(r.life, r.timeout)
		defer cancel()
		got, err = r.fetch(ctx, name)
	})
	if !inSlot {
		err = failf(ClassDNSError, "look up %s: %w", name, context.Cause(r.life))
	}
	return got, err
}

// fetch asks the resolver and keeps the answer.
func (r *resolver) fetch(ctx context.Context, name string) (answer, error) {
	addrs, err := r.ask.LookupNetIP(ctx, "ip", name)
	switch {
	case err == nil:
	case isNotFound(err):
		addrs = nil
	default:
		return answer{}, failf(ClassDNSError, "look up %s: %w", name, err)
	}
	got := answer{r.worthKeeping(interleave(addrs)), r.now().Add(r.ttl)}
	if len(got.addrs) == 0 {
		got.expires = r.now().Add(r.negativeTTL)
	}
	r.answers.Add(name, got)
	return got, nil
}

// families asks a Resolver that may answer "does not exist" for a name whose server is broken.
// Go's resolver asks for IPv4 and for IPv6 addresses. It answers so when one question has no
// address and the other one fails. So families asks each question alone when a name is not
// found. The name does not exist only if both answers say so.
type families struct{ Resolver }

func (f families) LookupNetIP(ctx context.Context, network, name string) ([]netip.Addr, error) {
	addrs, err := f.Resolver.LookupNetIP(ctx, network, name)
	if !isNotFound(err) {
		return addrs, err
	}
	for _, family := range []string{"ip4", "ip6"} {
		if addrs, alone := f.Resolver.LookupNetIP(ctx, family, name); !isNotFound(alone) {
			return addrs, alone
		}
	}
	return nil, err
}

func isNotFound(err error) bool {
	var dns *net.DNSError
	return errors.As(err, &dns) && dns.IsNotFound
}

// worthKeeping returns the addresses that are dialled. If there are none it returns the first
// address, so that an error can say why.
func (r *resolver) worthKeeping(addrs []netip.Addr) []netip.Addr {
	if allowed := r.reach.allowed(addrs); len(allowed) > 0 {
		return allowed
	}
	return slices.Clone(addrs[:min(len(addrs), 1)])
}

// forget drops a name whose addresses do not answer: they may have moved.
func (r *resolver) forget(name string) { r.answers.Remove(name) }

func (a answer) result(name string) ([]netip.Addr, error) {
	if len(a.addrs) == 0 {
		return nil, failf(ClassDNSNotFound, "look up %s: no such host", strings.TrimSuffix(name, "."))
	}
	return a.addrs, nil
}

// interleave orders addresses so that the families alternate. The family of the first address
// is first (RFC 8305 section 4). IPv4-mapped addresses become IPv4.
func interleave(addrs []netip.Addr) []netip.Addr {
	if len(addrs) == 0 {
		return nil
	}
	var families [2][]netip.Addr
	first := addrs[0].Unmap().Is4()
	for _, a := range addrs {
		a = a.Unmap()
		if a.Is4() == first {
			families[0] = append(families[0], a)
		} else {
			families[1] = append(families[1], a)
		}
	}
	turns := make([]netip.Addr, 0, len(addrs))
	for i := 0; len(turns) < len(addrs); i++ {
		for _, family := range families {
			if i < len(family) {
				turns = append(turns, family[i])
			}
		}
	}
	return turns
}

// isLocalhost reports whether a canonical host is a name of this machine. No resolver is asked
// for such a name (RFC 6761 section 6.3).
func isLocalhost(host string) bool {
	host = strings.TrimSuffix(host, ".")
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}
