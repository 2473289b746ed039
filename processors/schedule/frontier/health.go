package frontier

import (
	"slices"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/politeness"
)

// An origin that fails must not stop the origins of its domain that answer, and a server
// that is down must not be asked once for each of its origins. So a failure of an origin
// counts as a failure of its domain, unless another origin has answered since the last
// failure of this one. The domain's record names the origin that answered last, and an
// origin's health has the time of its last failure. So a decision reads the record of
// one origin only.
//
// If the domain has other origins, the one that fails also has a wait of its
// own. It is a second longer than the domain's, so that the domain's next request
// goes to another origin. The breaker of an origin counts failures of its pages;
// robots.txt has waits of its own.

// health is the failures of one origin. The zero value: it has none.
type health struct {
	breaker politeness.Breaker
	// failedMS is the time of the last failure. Nothing is released before waitMS.
	failedMS, waitMS int64
}

// originExtraWait is added to the wait of an origin that failed; see above.
const originExtraWait = time.Second

// waits tells whether no request to the origin may be released now.
func (h health) waits(nowMS int64) bool { return h.waitMS > nowMS && !absurd(h.waitMS, nowMS) }

func (h health) record(origin string) *weftpb.OriginHealth {
	return &weftpb.OriginHealth{
		Origin: origin, Failures: h.breaker.Failures, BreakerCycles: h.breaker.Cycles, BreakerOpen: h.breaker.Open,
		FailedMs: h.failedMS, WaitMs: h.waitMS,
	}
}

func (x *fold) foldHealth(r *weftpb.OriginHealth) {
	o, heard := x.origin(r.GetOrigin())
	if !heard {
		x.impossible("health of %s, which was not asked", r.GetOrigin())
	}
	before := o.health != (health{})
	o.health = health{
		breaker:  politeness.Breaker{Failures: r.Failures, Cycles: r.BreakerCycles, Open: r.BreakerOpen},
		failedMS: r.FailedMs, waitMS: r.WaitMs,
	}
	x.d.unhealthy += uint64(change(before, o.health != (health{})))
	x.setOrigin(r.Origin, o)
}

// originHash names an origin in the record of its domain: FNV-1a, never 0.
func originHash(name string) uint64 {
	hash := uint64(14695981039346656037)
	for i := range len(name) {
		hash = (hash ^ uint64(name[i])) * 1099511628211
	}
	return max(hash, 1)
}

// setHealth decides the new health of an origin.
func (p *plan) setHealth(name string, h health) {
	if p.decidedHealth == nil {
		p.decidedHealth = map[string]health{}
	}
	p.decidedHealth[name] = h
	p.ev.Health = slices.DeleteFunc(p.ev.Health, func(r *weftpb.OriginHealth) bool { return r.Origin == name })
	p.ev.Health = append(p.ev.Health, h.record(name))
}

func (p *plan) answered(name string) {
	p.d.breaker = p.d.breaker.Answered()
	p.d.answeredBy, p.d.answeredMS = originHash(name), p.nowMS
	if p.d.unhealthy == 0 && len(p.decidedHealth) == 0 {
		return
	}
	o, _ := p.origin(name)
	if _, decided := p.decidedHealth[name]; decided || o.health != (health{}) {
		p.setHealth(name, health{})
	}
}

// failed notes that an origin failed, and tells whether its domain stops for it.
// robots: the request was for a robots.txt, which has waits of its own. referral:
// it was for the robots.txt of another domain, which does not probe this one.
func (p *plan) failed(name string, robots, referral, probe bool, delay time.Duration) (stops bool) {
	o, heard := p.origin(name)
	by := p.d.answeredBy
	stops = by == 0 || by == originHash(name) || p.d.answeredMS <= o.health.failedMS
	if stops {
		p.d.breaker = p.d.breaker.Failed(probe && !referral, p.f.opts.BreakerFailures)
	}
	if !heard || stops && p.d.origins < 2 {
		return stops // never asked but by a referral; or the domain waits with all it has
	}
	h, decided := p.decidedHealth[name]
	if !decided {
		h = o.health
	}
	h.failedMS = p.nowMS
	if !robots && !referral {
		h.breaker = h.breaker.Failed(probe, p.f.opts.BreakerFailures)
		h.waitMS = p.nowMS + (h.breaker.Wait(delay) + originExtraWait).Milliseconds()
	}
	p.setHealth(name, h)
	return stops
}

// putOffForOrigin puts off the URL at the front, or refuses it, if its origin has a
// wait of its own now. It tells whether it did.
func (p *plan) putOffForOrigin(c *candidate, h health) bool {
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

// probed notes that one request is released to find out whether an origin answers
// again. Until it is settled the next one waits as if it had failed.
func (p *plan) probed(name string, o *knownOrigin, delay time.Duration) {
	o.health.waitMS = p.nowMS + (o.health.breaker.Wait(delay) + originExtraWait).Milliseconds()
	p.setHealth(name, o.health)
}
