package frontier

import (
	"fmt"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
	"github.com/weftcrawl/weft/internal/politeness"
	"github.com/weftcrawl/weft/internal/urls"
)

// An event stays below 512 KiB: no visit is added after eventBytes. The last visit may exceed
// eventBytes by visitBytes, and the refusals may exceed it by chunkBytes.
const (
	eventBytes = 256 << 10
	visitBytes = 96 << 10
	chunkBytes = 64 << 10
	// chunkURLs bounds the refusals and deferrals of an event.
	chunkURLs = 200
	// chunkWork bounds the cost of the robots rules of an event, so that one robots.txt does not
	// stop the other domains of the partition. The unit is a searched byte, which takes about a
	// nanosecond, and ten in the worst case. The URL that exceeds the bound is the last one of
	// the event.
	chunkWork = 8 << 20
	// readWork is the cost of a byte of rules that may have to be read from the store.
	readWork = 64
)

// advance releases what may go out, and refuses what may not.
func (p *plan) advance() {
	p.groups = newGroupFronts(&p.fold)
	for p.mayRelease() && p.releaseNext() {
	}
}

// mayRelease tells whether one more visit may go out now.
func (p *plan) mayRelease() bool {
	released := len(p.ev.Released)
	out, _ := p.d.out()
	out += released
	window := p.g.visits + int64(released)
	switch {
	case p.paused, p.d.nextMS > p.nowMS, p.heldMS() > 0, p.bytes > eventBytes, !p.chunkLeft():
		return false
	case out >= p.f.opts.PerDomain, window >= int64(p.f.opts.Window):
		return false
	case p.ticked || 2*window < int64(p.f.opts.Window):
		return true
	}
	return p.f.isNext(p.d, p.nowMS) // the window is scarce
}

// candidate is the URL that is served next, if it may go out.
type candidate struct {
	request *weftpb.Request
	// name is the name of the URL's origin.
	name   string
	origin *origin
	host   *host
	// turn is the turn of the domain after this URL.
	turn uint32
	// from is the place of the URL in a group, nil if it is not in a group.
	from *front
	// waited tells whether the origin of the URL waited until now.
	waited bool
}

// pop removes the candidate from the front of its queue, its retries or its group.
func (p *plan) pop(c *candidate) {
	if c.from != nil {
		c.from.pop()
		return
	}
	p.pull(c.request.Target.GetUrl(), c.request.Priority, c.request.Again)
}

// next returns the URL that is served next, nil if there is none. Origins whose wait is over
// come first, but only in every other visit, because they may fail again and again. While as many
// requests hang as may, they come last: if one more hangs, the domain waits for it. Then come
// the URLs of the other origins and of groups, by the weights of their priorities. Origins with
// URLs of the same priority are served in turn. If a group shares the turns of a priority with
// the queues, the shorter of the two goes first. Trials go before both.
func (p *plan) next() *candidate {
	c, d := &candidate{turn: p.d.turn}, p.d
	over := d.waiting > 0 && (d.waitMS <= p.nowMS || absurd(d.waitMS, p.nowMS))
	if _, hanging := d.out(); over && !d.waited && hanging < maxHanging {
		c.waited = true
		return p.nextOf(c, p.nextWaiting(), nil)
	}
	g := &p.groups
	tried, freed := g.trials.fill(), g.free.fill()
	priority, turn, ok := politeness.Serve(p.d.turn, func(n int) bool {
		return d.ready[n] > 0 || tried && n == trialPriority || freed && n == freePriority
	})
	c.turn = turn
	switch {
	case !ok && over:
		c.waited = true
		return p.nextOf(c, p.nextWaiting(), nil)
	case !ok && g.idle && g.whenIdle.fill():
		c.from = &g.whenIdle.front
	case !ok:
		return nil
	case tried && priority == trialPriority:
		c.from = &g.trials.front
	case freed && priority == freePriority && (d.ready[priority] == 0 || g.free.count <= d.held):
		c.from = &g.free.front
	default:
		return p.nextOf(c, p.nextReadyName(priority), &priority)
	}
	if p.err != nil {
		return nil
	}
	c.request = c.from.ahead[0]
	c.name, _ = originOf(c.request.Target.GetUrl())
	c.origin, _ = p.origin(c.name)
	c.host = p.host(urls.HostOf(c.name))
	return c
}

// run is the number of URLs of one origin that are served in a row. Then it is the turn of the
// next origin with URLs of the same priority, and of a retry that failed before. URLs of one
// origin share a connection, and the records that a decision reads.
const run = 8

// nextReadyName returns the origin that is served next of those with URLs of a priority.
func (p *plan) nextReadyName(priority int) string {
	name := p.latest[priority]
	o := p.origins[name]
	still := o != nil && o.at.ready&(1<<priority) != 0
	if p.runs[priority]++; still && (p.runs[priority] <= run || p.d.ready[priority] == 1) {
		return name
	}
	p.latest[priority], p.runs[priority] = p.nextReady(priority, p.served[priority]), 1
	return p.latest[priority]
}

