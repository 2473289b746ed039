package verify

import (
	"fmt"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/politeness"
	"github.com/weftcrawl/weft/scope"
	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/urls"
)

// maxAttempts is how often a URL is asked for when it fails.
const maxAttempts = 4

// budgets are the loosest of all definitions that the crawl ever had: records
// do not tell which was in force.
type budgets struct {
	partitions int32
	maxDepth   int
	perDomain  int
	window     int
	delayMS    int64
}

func (b *budgets) loosen(d topics.Definition, window int) {
	if b.partitions == 0 {
		*b = budgets{d.Partitions, d.MaxDepth, d.PerDomain, window, d.DelayMS}
		return
	}
	if d.MaxDepth == scope.NoDepthLimit || b.maxDepth != scope.NoDepthLimit && d.MaxDepth > b.maxDepth {
		b.maxDepth = d.MaxDepth
	}
	b.perDomain, b.delayMS = max(b.perDomain, d.PerDomain), min(b.delayMS, d.DelayMS)
}

// checkTarget holds an admitted URL against depth and place.
func (p *partition) checkTarget(s *step, t *weftpb.Target) {
	if b := p.budgets; b.maxDepth != scope.NoDepthLimit && t.GetVia() != weftpb.Via_VIA_SEED && int64(t.GetDepth()) > int64(b.maxDepth) {
		p.violate(Violation{
			Kind: KindDepth, Domain: s.name, URL: t.GetUrl(), Says: fmt.Sprintf("depth %d of at most %d", t.GetDepth(), b.maxDepth),
			Records: []Record{s.says("admits it")},
		})
	}
	p.checkPlace(s, t)
}

// checkPlace holds an admitted URL against its key and its partition.
func (p *partition) checkPlace(s *step, t *weftpb.Target) {
	u, refusal := urls.Parse(t.GetUrl())
	wrong := ""
	switch {
	case refusal != urls.Accepted || u.String() != t.GetUrl():
		wrong = "it is no canonical URL"
	case p.suffixes.Domain(u.Hostname()) != s.name:
		wrong = "it is under the key of another domain"
	case topics.Partition(s.name, p.budgets.partitions) != p.number:
		wrong = fmt.Sprintf("its domain belongs to partition %d", topics.Partition(s.name, p.budgets.partitions))
	}
	if wrong != "" {
		p.violate(Violation{
			Kind: KindMisplaced, Domain: s.name, URL: t.GetUrl(), Says: wrong, Records: []Record{s.says("admits it")},
		})
	}
}

// learn folds robots rules.
func (p *partition) learn(s *step, r *weftpb.OriginRules) {
	o := s.domain.origins[r.Origin]
	if o == nil {
		o = &origin{}
		s.domain.origins[r.Origin] = o
	}
	if wrong := o.learn(r, s.ev.DecidedMs, p.library); wrong != "" && p.whole {
		p.violate(Violation{
			Kind: KindBeforeRobots, Domain: s.name, URL: r.Origin, Says: wrong, Records: []Record{s.says("learns rules")},
		})
	}
}

