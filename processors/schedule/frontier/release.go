package frontier

import (
	"github.com/weftcrawl/weft/codecs/weftpb"
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

// probes tells whether the candidate is a probe of its host or of its origin.
func (c *candidate) probes() bool { return c.host.breaker.Open || c.origin.health.breaker.Open }

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
