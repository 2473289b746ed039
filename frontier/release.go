package frontier

import (
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/politeness"
)

// An event stays under 512 KiB by construction: releases end at eventBytes,
// which the last visit may pass by visitBytes and the refusals by chunkBytes.
const (
	eventBytes = 256 << 10
	visitBytes = 96 << 10
	chunkBytes = 64 << 10
	// chunkURLs bounds the refusals and deferrals of an event.
	chunkURLs = 200
	// chunkWork bounds what the robots rules of an event cost, counted in bytes
	// searched, of which each takes about a nanosecond and at worst some ten: a
	// robots.txt must not stop the other domains of the partition. The URL that
	// passes it is the last one.
	chunkWork = 8 << 20
	// readWork is what a byte of rules costs that may have to be read first.
	readWork = 64
)

// advance releases what may go out, refuses what may not, and gives up the
// queue of a domain whose breaker says so.
func (p *plan) advance() error {
	if p.givenUp() {
		return p.giveUp()
	}
	for p.mayRelease() {
		released, err := p.releaseNext()
		if err != nil || !released {
			return err
		}
	}
	return nil
}

// givenUp tells whether the domain's URLs are given up at the moment. When the
// last wait of its breaker is over one more probe goes out.
func (p *plan) givenUp() bool {
	return p.d.breaker.GaveUp(p.f.opts.BreakerCycles) && p.nowMS < p.d.nextMS
}

// giveUp settles a chunk of everything that is queued.
func (p *plan) giveUp() error {
	p.cursors.takeAll(p.d.retries.count)
	for p.chunkLeft() {
		c, err := p.cursors.front(p.d.turn)
		if err != nil || c == nil {
			return err
		}
		p.refuse(c, ReasonBreaker)
	}
	return nil
}

// mayRelease tells whether one more visit may go out now.
func (p *plan) mayRelease() bool {
	released := len(p.ev.Released)
	out := len(p.d.visits) + released
	window := p.g.visits + int64(released)
	switch {
	case p.hold, p.d.nextMS > p.nowMS, p.bytes > eventBytes, !p.chunkLeft():
		return false
	case out >= p.f.opts.PerDomain, out > 0 && p.d.breaker.Open, out > 0 && p.blocked:
		return false
	case window >= int64(p.f.opts.Window):
		return false
	case p.ticked || 2*window < int64(p.f.opts.Window):
		return true
	}
	// The window is scarce: whoever waits for longer goes first.
	first := p.f.due.first(p.f.store)
	return first > uint64(p.nowMS) || p.d.dueMS != 0 && first == uint64(p.d.dueMS)
}

// releaseNext collects the next visit. It reports false when there is none.
func (p *plan) releaseNext() (bool, error) {
	var (
		requests []*weftpb.Request
		delay    = p.delay()
		size     int
		probe    = p.d.breaker.Open
	)
collect:
	for size < visitBytes && p.chunkLeft() && len(requests) < visitSize(delay, probe) {
		c, err := p.cursors.front(p.d.turn)
		if err != nil {
			return false, err
		}
		if c == nil {
			break
		}
		name, ok := originOf(c.request.Target.GetUrl())
		if !ok {
			p.refuse(c, ReasonInvalidURL)
			continue
		}
		o, err := p.lookupOrigin(name)
		if err != nil {
			return false, err
		}
		if p.putOffForOrigin(c, o.health) {
			continue
		}
		alone := o.health.breaker.Open && !isReferral(c.request)
		if alone && len(requests) > 0 {
			break
		}
		robotsAre := o.standing(p.nowMS)
		if isReferral(c.request) {
			robotsAre = known // what it brings is a robots.txt, and is not subject to one
		}
		switch robotsAre {
		case unknown:
			switch {
			case len(requests) > 0:
				break collect
			case !o.heard && p.d.origins+uint64(p.asked) >= uint64(p.f.opts.MaxOrigins):
				p.refuse(c, ReasonTooManyOrigins)
			default:
				p.releaseRobots(name, o, delay, probe || alone)
				return true, nil
			}
		case asking:
			p.blocked = true
			break collect
		case referred:
			p.blocked, p.answerMS = true, o.retryMS
			break collect
		case waiting:
			p.putOff(c, o.retryMS)
		case refused:
			p.refuse(c, o.refuse)
		case known:
			slower := max(delay, p.delayWith(o.crawlDelayMS))
			if len(requests) >= visitSize(slower, probe) {
				break collect
			}
			forbidden, err := p.forbidden(name, o, c.request)
			if err != nil {
				return false, err
			}
			if forbidden != "" {
				p.refuse(c, forbidden)
				continue
			}
			delay = slower
			requests = append(requests, c.request)
			size += targetBytes(c.request.Target)
			p.d.turn = c.turn
			p.cursors.pop(c)
			if alone {
				probe = true
				p.probed(name, o, delay)
				break collect
			}
		}
	}
	if len(requests) == 0 {
		return false, nil
	}
	p.bytes += size
	p.emit(&weftpb.Visit{Requests: requests, Probe: probe}, delay)
	return true, nil
}

