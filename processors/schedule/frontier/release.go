package frontier

import (
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/politeness"
)

// An event stays under 512 KiB by construction: releases end at eventBytes,
// which the last visit may pass by visitBytes and the refusals by chunkBytes.
const (
	eventBytes = 256 << 10
	visitBytes = 96 << 10
	chunkBytes = 64 << 10
	// chunkURLs bounds the refusals and deferrals of an event.
	chunkURLs = 200
	// chunkWork bounds what the robots rules of an event cost, so that a robots.txt
	// does not stop the other domains of the partition. It counts bytes searched; each
	// takes about a nanosecond, and some ten at worst. The URL that passes the bound is
	// the last one.
	chunkWork = 8 << 20
	// readWork is what a byte of rules costs that may have to be read first.
	readWork = 64
)

// advance releases what may go out, refuses what may not, and settles the queue of a
// domain whose breaker opened too often.
func (p *plan) advance() {
	p.cursors = newCursors(&p.fold, p.givenUp())
	if p.givenUp() {
		p.giveUp()
		return
	}
	for p.mayRelease() && p.releaseNext() {
	}
}

// givenUp tells whether the domain's URLs are given up now. When the last wait of its
// breaker is over, one more probe goes out.
func (p *plan) givenUp() bool {
	return p.d.breaker.GaveUp(p.f.opts.BreakerCycles) && p.nowMS < p.d.nextMS
}

// giveUp settles a chunk of everything that is queued.
func (p *plan) giveUp() {
	for p.chunkLeft() {
		c := p.cursors.front(p.d.turn)
		if c == nil {
			return
		}
		p.refuse(c, ReasonBreaker)
	}
}

// mayRelease tells whether one more visit may go out now.
func (p *plan) mayRelease() bool {
	released := len(p.ev.Released)
	out := len(p.d.visits) + released
	window := p.g.visits + int64(released)
	switch {
	case p.paused, p.d.nextMS > p.nowMS, p.bytes > eventBytes, !p.chunkLeft():
		return false
	case out >= p.f.opts.PerDomain, out > 0 && p.d.breaker.Open, out > 0 && p.blocked:
		return false
	case window >= int64(p.f.opts.Window):
		return false
	case p.ticked || 2*window < int64(p.f.opts.Window):
		return true
	}
	// The window is scarce: the domain that has waited for longest goes first.
	first := p.f.due.first(p.f.store)
	return first > uint64(p.nowMS) || p.d.dueMS != 0 && first == uint64(p.d.dueMS)
}

// releaseNext collects the next visit. It reports false when there is none.
func (p *plan) releaseNext() bool {
	var (
		requests []*weftpb.Request
		delay    = p.delay(0)
		size     int
		probe    = p.d.breaker.Open
	)
collect:
	for size < visitBytes && p.chunkLeft() && len(requests) < visitSize(delay, probe) {
		c := p.cursors.front(p.d.turn)
		if c == nil {
			break
		}
		name, ok := originOf(c.request.Target.GetUrl())
		if !ok {
			p.refuse(c, ReasonInvalidURL)
			continue
		}
		o := p.lookupOrigin(name)
		if p.putOffForOrigin(c, o.health) {
			continue
		}
		alone := o.health.breaker.Open && !isReferral(c.request)
		if alone && len(requests) > 0 {
			break
		}
		robotsAre := o.standing(p.nowMS)
		if isReferral(c.request) {
			robotsAre = InForce // robots rules do not apply to a robots.txt
		}
		switch robotsAre {
		case Unasked:
			switch {
			case len(requests) > 0:
				break collect
			case !o.recorded && p.d.origins+uint64(p.asked) >= uint64(p.f.opts.MaxOrigins):
				p.refuse(c, ReasonTooManyOrigins)
			default:
				p.releaseRobots(name, o, delay, probe || alone)
				return true
			}
		case Asking:
			p.blocked = true
			break collect
		case Referred:
			p.blocked, p.answerMS = true, o.retryMS
			break collect
		case Waiting:
			p.putOff(c, o.retryMS)
		case Refused:
			p.refuse(c, o.refuse)
		case InForce:
			slower := max(delay, p.delay(o.crawlDelayMS))
			if len(requests) >= visitSize(slower, probe) {
				break collect
			}
			if forbidden := p.forbidden(name, o, c.request); forbidden != "" {
				p.refuse(c, forbidden)
				continue
			}
			delay = slower
			requests = append(requests, c.request)
			size += targetBytes(c.request.Target)
			p.d.turn = c.turn
			c.pop()
			if alone {
				probe = true
				p.probed(name, o, delay)
				break collect
			}
		}
	}
	if len(requests) == 0 {
		return false
	}
	p.bytes += size
	p.emit(&weftpb.Visit{Requests: requests, Probe: probe}, delay)
	return true
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
	if !o.recorded {
		p.asked++
	}
	o.asked = true
	delay = max(delay, p.delay(o.crawlDelayMS))
	if o.health.breaker.Open {
		p.probed(name, o, delay)
	}
	request := &weftpb.Request{Target: &weftpb.Target{Url: name + "/robots.txt"}}
	p.emit(&weftpb.Visit{Robots: true, Requests: []*weftpb.Request{request}, Probe: probe}, delay)
}

func (p *plan) emit(v *weftpb.Visit, delay time.Duration) {
	v.Id = VisitID(p.partition, p.offset, uint32(len(p.ev.Released)))
	v.DelayMs = uint32(delay.Milliseconds())
	v.LeaseMs = p.nowMS + politeness.Lease(len(v.Requests), delay).Milliseconds()
	p.ev.Released = append(p.ev.Released, v)
}

// refuse settles the URL at the front without a request.
func (p *plan) refuse(c *candidate, reason string) {
	if isReferral(c.request) {
		reason = ReasonRobots
	}
	c.pop()
	p.countChunk(c)
	p.ev.Settled = append(p.ev.Settled, &weftpb.Settlement{
		Url: c.request.Target.GetUrl(), Reason: reason, Priority: c.request.Priority, Again: c.request.Again, Group: c.request.Target.Group,
	})
}

// putOff moves the URL at the front to the retries.
func (p *plan) putOff(c *candidate, retryMS int64) {
	c.pop()
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

// chunkLeft tells whether the event may take one more URL. A plan that has reached
// chunkWork has refused or released at least one.
func (p *plan) chunkLeft() bool {
	return p.chunk < chunkURLs && p.chunkBytes < chunkBytes && p.work < chunkWork
}

// stalled tells whether all URLs that were looked at wait for their origin. Then the
// domain waits too, instead of moving a whole queue to the retries. It does not wait
// if another origin answered last, because URLs of that origin may follow.
func (p *plan) stalled() bool {
	n := len(p.ev.Deferred)
	if p.chunkLeft() || n < p.chunk || len(p.ev.Released) > 0 {
		return false
	}
	name, _ := originOf(p.ev.Deferred[n-1].Request.Target.GetUrl())
	return p.d.answeredBy == 0 || p.d.answeredBy == originHash(name)
}

// knownOrigin is an origin as the plan sees it; recorded tells whether it has a record,
// and judged whether its rules were asked.
type knownOrigin struct {
	*origin
	recorded, judged bool
}

func (p *plan) lookupOrigin(name string) *knownOrigin {
	if o, ok := p.origins[name]; ok {
		return o
	}
	o, heard := p.origin(name)
	if p.origins == nil {
		p.origins = map[string]*knownOrigin{}
	}
	found := &knownOrigin{origin: o, recorded: heard}
	p.origins[name] = found
	return found
}

// forbidden returns the reason why the rules in force of an origin refuse a URL, empty if
// they allow it, and counts the work. The count does not depend on which rules are
// cached, because a decision must not. Reading the rules of the first origin is free,
// because every event may have to read one.
func (p *plan) forbidden(name string, o *knownOrigin, q *weftpb.Request) (reason string) {
	if o.unrestricted || isReferral(q) {
		return ""
	}
	rules := p.rulesOf(name, o.origin)
	if p.err != nil {
		return ""
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
		return ""
	case p.f.opts.Unheld != nil && p.f.opts.Unheld(rules.robots):
		return ReasonTooManyRules
	}
	return ReasonDisallowed
}
