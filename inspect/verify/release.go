package verify

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/politeness"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/normalize/scope"
	"github.com/weftcrawl/weft/topics"
)

// maxAttempts is the number of requests for a URL that fails.
const maxAttempts = 4

// reasonRobots settles a request for a robots.txt, which is not a URL of the crawl.
const reasonRobots = "robots"

// isReferral reports a request for a robots.txt that a redirect of another domain leads
// to. It is not a URL of the crawl: no page names it, it may come more than once, and no
// rules apply to it. It has a place and a delay as other requests have.
func isReferral(q *weftpb.Request) bool {
	return q.GetTarget().GetVia() == weftpb.Via_VIA_ROBOTS
}

// budgets are the loosest limits of all definitions that the crawl had, because records
// do not say which definition was in force.
type budgets struct {
	partitions int32
	maxDepth   int
	perDomain  int
	window     int
	delayMS    int64
	// perDay is how many requests a day may be made to a domain, crawlPerDay what is divided
	// among all; 0: any number.
	perDay, crawlPerDay int64
	address             addressBudget
	// set are the domains for which people ever asked something.
	set map[string]bool
}

func (b *budgets) loosen(d topics.Definition, window int) {
	first := b.partitions == 0
	b.address.loosen(d)
	if first {
		b.partitions, b.maxDepth, b.perDomain, b.window = d.Partitions, d.MaxDepth, d.PerDomain, window
		b.delayMS, b.perDay, b.crawlPerDay = d.DelayMS, d.PerDay, d.CrawlPerDay
		return
	}
	if d.MaxDepth == scope.NoDepthLimit || b.maxDepth != scope.NoDepthLimit && d.MaxDepth > b.maxDepth {
		b.maxDepth = d.MaxDepth
	}
	b.perDomain, b.delayMS = max(b.perDomain, d.PerDomain), min(b.delayMS, d.DelayMS)
	if d.PerDay == 0 || b.perDay > 0 && d.PerDay > b.perDay {
		b.perDay = d.PerDay
	}
	if d.CrawlPerDay == 0 || b.crawlPerDay > 0 && d.CrawlPerDay > b.crawlPerDay {
		b.crawlPerDay = d.CrawlPerDay
	}
}

func (p *partition) checkTarget(s *step, t *weftpb.Target) {
	if b := p.budgets; b.maxDepth != scope.NoDepthLimit && t.GetVia() != weftpb.Via_VIA_SEED && int64(t.GetDepth()) > int64(b.maxDepth) {
		p.violate(s, KindDepth, t.GetUrl(), s.says("admits it"), "depth %d of at most %d", t.GetDepth(), b.maxDepth)
	}
	p.checkPlace(s, t)
}

func (p *partition) checkPlace(s *step, t *weftpb.Target) {
	u, refusal := urls.Parse(t.GetUrl())
	wrong := ""
	switch {
	case refusal != urls.Accepted || u.String() != t.GetUrl():
		wrong = "it is not a canonical URL"
	case p.suffixes.Domain(u.Hostname()) != s.name:
		wrong = "it is under the key of another domain"
	case topics.Partition(s.name, p.budgets.partitions) != p.number:
		wrong = fmt.Sprintf("its domain belongs to partition %d", topics.Partition(s.name, p.budgets.partitions))
	}
	if wrong != "" {
		p.violate(s, KindMisplaced, t.GetUrl(), s.says("admits it"), "%s", wrong)
	}
}

func (p *partition) learn(s *step, r *weftpb.OriginRules) {
	o := s.domain.origins[r.Origin]
	if o == nil {
		o = &origin{}
		s.domain.origins[r.Origin] = o
	}
	if wrong := o.learn(r, s.ev.DecidedMs, p.library); wrong != "" && p.whole {
		p.violate(s, KindBeforeRobots, r.Origin, s.says("learns rules"), "%s", wrong)
	}
}