// release folds a visit that goes out.
func (p *partition) release(s *step, r *weftpb.Visit, index int) {
	v := &visit{
		domain: s.domain, robots: r.Robots, requests: r.Requests, open: uint32(1)<<len(r.Requests) - 1,
		delayMS: r.DelayMs, responseMS: s.ev.GetTiming().GetResponseMs(),
		offset: s.record.Offset, epoch: s.epoch, id: s.record.Offset<<8 | int64(index),
	}
	if len(r.Requests) == 0 || len(r.Requests) > politeness.MaxVisit || r.Robots && len(r.Requests) > 1 {
		p.violate(Violation{
			Kind: KindImpossibleStep, Domain: s.name, Says: fmt.Sprintf("a visit of %d requests", len(r.Requests)),
			Records: []Record{s.says("releases visit %s", r.Id)},
		})
		return
	}
	for _, q := range r.Requests {
		switch {
		case r.Robots:
			p.have.out++
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
	p.visits[r.Id] = v
	s.domain.visits++
	p.have.visits++
	p.checkVisit(s, r, v)
}

// goesOut folds a URL that is released, and judges whether it may be.
func (p *partition) goesOut(s *step, r *weftpb.Visit, q *weftpb.Request) {
	url := q.GetTarget().GetUrl()
	p.leavesFor(s, q)
	e := p.move(s, url, front(q.Again), out)
	if p.whole && q.Attempt != uint32(e.attempts) {
		p.violate(Violation{
			Kind: KindAttempts, Domain: s.name, URL: url,
			Says:    fmt.Sprintf("it is released as attempt %d after %d attempts that failed", q.Attempt, e.attempts),
			Records: []Record{s.says("releases it in visit %s", r.Id)},
		})
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
		p.violate(Violation{
			Kind: KindBeforeRobots, Domain: s.name, URL: url, Says: "it is released while no rules of its origin are in force: " + o.ruled(),
			Records: []Record{s.says("releases it in visit %s", r.Id)},
		})
	case !o.rules.Allowed(path):
		p.violate(Violation{
			Kind: KindDenied, Domain: s.name, URL: url, Says: "it is released, and robots.txt denies it; " + o.ruled(),
			Records: []Record{s.says("releases it in visit %s", r.Id)},
		})
	}
}

// checkVisit holds a visit that was released against delays and windows.
func (p *partition) checkVisit(s *step, r *weftpb.Visit, v *visit) {
	record := s.says("releases visit %s with a delay of %d ms", r.Id, r.DelayMs)
	if least := max(p.budgets.delayMS, int64(v.crawlMS)); int64(r.DelayMs) < least {
		p.violate(Violation{
			Kind: KindDelay, Domain: s.name,
			Says:    fmt.Sprintf("its delay is %d ms: %d ms are configured, and robots.txt asks for %d ms", r.DelayMs, p.budgets.delayMS, v.crawlMS),
			Records: []Record{record},
		})
	}
	if !p.whole {
		return
	}
	if s.domain.visits > int64(p.budgets.perDomain) {
		p.violate(Violation{
			Kind: KindPerDomain, Domain: s.name, Says: fmt.Sprintf("%d visits are out, of at most %d", s.domain.visits, p.budgets.perDomain),
			Records: []Record{record},
		})
	}
	if p.have.visits > int64(p.budgets.window) {
		p.violate(Violation{
			Kind: KindWindow, Domain: s.name, Says: fmt.Sprintf("%d visits of the partition are out, of at most %d", p.have.visits, p.budgets.window),
			Records: []Record{record},
		})
	}
}

// originOf is what is known of a URL's origin, nil for nothing.
func (d *domain) originOf(url string) *origin {
	name, _ := splitURL(url)
	return d.origins[name]
}

// paced holds an attempt against the ones before it.
func (p *partition) paced(s *step, v *visit, url string, t *weftpb.Settlement) {
	made := t.GetAttempt()
	if made.GetStartedMs() == 0 {
		return
	}
	a := attempt{
		start: made.StartedMs * 1000, end: made.StartedMs*1000 + made.TotalUs, visit: v.id,
		delayMS: v.delayMS, responseMS: v.responseMS, crawlMS: v.crawlMS,
		released: v.epoch, settled: s.epoch, at: s.record.Offset,
	}
	p.shown(Delays, 1)
	l := limits{atOnce: p.budgets.perDomain, needed: neededOfDomain, tolerance: p.tolerance}
	p.tooEarly(s, url, "the domain", v.domain.pace.add(a, l))
	o := v.domain.originOf(url)
	if o == nil || o.crawlDelayMS == 0 {
		return
	}
	a.crawlMS, l.needed = o.crawlDelayMS, neededOfOrigin
	p.tooEarly(s, url, "an origin with that Crawl-delay", o.pace.add(a, l))
}

// tolerance is what may be missing from an interval, microseconds: a
// millisecond, because starts are cut to it, and across a claim the difference
// of clocks.
func (p *partition) tolerance(before, after *attempt) int64 {
	const cut = 1000
	if before.released != after.settled {
		return cut + p.opts.Skew.Microseconds()
	}
	return cut
}

func (p *partition) tooEarly(s *step, url, whose string, early []interval) {
	for _, i := range early {
		kind, gap := KindShort, time.Duration(i.after.start-i.before.end)*time.Microsecond
		what := fmt.Sprintf("a request to %s began %v after the end of the one before it, and the delay in force was %v",
			whose, gap, time.Duration(i.needed)*time.Microsecond)
		if i.overlap {
			kind = KindOverlap
			what = fmt.Sprintf("a request to %s began %v before the end of the one before it, and %d may be made at once", whose, -gap, p.budgets.perDomain)
		}
		topic := s.record.Topic
		p.violate(Violation{
			Kind: kind, Domain: s.name, URL: url, Says: what,
			Records: []Record{
				{Topic: topic, Partition: p.number, Offset: i.after.at, Says: "settles the later one: " + i.after.times()},
				{Topic: topic, Partition: p.number, Offset: i.before.at, Says: "settles the earlier one: " + i.before.times()},
			},
		})
	}
}

// times are those of an attempt, for people.
func (a attempt) times() string {
	return fmt.Sprintf("from %s on, for %v", clock(a.start/1000), time.Duration(a.end-a.start)*time.Microsecond)
}