func visitSize(delay time.Duration, probe bool) int {
	if probe {
		return 1
	}
	return politeness.VisitSize(delay)
}

// releaseRobots releases a visit for an origin's robots.txt. The URL that
// needs it stays at the front of its queue.
func (p *plan) releaseRobots(name string, o *knownOrigin, delay time.Duration, probe bool) {
	if !o.heard {
		p.asked++
	}
	o.asked = true
	delay = max(delay, p.delayWith(o.crawlDelayMS))
	if o.health.breaker.Open {
		p.probed(name, o, delay)
	}
	request := &weftpb.Request{Target: &weftpb.Target{Url: name + "/robots.txt"}}
	p.emit(&weftpb.Visit{Robots: true, Requests: []*weftpb.Request{request}, Probe: probe}, delay)
}

// emit adds a visit to the event.
func (p *plan) emit(v *weftpb.Visit, delay time.Duration) {
	v.Id = visitID(p.partition, p.offset, uint32(len(p.ev.Released)))
	v.DelayMs = uint32(delay.Milliseconds())
	v.LeaseMs = p.nowMS + politeness.Lease(len(v.Requests), delay).Milliseconds()
	p.ev.Released = append(p.ev.Released, v)
}

// refuse settles the URL at the front without a request.
func (p *plan) refuse(c *candidate, reason string) {
	if isReferral(c.request) {
		reason = ReasonRobots
	}
	p.cursors.pop(c)
	p.countChunk(c)
	p.ev.Settled = append(p.ev.Settled, &weftpb.Settlement{
		Url: c.request.Target.GetUrl(), Reason: reason, Priority: c.request.Priority, Again: c.request.Again, Group: c.request.Target.Group,
	})
}

// putOff moves the URL at the front to the retries.
func (p *plan) putOff(c *candidate, retryMS int64) {
	p.cursors.pop(c)
	p.countChunk(c)
	if len(p.ev.Deferred) == 0 || retryMS < p.deferredTo {
		p.deferredTo = retryMS
	}
	p.ev.Deferred = append(p.ev.Deferred, &weftpb.Deferral{Request: c.request, RetryMs: retryMS})
}

func (p *plan) countChunk(c *candidate) {
	size := targetBytes(c.request.Target)
	p.chunk++
	p.chunkBytes += size
	p.bytes += size
}

// chunkLeft tells whether the event has room for one more URL. A plan that has
// spent its work has refused or released one for it.
func (p *plan) chunkLeft() bool {
	return p.chunk < chunkURLs && p.chunkBytes < chunkBytes && p.work < chunkWork
}

// stalled tells whether all that was looked at waits for its origin. The domain
// then waits too, instead of moving a whole queue to the retries; but not when
// another origin has answered last, whose URLs may be behind.
func (p *plan) stalled() bool {
	n := len(p.ev.Deferred)
	if p.chunkLeft() || n < p.chunk || len(p.ev.Released) > 0 {
		return false
	}
	name, _ := originOf(p.ev.Deferred[n-1].Request.Target.GetUrl())
	return p.d.answeredBy == 0 || p.d.answeredBy == originHash(name)
}

// knownOrigin is an origin as the plan has seen it; heard tells whether it has
// a record, and judged whether its rules were asked.
type knownOrigin struct {
	*origin
	heard, judged bool
}

func (p *plan) lookupOrigin(name string) (*knownOrigin, error) {
	if o, ok := p.origins[name]; ok {
		return o, nil
	}
	o, heard, err := p.origin(name)
	if err != nil {
		return nil, err
	}
	if p.origins == nil {
		p.origins = map[string]*knownOrigin{}
	}
	found := &knownOrigin{origin: o, heard: heard}
	p.origins[name] = found
	return found, nil
}

// forbidden asks the rules in force of an origin, and counts the work; it returns
// the reason to refuse a URL, empty for none. That is by
// the rules alone, not by what of them is cached: a decision does not depend on
// that. To read the rules of one origin is free, since every event may have to.
func (p *plan) forbidden(name string, o *knownOrigin, q *weftpb.Request) (reason string, err error) {
	if o.unrestricted || isReferral(q) {
		return "", nil
	}
	rules, err := p.f.rulesOf(p.store, p.keys.policy(name), name, o.origin)
	if err != nil {
		return "", err
	}
	if !o.judged {
		if o.judged = true; p.judged > 0 {
			p.work += readWork * len(rules.robots.GetRules())
		}
		p.judged++
	}
	p.work += rules.wildcards * len(q.Target.GetUrl())
	switch {
	case p.f.opts.Allowed(rules.robots, q.Target.GetUrl()):
		return "", nil
	case p.f.opts.Unheld != nil && p.f.opts.Unheld(rules.robots):
		return ReasonTooManyRules, nil
	}
	return ReasonDisallowed, nil
}
