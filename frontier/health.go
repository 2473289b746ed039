package frontier

import (
	"slices"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/politeness"
)

// An origin that fails must not stop the origins of its domain that answer, and
// a server that is down must not be asked once for each of its origins. So a
// failure of an origin counts as a failure of its domain, unless another origin
// has answered since the last failure of this one. The domain's record names the
// origin that answered last, and an origin's health has the time of its last
// failure, so a decision reads the record of one origin only.
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

// foldHealth folds the new health of an origin.
func (x *fold) foldHealth(r *weftpb.OriginHealth) error {
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
		x.d.unhealthy++
	case before && !after:
		x.d.unhealthy--
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

// setHealth decides the new health of an origin.
func (p *plan) setHealth(name string, h health) {
	if p.decidedHealth == nil {
		p.decidedHealth = map[string]health{}
	}
	p.decidedHealth[name] = h
	p.ev.Health = slices.DeleteFunc(p.ev.Health, func(r *weftpb.OriginHealth) bool { return r.Origin == name })
	p.ev.Health = append(p.ev.Health, h.record(name))
}

// answered notes that an origin answered.
func (p *plan) answered(name string) error {
	p.d.breaker = p.d.breaker.Answered()
	p.d.answeredBy, p.d.answeredMS = originHash(name), p.nowMS
	if p.d.unhealthy == 0 && len(p.decidedHealth) == 0 {
		return nil
	}
	o, _, err := p.origin(name)
	if err != nil {
		return err
	}
	if _, decided := p.decidedHealth[name]; decided || o.health != (health{}) {
		p.setHealth(name, health{})
	}
	return nil
}

// failed notes that an origin failed, and tells whether its domain stops for it.
// robots: the request was for a robots.txt, which has waits of its own. referral:
// it was for the robots.txt of another domain, which does not probe this one.
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
	return stops, nil
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
