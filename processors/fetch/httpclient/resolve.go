package httpclient

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/weftcrawl/weft/internal/politeness"
	"github.com/weftcrawl/weft/processors/fetch/slots"
)

// resolver caches the answers of a Resolver, and asks it once for callers that want the same
// name at the same time. An entry has addresses, or says "does not exist"; see lifetimes for
// how long it is kept. Failures are not kept, so that the next attempt asks again. A name may
// have thousands of addresses; only those that are dialled are kept.
type resolver struct {
	ask       TTLResolver
	reach     reach
	lifetimes lifetimes
	timeout   time.Duration // of one look-up
	now       func() time.Time
	answers   *lru.Cache[string, *answer]
	slots     *slots.Slots
	most      int // of the slots

	// Look-ups outlive the caller that began them, because other callers wait for
	// them too. They end with the client.
	life context.Context

	mu       sync.Mutex
	underWay map[string]*question
}

// Look-ups that take longer than lookUpPatience give their slot to others. Each may have
// two sockets open. No caller waits for an answer for longer than answerPatience. The look-up
// goes on, so that a later attempt finds its answer.
const (
	lookUpPatience = time.Second
	hangingLookUps = 512
	answerPatience = 2 * time.Second
)

// question is a look-up that is under way.
type question struct {
	late chan struct{} // closed answerPatience after the resolver was asked
	over chan struct{} // closed when got and err are known
	got  *answer
	err  error
}

// answer is never changed, except for told.
type answer struct {
	addrs   []netip.Addr // see worthKeeping; empty: the name does not exist
	came    time.Time
	expires time.Time
	told    atomic.Bool // a caller knows it who needs it
}

func newResolver(life context.Context, o Options) *resolver {
	answers, _ := lru.New[string, *answer](o.DNSNames) // fails only without room
	return &resolver{
		ask:   resolverOf(o),
		reach: o.reach(),
		lifetimes: lifetimes{
			unknown: o.DNSTTL, least: o.DNSMinTTL, most: o.DNSMaxTTL,
			negative: o.DNSNegativeTTL, mostNegative: o.DNSNegativeMaxTTL,
		},
		timeout: o.ConnectTimeout,
		now:     time.Now,
		answers: answers,
		slots:   slots.New(o.DNSLookups, hangingLookUps, lookUpPatience),
		most:    o.DNSLookups,
		life:    life,

		underWay: map[string]*question{},
	}
}

func resolverOf(o Options) TTLResolver {
	switch r := o.Resolver.(type) {
	case nil:
		return newObserved(new(net.Dialer).DialContext)
	case TTLResolver:
		return r
	}
	return withoutTTL{o.Resolver}
}

// withoutTTL is a Resolver that does not know how long its answers hold.
type withoutTTL struct{ Resolver }

func (w withoutTTL) LookupTTL(ctx context.Context, network, name string) ([]netip.Addr, time.Duration, error) {
	addrs, err := w.LookupNetIP(ctx, network, name)
	return addrs, unknownTTL, err
}

// lookup returns the addresses of name that are worth keeping, at least one. Its errors are of
// class dns_not_found or dns_error, or the context's cause. The caller must not change the
// slice.
func (r *resolver) lookup(ctx context.Context, name string) ([]netip.Addr, error) {
	got, err := r.answer(ctx, name)
	if err != nil {
		return nil, err
	}
	got.told.Store(true)
	return got.result(name)
}

// answer returns what is known of name, and asks for it if nothing is.
func (r *resolver) answer(ctx context.Context, name string) (*answer, error) {
	if known, ok := r.answers.Get(name); ok && r.now().Before(known.expires) {
		return known, nil
	}
	if ctx.Err() != nil {
		return nil, unanswered(ctx, name)
	}
	q := r.question(name)
	select {
	case <-ctx.Done():
		return nil, unanswered(ctx, name)
	case <-q.over:
	case <-q.late:
		select {
		case <-q.over:
		default:
			return nil, failf(ClassDNSError, "look up %s: no answer within %v", name, answerPatience)
		}
	}
	return q.got, q.err
}

// unanswered is the error of a look-up whose ctx ended before its answer came.
func unanswered(ctx context.Context, name string) error {
	if cause := context.Cause(ctx); cause != errConnectTimeout {
		return cause
	}
	return failf(ClassDNSError, "look up %s: no answer in time", name)
}