func (p *partition) release(s *step, r *weftpb.Visit, index int) {
	v := &visit{
		domain: s.domain, robots: r.Robots, aside: r.Robots || r.Check, requests: r.Requests, open: uint32(1)<<len(r.Requests) - 1,
		delayMS: r.DelayMs, responseMS: s.ev.GetTiming().GetResponseMs(),
		offset: s.record.Offset, epoch: s.epoch, id: s.record.Offset<<8 | int64(index),
	}
	if len(r.Requests) == 0 || len(r.Requests) > politeness.MaxVisit || v.aside && len(r.Requests) > 1 {
		p.violate(s, KindImpossibleStep, "", s.says("releases visit %s", r.Id), "a visit of %d requests", len(r.Requests))
		return
	}
	for _, q := range r.Requests {
		switch {
		case v.aside:
			p.carry(s, settled, out)
		case isReferral(q):
			p.carry(s, front(q.Again), out)
			s.domain.referrals[q.GetTarget().GetUrl()] = true
		default:
			p.goesOut(s, r, q)
		}
		if o := s.domain.originOf(q.GetTarget().GetUrl()); o != nil {
			v.crawlMS = max(v.crawlMS, o.crawlDelayMS)
		}
	}
	if r.Probe || r.Check {
		s.domain.probed[urls.HostOf(r.Requests[0].GetTarget().GetUrl())] = true
	}
	p.visits[r.Id] = v
	s.domain.out = append(s.domain.out, v)
	s.domain.visits++
	p.have.visits++
	p.checkVisit(s, r, v)
}

// goesOut folds a URL that is released, and judges its release.
func (p *partition) goesOut(s *step, r *weftpb.Visit, q *weftpb.Request) {
	url := q.GetTarget().GetUrl()
	p.leavesFor(s, q)
	e := p.move(s, url, front(q.Again), out)
	if p.whole && q.Attempt != uint32(e.attempts) {
		p.violate(s, KindAttempts, url, s.says("releases it in visit %s", r.Id), "it is released as attempt %d after %d attempts that failed", q.Attempt, e.attempts)
	}
	p.mark(url, func(e *entry) {
		if e.releases == 0 || r.DelayMs < e.delayMS {
			e.delayMS = r.DelayMs
		}
		e.releases, e.round = increment(e.releases), uint8(min(q.Round, 255))
	})
	p.shown(Robots, 1)
	name, path := splitURL(url)
	o := s.domain.origins[name]
	if o == nil && !p.whole {
		p.unproven(Robots, "releases whose rules were learned in a part of scheduled that is trimmed")
		return
	}
	switch {
	case o == nil || !o.inForce(s.ev.DecidedMs):
		p.violate(s, KindBeforeRobots, url, s.says("releases it in visit %s", r.Id), "it is released while no rules of its origin are in force: %s", o.ruled())
	case !o.rules.Allowed(path):
		p.violate(s, KindDenied, url, s.says("releases it in visit %s", r.Id), "it is released, and robots.txt denies it; %s", o.ruled())
	}
}

// checkVisit judges the delay of a released visit, and the number of visits out.
func (p *partition) checkVisit(s *step, r *weftpb.Visit, v *visit) {
	record := s.says("releases visit %s with a delay of %d ms", r.Id, r.DelayMs)
	if !p.whole && p.budgets.set[s.name] && s.domain.asked.setting == nil {
		return // the setting may be in the part that is trimmed
	}
	if least := max(p.delayMS(s.domain), int64(v.crawlMS)); int64(r.DelayMs) < least {
		p.violate(s, KindDelay, "", record,
			"its delay is %d ms: %d ms are configured, and robots.txt asks for %d ms", r.DelayMs, p.delayMS(s.domain), v.crawlMS)
	}
	p.checkAsked(s, r, record)
	if !p.whole {
		return
	}
	if out := s.domain.visits - int64(len(s.domain.hanging)); out > int64(p.budgets.perDomain) {
		p.violate(s, KindPerDomain, "", record, "%d visits are out, of at most %d", out, p.budgets.perDomain)
	}
	for _, hangs := range s.domain.hanging {
		host := hangs.hangingHost()
		for _, q := range r.Requests {
			if urls.HostOf(q.GetTarget().GetUrl()) == host {
				p.violate(s, KindPerDomain, q.GetTarget().GetUrl(), record, "another request to %s hangs", host)
			}
		}
	}
	if p.have.visits > int64(p.budgets.window) {
		p.violate(s, KindWindow, "", record, "%d visits of the partition are out, of at most %d", p.have.visits, p.budgets.window)
	}
}