// nextOf completes c with the next URL of an origin: a retry whose turn it is, or else the first
// URL in the queue of a priority. If priority is nil, the turn of the domain decides on the queue.
func (p *plan) nextOf(c *candidate, name string, priority *int) *candidate {
	c.name = name
	c.origin, _ = p.origin(name)
	c.host = p.host(urls.HostOf(name))
	if c.request = p.nextRetry(c.origin); c.request != nil {
		c.turn = p.d.turn
		return c
	}
	again := false
	if priority == nil {
		n, turn, ok := politeness.Serve(p.d.turn, func(n int) bool { return c.origin.queues[n].len() > 0 })
		c.turn, priority = turn, &n
		again = !ok // after a clock was set back
	}
	if c.request = p.first(c.origin, *priority, again); c.request == nil {
		return nil
	}
	if !again {
		c.request.Priority = uint32(*priority)
		p.served[*priority] = c.origin.id
	}
	return c
}

// nextRetry returns the first retry of an origin if it is its turn, and nil otherwise. A URL that
// has failed lets some URLs of the queues pass, because it may fail again and again, and its host
// waits after each failure. A URL that was not asked for does not.
func (p *plan) nextRetry(o *origin) *weftpb.Request {
	if !o.retries.ready(p.nowMS) {
		return nil
	}
	q := p.first(o, 0, true)
	if q.GetAttempt()+q.GetThrottled() > 0 && o.retries.passed < run && o.queued() > 0 {
		return nil
	}
	return q
}

// releaseNext collects the next visit. It reports false when there is none.
func (p *plan) releaseNext() bool {
	var (
		requests []*weftpb.Request
		delay    = p.delay(0)
		size     int
		waited   bool
	)
collect:
	for left := p.left(); size < visitBytes && p.chunkLeft() && len(requests) < politeness.VisitSize(delay) && int64(len(requests)) < left; {
		c := p.next()
		if c == nil {
			break
		}
		probe := c.host.breaker.Open || c.origin.health.breaker.Open
		switch {
		case c.name == "":
			p.refuse(c, ReasonInvalidURL)
			continue
		case c.host.refuses(p.nowMS):
			p.refuse(c, c.host.refuse)
			continue
		case c.origin.health.refuse != "" && waits(c.origin.health.waitMS, p.nowMS):
			p.refuse(c, c.origin.health.refuse)
			continue
		case c.origin.id > uint32(p.f.opts.MaxOrigins), c.origin.id == 0 && p.d.origins >= uint32(p.f.opts.MaxOrigins):
			p.refuse(c, ReasonTooManyOrigins)
			continue
		case c.from != nil && p.putOffInGroup(c):
			continue
		case probe && len(requests) > 0:
			break collect
		}
		robotsAre := c.origin.standing(p.nowMS, p.f.opts.AgentSinceMS)
		if isReferral(c.request) {
			robotsAre = InForce // robots rules do not apply to a robots.txt
		}
		switch robotsAre {
		case Unasked, Waiting, Referred: // it can only still wait if the clock was set back
			if len(requests) > 0 {
				break collect
			}
			p.d.waited = c.waited
			p.releaseRobots(c, delay, probe)
			return true
		case Refused:
			p.refuse(c, c.origin.refuse)
		case InForce:
			slower := max(delay, p.delay(c.origin.crawlDelayMS))
			if len(requests) >= politeness.VisitSize(slower) {
				break collect
			}
			if forbidden := p.forbidden(c); forbidden != "" {
				p.refuse(c, forbidden)
				continue
			}
			delay = slower
			if check := p.check(c.host); check != nil {
				check.request.Priority = c.request.Priority
				p.d.waited = c.waited
				p.probed(c.name, delay)
				p.releaseCheck(check, delay)
				return true
			}
			p.stateUsage(c)
			requests = append(requests, c.request)
			waited = waited || c.waited
			size += targetBytes(c.request.Target) + len(c.request.Usage)
			p.d.turn = c.turn
			p.pop(c)
			p.probed(c.name, delay)
			if probe {
				p.bytes += size
				p.d.waited = waited
				p.emit(&weftpb.Visit{Requests: requests, Probe: true}, delay)
				return true
			}
		default: // an origin that is asked for its robots.txt is in neither index
			p.fail(fmt.Errorf("read origin %s: it is %s: %w", c.name, robotsAre, kv.ErrValue))
			return false
		}
	}
	if len(requests) == 0 {
		return false
	}
	p.bytes += size
	p.d.waited = waited
	p.emit(&weftpb.Visit{Requests: requests}, delay)
	return true
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
func (p *plan) releaseRobots(c *candidate, delay time.Duration, probe bool) {
	p.change(c.name, func(o *origin) { o.robotsOut = true })
	delay = max(delay, p.delay(c.origin.crawlDelayMS))
	p.probed(c.name, delay)
	waits := c.request.Target
	request := &weftpb.Request{
		Target:   &weftpb.Target{Url: c.name + "/robots.txt", ScopeRoot: waits.ScopeRoot, Sitemap: waits.Sitemap},
		Priority: c.request.Priority,
	}
	p.emit(&weftpb.Visit{Robots: true, Requests: []*weftpb.Request{request}, Probe: probe}, delay)
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
func (p *plan) releaseCheck(c *candidate, delay time.Duration) {
	delay = max(delay, p.delay(c.origin.crawlDelayMS))
	p.emit(&weftpb.Visit{Check: true, Probe: true, Requests: []*weftpb.Request{c.request}}, delay)
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
