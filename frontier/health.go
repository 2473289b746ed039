package frontier

import (
	"slices"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/politeness"
)

// An origin that fails must not stop the origins of its domain that answer, and
// a server that is down must not be asked once for each of its origins. So a
// failure of an origin is held against the domain, unless another origin has
// answered since the one that failed was last heard of. The domain's record
// names the origin that answered last, and health says when one failed last, so
// that no decision looks at other origins.
//
// Where the domain has other origins, the one that fails waits alone, too: a
// second longer than the domain, so that the domain's next request goes to
// another one. Its own breaker is that of its pages; robots.txt has waits of its
// own.

// health is what is held against one origin alone. The zero value: nothing.
type health struct {
	breaker politeness.Breaker
	// failedMS is when it failed last. Nothing of it goes out before waitMS.
	failedMS, waitMS int64
}

// others is how much longer than its domain an origin waits.
const others = time.Second

// waits tells whether nothing of the origin may go out now.
func (h health) waits(nowMS int64) bool { return h.waitMS > nowMS && !absurd(h.waitMS, nowMS) }

func (h health) encode(w *writer) {
	w.uint(uint64(h.breaker.Failures))
	w.uint(uint64(h.breaker.Cycles))
	w.bool(h.breaker.Open)
	w.int(h.failedMS)
	w.int(h.waitMS)
}

func decodeHealth(r *reader) health {
	return health{
		breaker:  politeness.Breaker{Failures: r.uint32(), Cycles: r.uint32(), Open: r.bits(1) == 1},
		failedMS: r.int(), waitMS: r.int(),
	}
}

func (h health) record(origin string) *weftpb.OriginHealth {
	return &weftpb.OriginHealth{
		Origin: origin, Failures: h.breaker.Failures, BreakerCycles: h.breaker.Cycles, BreakerOpen: h.breaker.Open,
		FailedMs: h.failedMS, WaitMs: h.waitMS,
	}
}

// ail folds what is held against an origin from now on.
func (x *fold) ail(r *weftpb.OriginHealth) error {
	o, heard, err := x.origin(r.GetOrigin())
	if err != nil {
		return err
	}
	if !heard {
		return impossible("health of %s, which was not asked", r.GetOrigin())
	}
	before := o.health != (health{})
	o.health = health{
		breaker:  politeness.Breaker{Failures: r.Failures, Cycles: r.BreakerCycles, Open: r.BreakerOpen},
		failedMS: r.FailedMs, waitMS: r.WaitMs,
	}
	switch after := o.health != (health{}); {
	case after && !before:
		x.d.ailing++
	case before && !after:
		x.d.ailing--
	}
	x.store.Set(x.keys.origin(r.Origin), o.encode())
	return nil
}

// originHash names an origin in the record of its domain: FNV-1a, never 0.
func originHash(name string) uint64 {
	hash := uint64(14695981039346656037)
	for i := range len(name) {
		hash = (hash ^ uint64(name[i])) * 1099511628211
	}
	return max(hash, 1)
}

// setHealth decides what is held against an origin.
func (p *plan) setHealth(name string, h health) {
	if p.ailments == nil {
		p.ailments = map[string]health{}
	}
	p.ailments[name] = h
	p.ev.Health = slices.DeleteFunc(p.ev.Health, func(r *weftpb.OriginHealth) bool { return r.Origin == name })
	p.ev.Health = append(p.ev.Health, h.record(name))
}

// answered learns that an origin answers.
func (p *plan) answered(name string) error {
	p.d.breaker = p.d.breaker.Answered()
	p.d.answeredBy, p.d.answeredMS = originHash(name), p.nowMS
	if p.d.ailing == 0 && len(p.ailments) == 0 {
		return nil
	}
	o, _, err := p.origin(name)
	if err != nil {
		return err
	}
	if _, decided := p.ailments[name]; decided || o.health != (health{}) {
		p.setHealth(name, health{})
	}
	return nil
}

// failed learns that an origin failed, and tells whether that stops its domain.
// robots: it was asked for a robots.txt, which has waits of its own; referral:
// for that of another domain, which is no probe of this one.
func (p *plan) failed(name string, robots, referral, probe bool, delay time.Duration) (stops bool, err error) {
	o, heard, err := p.origin(name)
	if err != nil {
		return false, err
	}
	by := p.d.answeredBy
	stops = by == 0 || by == originHash(name) || p.d.answeredMS <= o.health.failedMS
	if stops {
		p.d.breaker = p.d.breaker.Failed(probe && !referral, p.f.opts.BreakerFailures)
	}
	if !heard || stops && p.d.origins < 2 {
		return stops, nil // never asked but by a referral; or the domain waits with all it has
	}
	h, decided := p.ailments[name]
	if !decided {
		h = o.health
	}
	h.failedMS = p.nowMS
	if !robots && !referral {
		h.breaker = h.breaker.Failed(probe, p.f.opts.BreakerFailures)
		h.waitMS = p.nowMS + (h.breaker.Wait(delay) + others).Milliseconds()
	}
	p.setHealth(name, h)
	return stops, nil
}

// unfit puts off or refuses the URL at the front if its origin waits alone.
func (p *plan) unfit(c *candidate, h health) bool {
	switch {
	case !h.waits(p.nowMS) || isReferral(c.request):
		return false
	case h.breaker.GaveUp(p.f.opts.BreakerCycles):
		p.refuse(c, ReasonBreaker)
	default:
		p.putOff(c, h.waitMS)
	}
	return true
}

// probed notes that one request goes out to see whether an origin answers
// again: the next one waits as if that had failed.
func (p *plan) probed(name string, o *knownOrigin, delay time.Duration) {
	o.health.waitMS = p.nowMS + (o.health.breaker.Wait(delay) + others).Milliseconds()
	p.setHealth(name, o.health)
}