// hang folds that a domain goes on without a visit.
func (p *partition) hang(s *step, id string) {
	v := p.lookup(s, id)
	switch {
	case v == nil:
	case bits.OnesCount32(v.open) != 1 || slices.Contains(s.domain.hanging, v):
		p.violate(s, KindImpossibleStep, "", s.says("goes on without visit %s", id), "it does not hang at its last request")
	case len(s.domain.hanging) == politeness.MaxHanging:
		p.violate(s, KindPerDomain, "", s.says("goes on without visit %s", id), "%d others of the domain hang", politeness.MaxHanging)
	default:
		s.domain.hanging = append(s.domain.hanging, v)
	}
}

// hangingHost is the host of the one request that has no outcome.
func (v *visit) hangingHost() string {
	return urls.HostOf(v.requests[bits.TrailingZeros32(v.open)].GetTarget().GetUrl())
}

// originOf is what is known of a URL's origin, nil for nothing.
func (d *domain) originOf(url string) *origin {
	name, _ := splitURL(url)
	return d.origins[name]
}

func (p *partition) paced(s *step, v *visit, url string, t *weftpb.Settlement) {
	made := t.GetAttempt()
	if made.GetStartedMs() == 0 || politeness.Judge(made.Status, made.ErrorClass).Unreached {
		return // no server was asked
	}
	a := attempt{
		start: made.StartedMs * 1000, end: made.StartedMs*1000 + made.TotalUs, visit: v.id,
		delayMS: v.delayMS, responseMS: v.responseMS, crawlMS: v.crawlMS,
		released: v.epoch, settled: s.epoch, at: s.record.Offset,
	}
	if made.HungUs > 0 {
		a.end = min(a.end, a.start+made.HungUs) // the domain went on without it
	}
	p.shown(Delays, 1)
	p.table.addressed(made, s.record)
	l := limits{atOnce: p.budgets.perDomain, needed: neededOfDomain, tolerance: p.tolerance}
	p.tooEarly(s, url, "the domain", v.domain.pace.add(a, l))
	o := v.domain.originOf(url)
	if o == nil || o.crawlDelayMS == 0 {
		return
	}
	a.crawlMS, l.needed = o.crawlDelayMS, neededOfOrigin
	p.tooEarly(s, url, "an origin with that Crawl-delay", o.pace.add(a, l))
}

// tolerance is by how much an interval may be too short, in microseconds: a millisecond,
// because starts are cut to milliseconds, and across a claim also the difference of
// clocks.
func (p *partition) tolerance(before, after *attempt) int64 {
	const cut = 1000
	if before.released != after.settled {
		return cut + p.opts.Skew.Microseconds()
	}
	return cut
}

func (p *partition) tooEarly(s *step, url, whose string, early []interval) {
	for _, i := range early {
		kind, topic := KindShort, s.record.Topic
		if i.overlap {
			kind = KindOverlap
		}
		p.judge.violate(Violation{
			Kind: kind, Domain: s.name, URL: url, Says: i.text(whose, p.budgets.perDomain),
			Records: []RecordRef{
				{Topic: topic, Partition: p.number, Offset: i.after.at, Says: "settles the later one: " + i.after.times()},
				{Topic: topic, Partition: p.number, Offset: i.before.at, Says: "settles the earlier one: " + i.before.times()},
			},
		})
	}
}
