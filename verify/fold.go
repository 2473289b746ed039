package verify

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// partition is the fold of one partition of scheduled. It does what the
// frontier says that its events mean, and in the same order: what arrived, then
// what was decided about the queues.
type partition struct {
	*judge
	number int32
	chain  *chain
	// whole: the ledger is there from its first event.
	whole   bool
	domains map[string]*domain
	visits  map[string]*visit
	have    gauges
	// cutOff counts, by URL, requests that were cut off when the partition went to
	// another fetcher.
	cutOff map[string]int
	// astray: the gauges disagreed once; what follows from that is not told.
	astray bool
}

// gauges are the sums over a partition; see weftpb.Gauges.
type gauges struct {
	queued, out, visits, domains, domainsOut, fetched, failed, refused, withdrawn int64
}

// domain is what is known of one registrable domain.
type domain struct {
	// queued counts URLs in queues and retries, visits the ones that are out.
	queued, visits int64
	origins        map[string]*origin
	// referrals are the URLs that were asked for other domains' origins.
	referrals map[string]bool
	groups    groups
	pace      pace
}

// visit is one that is out.
type visit struct {
	domain   *domain
	robots   bool
	requests []*weftpb.Request
	open     uint32 // bit i: request i has no outcome
	delayMS  uint32
	// responseMS and crawlMS are those of an attempt.
	responseMS, crawlMS uint32
	offset, epoch, id   int64
}

// step is the event that is being folded.
type step struct {
	record *kgo.Record
	name   string // of the domain
	domain *domain
	ev     *weftpb.Scheduled
	epoch  int64
}

// fold takes over one valid event.
func (p *partition) fold(r *kgo.Record, ev *weftpb.Scheduled) {
	s := &step{record: r, name: string(r.Key), ev: ev, epoch: p.chain.epoch}
	if s.name != "" {
		p.step(s)
	}
	p.compare(s)
}

func (p *partition) step(s *step) {
	if s.domain = p.domains[s.name]; s.domain == nil {
		s.domain = &domain{origins: map[string]*origin{}, referrals: map[string]bool{}}
		p.domains[s.name] = s.domain
	}
	wasPending, wasOut := s.domain.pending(), s.domain.visits > 0
	for _, id := range s.ev.Expired {
		p.expire(s, id)
	}
	for _, g := range s.ev.Groups {
		p.regroup(s, g)
	}
	for _, a := range s.ev.Admitted {
		p.admit(s, a.GetRequest())
	}
	for _, r := range s.ev.Recalled {
		p.recall(s, r)
	}
	for _, r := range s.ev.Rules {
		p.learn(s, r)
	}
	for _, t := range s.ev.Settled {
		if t.Visit != "" {
			p.settle(s, t)
		}
	}
	for _, t := range s.ev.Settled {
		switch {
		case t.Visit != "":
		case t.Reason == reasonRobots:
			p.carry(s, front(t.Again), settled)
		default:
			p.leaves(s, t.Url, t.Again, t.Group)
			p.move(s, t.Url, front(t.Again), settled)
			p.have.end(t.Reason)
		}
	}
	for _, d := range s.ev.Deferred {
		p.leavesFor(s, d.GetRequest())
		p.move(s, d.GetRequest().GetTarget().GetUrl(), front(d.GetRequest().GetAgain()), retrying)
	}
	for i, v := range s.ev.Released {
		p.release(s, v, i)
	}
	p.have.domains += change(wasPending, s.domain.pending())
	p.have.domainsOut += change(wasOut, s.domain.visits > 0)
}

// front is where a URL leaves from: a queue or the retries.
func front(again bool) place {
	if again {
		return retrying
	}
	return queued
}

func (d *domain) pending() bool { return d.queued > 0 || d.visits > 0 }

func change(before, after bool) int64 {
	switch {
	case after && !before:
		return 1
	case before && !after:
		return -1
	}
	return 0
}

// end counts the end of a URL.
func (g *gauges) end(reason string) {
	switch reason {
	case reasonRobots: // no URL of the crawl
	case "fetched", "not_modified":
		g.fetched++
	case "robots_disallowed", "robots_too_many_rules", "robots_unreachable", "too_many_origins":
		g.refused++
	default:
		g.failed++
	}
}

// move takes a URL from one place to another, and says so if it was not there.
func (p *partition) move(s *step, url string, from, to place) entry {
	p.carry(s, from, to)
	if !p.whole {
		return entry{}
	}
	print, e := p.table.get(url)
	if e.place != from {
		p.violate(Violation{
			Kind: KindImpossibleStep, Domain: s.name, URL: url,
			Says:    fmt.Sprintf("it goes from %v to %v, and was %v", from, to, e.place),
			Records: []Record{s.says("takes it %v", to)},
		})
	}
	e.place = to
	p.table.put(print, e)
	return e
}

// carry books that something goes from one place to another.
func (p *partition) carry(s *step, from, to place) {
	p.count(s, from, -1)
	p.count(s, to, 1)
}

// count keeps the sums of places.
func (p *partition) count(s *step, at place, n int64) {
	switch at {
	case queued, retrying:
		s.domain.queued += n
		p.have.queued += n
	case out:
		p.have.out += n
	}
}

// mark changes what is known of a URL.
func (p *partition) mark(url string, change func(e *entry)) {
	if !p.whole {
		return
	}
	print, e := p.table.get(url)
	change(&e)
	p.table.put(print, e)
}

