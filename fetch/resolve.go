package fetch

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// resolver caches what a Resolver answers and asks it once for callers that
// want the same name at the same time. An entry is one of: addresses, kept for
// ttl; or "does not exist", kept for negativeTTL. Failures are not kept, so
// that the next attempt asks again. Of the addresses, of which a name may have
// thousands, those are kept that are dialled.
//
// The cache has two generations: names enter the young one; when that holds
// half of the bound it becomes the old one, and the old one is dropped. A name
// that is used in the old generation returns to the young one. That is least
// recently used, roughly, without a list.
type resolver struct {
	ask         Resolver
	reach       reach
	ttl         time.Duration
	negativeTTL time.Duration
	timeout     time.Duration // of one look-up
	now         func() time.Time
	flights     singleflight.Group

	// Look-ups outlive the caller that began them, because others wait for
	// them too; they end with the client.
	life context.Context

	mu         sync.Mutex
	generation int // names in a full generation
	young, old map[string]answer
}

type answer struct {
	addrs   []netip.Addr // see worth; empty: the name does not exist
	expires time.Time
}

func newResolver(life context.Context, o Options) *resolver {
	ask := o.Resolver
	if ask == nil {
		ask = families{&net.Resolver{PreferGo: true}}
	}
	return &resolver{
		ask:         ask,
		reach:       o.reach(),
		ttl:         o.DNSTTL,
		negativeTTL: o.DNSNegativeTTL,
		timeout:     o.ConnectTimeout,
		now:         time.Now,
		life:        life,
		generation:  o.DNSNames / 2,
		young:       map[string]answer{},
	}
}

// lookup returns the addresses of name that are worth keeping, at least one. Its
// errors are of class dns_not_found or dns_error, or the context's cause. The
// caller must not change the slice.
func (r *resolver) lookup(ctx context.Context, name string) ([]netip.Addr, error) {
	if known, ok := r.cached(name); ok {
		return known.result(name)
	}
	flight := r.flights.DoChan(name, func() (any, error) {
		ctx, cancel := context.WithTimeout(r.life, r.timeout)
		defer cancel()
		return r.fetch(ctx, name)
	})
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
	got := answer{r.worth(interleave(addrs)), r.now().Add(r.ttl)}
	if len(got.addrs) == 0 {
		got.expires = r.now().Add(r.negativeTTL)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keep(name, got)
	return got, nil
}

// families asks a Resolver that says of a name with a broken server that it does
// not exist: Go's does so where one of the two questions, for IPv4 and for IPv6
// addresses, is answered with no address and the other one with a failure. So
// a name that is not found is asked for once more by each question alone, and
// does not exist only if both say so.
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

// worth returns the addresses that are worth keeping: those that are dialled,
// or if there are none the first one, to say why.
func (r *resolver) worth(addrs []netip.Addr) []netip.Addr {
	if allowed := r.reach.allowed(addrs); len(allowed) > 0 {
		return allowed
	}
	return slices.Clone(addrs[:min(len(addrs), 1)])
}

func (r *resolver) cached(name string) (answer, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	got, ok := r.young[name]
	if !ok {
		if got, ok = r.old[name]; ok {
			r.keep(name, got)
		}
	}
	return got, ok && r.now().Before(got.expires)
}

// keep puts an answer into the young generation. The caller holds mu.
func (r *resolver) keep(name string, got answer) {
	if len(r.young) >= r.generation {
		r.old, r.young = r.young, make(map[string]answer, r.generation/8)
	}
	r.young[name] = got
}

// forget drops a name whose addresses do not answer: they may have moved.
func (r *resolver) forget(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.young, name)
	delete(r.old, name)
}

func (a answer) result(name string) ([]netip.Addr, error) {
	if len(a.addrs) == 0 {
		return nil, failf(ClassDNSNotFound, "look up %s: no such host", strings.TrimSuffix(name, "."))
	}
	return a.addrs, nil
}

// interleave orders addresses so that the families take turns, the family of
// the first one first (RFC 8305 section 4). IPv4-mapped addresses become IPv4.
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

// isLocalhost reports whether a canonical host is a name of this machine, which
// no resolver is asked for (RFC 6761 section 6.3).
func isLocalhost(host string) bool {
	host = strings.TrimSuffix(host, ".")
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}