// question returns the look-up of name that is under way, and begins it if there is none.
func (r *resolver) question(name string) *question {
	r.mu.Lock()
	defer r.mu.Unlock()
	q := r.underWay[name]
	if q == nil {
		q = &question{late: make(chan struct{}), over: make(chan struct{})}
		r.underWay[name] = q
		go r.find(name, q)
	}
	return q
}

// peek returns the addresses of a name that were found last, none if they are forgotten.
func (r *resolver) peek(name string) []netip.Addr {
	if known, ok := r.answers.Peek(name); ok {
		return known.addrs
	}
	return nil
}

// known tells whether a look-up would be answered from the cache.
func (r *resolver) known(name string) bool {
	known, ok := r.answers.Peek(name)
	return ok && r.now().Before(known.expires)
}

// find waits for a slot and answers q.
func (r *resolver) find(name string, q *question) {
	inSlot := r.slots.Use(r.life, 0, func() {
		late := time.AfterFunc(answerPatience, func() { close(q.late) })
		defer late.Stop()
		ctx, cancel := context.WithTimeout(r.life, r.timeout)
		defer cancel()
		q.got, q.err = r.fetch(ctx, name)
	})
	if !inSlot {
		q.err = failf(ClassDNSError, "look up %s: %w", name, context.Cause(r.life))
	}
	r.mu.Lock()
	delete(r.underWay, name)
	r.mu.Unlock()
	close(q.over)
}

// fetch asks the resolver and keeps the answer.
func (r *resolver) fetch(ctx context.Context, name string) (*answer, error) {
	addrs, ttl, err := r.ask.LookupTTL(ctx, "ip", name)
	switch {
	case err == nil:
	case isNotFound(err):
		addrs = nil
	default:
		return nil, failf(ClassDNSError, "look up %s: %w", name, err)
	}
	now := r.now()
	got := &answer{addrs: r.worthKeeping(interleave(addrs)), came: now}
	if len(got.addrs) > 0 {
		got.expires = now.Add(r.lifetimes.ofAddresses(ttl))
	} else {
		before, _ := r.answers.Peek(name)
		got.expires = now.Add(r.lifetimes.ofNone(ttl, before.confirmedBy(now)))
	}
	r.answers.Add(name, got)
	return got, nil
}

// lifetimes are how long answers are kept: as long as their records say, within bounds.
type lifetimes struct {
	unknown                time.Duration // of addresses whose TTL is not known
	least, most            time.Duration // of addresses
	negative, mostNegative time.Duration // of "does not exist"; negative is the least
}

func (l lifetimes) ofAddresses(ttl time.Duration) time.Duration {
	if ttl < 0 {
		return l.unknown
	}
	return min(max(ttl, l.least), l.most)
}

// ofNone is how long "does not exist" is kept. The scheduler has such an answer confirmed
// after politeness.ConfirmAfter, by a look-up that must ask. So the first answer is over by
// then, whatever its records say.
func (l lifetimes) ofNone(ttl time.Duration, confirmed bool) time.Duration {
	most := l.mostNegative
	if !confirmed {
		most = min(most, politeness.ConfirmAfter-time.Second)
	}
	return max(min(ttl, most), l.negative)
}

// confirmed is how long after "does not exist" the same answer confirms it. The scheduler
// asks for that after politeness.ConfirmAfter, when the domain has its turn.
const confirmed = 10 * time.Minute

// confirmedBy tells whether the answer "does not exist" that came at now confirms the one
// before. An answer to a look-up ahead that no request needed is not confirmed.
func (a *answer) confirmedBy(now time.Time) bool {
	return a != nil && len(a.addrs) == 0 && a.told.Load() && now.Sub(a.came) < confirmed
}

// families asks a Resolver that may answer "does not exist" for a name whose server is broken.
// Go's resolver asks for IPv4 and for IPv6 addresses. It answers so when one question has no
// address and the other one fails. So families asks each question alone when a name is not
// found, unless it has seen both answers (observed). The name does not exist only if both
// answers say so.
type families struct{ Resolver }

func (f families) LookupNetIP(ctx context.Context, network, name string) ([]netip.Addr, error) {
	addrs, err := f.Resolver.LookupNetIP(ctx, network, name)
	if !isNotFound(err) || saidNone(ctx, name) {
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

func (a *answer) result(name string) ([]netip.Addr, error) {
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