func (p *partition) admit(s *step, q *weftpb.Request) {
	url := q.GetTarget().GetUrl()
	if group := q.GetTarget().GetGroup(); group != "" {
		p.aside(s, url, group, 1)
	} else {
		p.count(s, queued, 1)
	}
	if isReferral(q) {
		p.checkPlace(s, q.GetTarget())
		return
	}
	p.checkTarget(s, q.GetTarget())
	if !p.whole {
		return
	}
	print, e := p.table.get(url)
	if e.place.admitted() {
		p.violate(Violation{
			Kind: KindAdmittedTwice, Domain: s.name, URL: url, Says: "it is admitted although it was before",
			Records: []Record{s.says("admits it"), {Topic: s.record.Topic, Partition: e.partition, Offset: e.at, Says: "admits it"}},
		})
		return
	}
	p.table.put(print, entry{
		place: queued, at: s.record.Offset, partition: p.number, marks: e.marks, root: p.table.root(q.GetTarget().GetScopeRoot()),
	})
}

// expire takes back what a lost visit has not settled.
func (p *partition) expire(s *step, id string) {
	v := p.lookup(s, id)
	if v == nil {
		return
	}
	for i, q := range v.requests {
		if v.open&(1<<i) == 0 {
			continue
		}
		if v.robots {
			p.have.out--
			continue
		}
		if isReferral(q) {
			p.carry(s, out, retrying)
			continue
		}
		p.move(s, q.GetTarget().GetUrl(), out, retrying)
		p.mark(q.GetTarget().GetUrl(), func(e *entry) { e.marks |= unreported })
	}
	p.close(s, id)
}

// lookup finds a visit that is out.
func (p *partition) lookup(s *step, id string) *visit {
	v := p.visits[id]
	if v == nil && p.whole {
		p.violate(Violation{
			Kind: KindImpossibleStep, Domain: s.name, Says: fmt.Sprintf("visit %s is not out", id),
			Records: []Record{s.says("names visit %s", id)},
		})
	}
	return v
}

func (p *partition) close(s *step, id string) {
	delete(p.visits, id)
	s.domain.visits--
	p.have.visits--
}

// settle folds the outcome of one request.
func (p *partition) settle(s *step, t *weftpb.Settlement) {
	v := p.lookup(s, t.Visit)
	if v == nil {
		return
	}
	if int(t.Index) >= len(v.requests) || v.open&(1<<t.Index) == 0 {
		p.violate(Violation{
			Kind: KindImpossibleStep, Domain: s.name, Says: fmt.Sprintf("request %d of visit %s is settled again", t.Index, t.Visit),
			Records: []Record{s.says("settles it as %s", t.Reason)},
		})
		return
	}
	url, referral := v.requests[t.Index].GetTarget().GetUrl(), isReferral(v.requests[t.Index])
	switch {
	case v.robots:
		p.have.out--
	case referral && t.RetryMs == 0:
		p.carry(s, out, settled)
	case referral:
		p.carry(s, out, retrying)
	case t.RetryMs == 0:
		p.move(s, url, out, settled)
		p.have.end(t.Reason)
	default:
		p.move(s, url, out, retrying)
	}
	switch {
	case v.robots || referral:
	case t.RetryMs >= 0:
		p.attempted(s, url, t)
	case t.Attempt != nil:
		p.cutOff[url]++
	}
	p.paced(s, v, url, t)
	if v.open &^= 1 << t.Index; v.open == 0 {
		p.close(s, t.Visit)
	}
}

// attempted books an attempt that counts.
func (p *partition) attempted(s *step, url string, t *weftpb.Settlement) {
	p.mark(url, func(e *entry) {
		e.attempts = increment(e.attempts)
		if a := t.Attempt; a != nil && a.ErrorClass == "" && a.Status >= 200 && a.Status <= 299 {
			e.marks |= answered
		}
		if e.attempts > maxAttempts {
			p.violate(Violation{
				Kind: KindAttempts, Domain: s.name, URL: url, Says: fmt.Sprintf("attempt %d of at most %d", e.attempts, maxAttempts),
				Records: []Record{s.says("settles it as %s", t.Reason)},
			})
		}
	})
}

// compare holds the event's gauges and timing against the fold.
func (p *partition) compare(s *step) {
	if !p.whole {
		return
	}
	g, h := s.ev.GetGauges(), p.have
	said := gauges{
		g.GetQueued(), g.GetOut(), g.GetVisits(), g.GetDomains(), g.GetDomainsOut(), g.GetFetched(), g.GetFailed(), g.GetRefused(),
		g.GetWithdrawn(),
	}
	if !p.astray && (said != h || g.GetPending() != h.queued+h.out) {
		p.astray = true
		p.violate(Violation{
			Kind: KindGauges, Domain: s.name,
			Says: fmt.Sprintf("the events up to here give %+v, and it says %+v, pending %d; later gauges of the partition are not judged",
				h, said, g.GetPending()),
			Records: []Record{s.says("tells the gauges")},
		})
	}
	if s.domain == nil {
		return
	}
	due := s.ev.GetTiming().GetDueMs()
	switch {
	case s.domain.queued > 0 && s.domain.visits == 0 && due == 0:
		p.violate(Violation{
			Kind: KindForgotten, Domain: s.name, Says: fmt.Sprintf("it has %d URLs and is neither out nor due", s.domain.queued),
			Records: []Record{s.says("leaves it so")},
		})
	case s.domain.queued == 0 && due != 0:
		p.violate(Violation{
			Kind: KindForgotten, Domain: s.name, Says: "it has no URL and is due",
			Records: []Record{s.says("leaves it so")},
		})
	}
}

// says names the event and what it does.
func (s *step) says(format string, args ...any) Record {
	return recordOf(s.record, fmt.Sprintf("at %s: ", clock(s.ev.DecidedMs))+fmt.Sprintf(format, args...))
}

// clock is a time for people.
func clock(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }
