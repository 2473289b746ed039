package frontier

import (
	"fmt"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
	"github.com/weftcrawl/weft/internal/politeness"
)

// draft is the visit that is collected.
type draft struct {
	requests []*weftpb.Request
	delay    time.Duration // between its requests
	size     int           // of its requests, in bytes
	// probe tells whether its request shows if the host answers again. It is the only one.
	probe bool
	// waited tells whether the origin of one of its URLs waited until now.
	waited bool
	// over tells whether it takes no more requests.
	over bool
	// released tells whether a robots.txt or a check is released in its place.
	released bool
}

// releaseNext releases the next visit. It reports false if there is none.
func (p *plan) releaseNext() bool {
	d := &draft{delay: p.delay(0)}
	for left := p.left(); !d.over && d.size < visitBytes && p.chunkLeft() && len(d.requests) < politeness.VisitSize(d.delay) && int64(len(d.requests)) < left; {
		c := p.next()
		if c == nil {
			break
		}
		p.serve(d, c)
	}
	switch {
	case d.released:
		return true
	case p.err != nil, len(d.requests) == 0:
		return false
	}
	p.bytes += d.size
	p.d.waited = d.waited
	p.emit(&weftpb.Visit{Requests: d.requests, Probe: d.probe}, d.delay)
	return true
}

// serve collects a candidate, refuses it, puts it off, or leaves it to the next visit.
func (p *plan) serve(d *draft, c *candidate) {
	switch refusal := p.refusal(c); {
	case refusal != "":
		p.refuse(c, refusal)
	case c.from != nil && p.putOffInGroup(c):
	case c.probes() && len(d.requests) > 0:
		d.over = true
	default:
		p.serveByRobots(d, c)
	}
}

// refusal returns the reason why a URL is refused whatever its robots.txt says. It is empty if the
// URL is not refused.
func (p *plan) refusal(c *candidate) string {
	most := uint32(p.f.opts.MaxOrigins)
	switch {
	case c.name == "":
		return ReasonInvalidURL
	case c.host.refuses(p.nowMS):
		return c.host.refuse
	case c.origin.health.refuse != "" && waits(c.origin.health.waitMS, p.nowMS):
		return c.origin.health.refuse
	case c.origin.id > most, c.origin.id == 0 && p.d.origins >= most:
		return ReasonTooManyOrigins
	}
	return ""
}

// serveByRobots serves a candidate as its robots.txt says, or asks for the robots.txt.
func (p *plan) serveByRobots(d *draft, c *candidate) {
	standing := c.origin.standing(p.nowMS, p.f.opts.AgentSinceMS)
	if isReferral(c.request) {
		standing = InForce // robots rules do not apply to a robots.txt
	}
	switch standing {
	case Unasked, Waiting, Referred: // it can only still wait if the clock was set back
		d.over = true
		if len(d.requests) == 0 {
			d.released = true
			p.releaseRobots(c, d.delay)
		}
	case Refused:
		p.refuse(c, c.origin.refuse)
	case InForce:
		p.collect(d, c)
	default: // an origin that is asked for its robots.txt is in neither index
		d.over = true
		p.fail(fmt.Errorf("read origin %s: it is %s: %w", c.name, standing, kv.ErrValue))
	}
}

// collect adds a URL to the visit, if the rules in force of its origin allow that.
func (p *plan) collect(d *draft, c *candidate) {
	slower := max(d.delay, p.delay(c.origin.crawlDelayMS))
	if len(d.requests) >= politeness.VisitSize(slower) {
		d.over = true
		return
	}
	if forbidden := p.forbidden(c); forbidden != "" {
		p.refuse(c, forbidden)
		return
	}
	d.delay = slower
	if check := p.check(c.host); check != nil {
		d.over, d.released = true, true
		p.releaseCheck(c, check, d.delay)
		return
	}
	p.stateUsage(c)
	d.requests = append(d.requests, c.request)
	d.size += targetBytes(c.request.Target) + len(c.request.Usage)
	d.waited = d.waited || c.waited
	d.probe = c.probes()
	d.over = d.probe
	p.d.turn = c.turn
	p.pop(c)
	p.probed(c.name, d.delay)
}

// stateUsage writes into a request what robots.txt says about the use of its page. Most files
// say nothing about that.
func (p *plan) stateUsage(c *candidate) {
	c.request.Usage = ""
	if p.f.opts.Usage == nil || c.origin.unrestricted || isReferral(c.request) {
		return
	}
	rules := p.rulesOf(c.name, c.origin)
	if p.err != nil || rules.robots.GetUsage() == "" {
		return
	}
	p.work += len(rules.robots.GetUsage())
	c.request.Usage = p.f.opts.Usage(rules.robots, c.request.Target.GetUrl())
}

// putOffInGroup puts off the URL at the front of a group if its origin waits, and tells whether
// it did so. URLs outside of groups wait together with their origin.
func (p *plan) putOffInGroup(c *candidate) bool {
	standing := c.origin.standing(p.nowMS, p.f.opts.AgentSinceMS)
	switch {
	case waits(c.host.waitMS, p.nowMS):
		p.putOff(c, c.host.waitMS)
	case waits(c.host.silentMS, p.nowMS):
		p.putOff(c, c.host.silentMS)
	case waits(c.host.hangsMS, p.nowMS):
		p.putOff(c, p.nowMS) // its host waits, and may go on sooner
	case waits(c.origin.health.waitMS, p.nowMS):
		p.putOff(c, c.origin.health.waitMS)
	case standing == Asking:
		p.putOff(c, p.nowMS)
	case standing == Waiting, standing == Referred:
		p.putOff(c, c.origin.retryMS)
	default:
		return false
	}
	return true
}

// releaseRobots releases a visit for an origin's robots.txt. The URL that needs the robots.txt
// stays at the front of its queue. The request gets the priority of that URL.
func (p *plan) releaseRobots(c *candidate, delay time.Duration) {
	p.d.waited = c.waited
	p.change(c.name, func(o *origin) { o.robotsOut = true })
	delay = max(delay, p.delay(c.origin.crawlDelayMS))
	p.probed(c.name, delay)
	waits := c.request.Target
	request := &weftpb.Request{
		Target:   &weftpb.Target{Url: c.name + "/robots.txt", ScopeRoot: waits.ScopeRoot, Sitemap: waits.Sitemap},
		Priority: c.request.Priority,
	}
	p.emit(&weftpb.Visit{Robots: true, Requests: []*weftpb.Request{request}, Probe: c.probes()}, delay)
}

// check returns a check of a host: a request for a page that was fetched before. It is nil if no
// check is due, or if the rules in force do not allow the page.
func (p *plan) check(h *host) *candidate {
	if !h.checks() {
		return nil
	}
	c := &candidate{request: &weftpb.Request{Target: &weftpb.Target{Url: h.answeredURL}}, host: h}
	c.name, _ = originOf(h.answeredURL)
	c.origin, _ = p.origin(c.name)
	if c.origin.standing(p.nowMS, p.f.opts.AgentSinceMS) != InForce || p.forbidden(c) != "" {
		return nil
	}
	return c
}

// releaseCheck releases a visit with a check. The URL whose turn it was stays at the front
// of its queue.
func (p *plan) releaseCheck(c, check *candidate, delay time.Duration) {
	p.d.waited = c.waited
	p.probed(c.name, delay)
	check.request.Priority = c.request.Priority
	delay = max(delay, p.delay(check.origin.crawlDelayMS))
	p.emit(&weftpb.Visit{Check: true, Probe: true, Requests: []*weftpb.Request{check.request}}, delay)
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
	p.pop(c)
	p.countChunk(c)
	p.ev.Settled = append(p.ev.Settled, &weftpb.Settlement{
		Url: c.request.Target.GetUrl(), Reason: reason, Priority: c.request.Priority, Again: c.request.Again, Group: c.request.Target.Group,
	})
}

// putOff moves the URL at the front of a group to the retries of its origin.
func (p *plan) putOff(c *candidate, retryMS int64) {
	p.pop(c)
	p.countChunk(c)
	p.ev.Deferred = append(p.ev.Deferred, &weftpb.Deferral{Request: c.request, RetryMs: retryMS})
}

func (p *plan) countChunk(c *candidate) {
	size := targetBytes(c.request.Target)
	p.chunk++
	p.chunkBytes += size
	p.bytes += size
}

// chunkLeft tells whether the event may take one more URL. A plan that has reached chunkWork has
// refused or released at least one URL.
func (p *plan) chunkLeft() bool {
	return p.chunk < chunkURLs && p.chunkBytes < chunkBytes && p.work < chunkWork
}

// forbidden returns the reason why the rules in force of an origin refuse a URL. It is empty if
// they allow the URL. forbidden also counts the work. The count does not depend on which rules
// are cached, because a decision must not depend on that. Reading the rules of the first origin
// counts nothing, because every event may have to read the rules of one origin.
func (p *plan) forbidden(c *candidate) (reason string) {
	if c.origin.unrestricted || isReferral(c.request) {
		return ""
	}
	rules := p.rulesOf(c.name, c.origin)
	if p.err != nil {
		return ""
	}
	if !p.judged[c.name] {
		if p.judged == nil {
			p.judged = map[string]bool{}
		} else {
			p.work += readWork * len(rules.robots.GetRules())
		}
		p.judged[c.name] = true
	}
	url := c.request.Target.GetUrl()
	p.work += rules.wildcards * len(url)
	switch {
	case p.f.opts.Allowed(rules.robots, url):
		return ""
	case p.f.opts.Unheld != nil && p.f.opts.Unheld(rules.robots):
		return ReasonTooManyRules
	}
	return ReasonDisallowed
}
