package verify

import (
	"fmt"
	"math/bits"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// partition is the fold of one partition of scheduled. It applies an event in the order
// of the frontier: first what arrived, then what was decided about the queues.
type partition struct {
	*judge
	number int32
	chain  *chain
	// whole: the ledger begins with its first event.
	whole   bool
	domains map[string]*domain
	visits  map[string]*visit
	have    gauges
	// cutOff counts, by URL, requests that ended when another fetcher took the
	// partition over.
	cutOff map[string]int
	// uncounted counts, by URL, requests that were made and are not attempts: checks, and those
	// to hosts that were down or asked for fewer requests.
	uncounted map[string]int
	// astray: the gauges were wrong once, and later gauges are not judged.
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
	// probed are its hosts that were probed, because they had failed.
	probed map[string]bool
	// known is how many of its URLs were admitted.
	known int64
	// hanging are the visits that it does not wait for.
	hanging []*visit
	asked   asked
	// out are the visits that are out.
	out []*visit
}

// open is the number of requests that are out.
func (d *domain) open() (n int64) {
	for _, v := range d.out {
		n += int64(bits.OnesCount32(v.open))
	}
	return n
}

// visit is a visit that is out.
type visit struct {
	domain *domain
	robots bool
	// aside: the request is not for a URL of the crawl, but for a robots.txt or a check.
	aside    bool
	requests []*weftpb.Request
	open     uint32 // bit i: request i has no outcome
	delayMS  uint32
	// responseMS and crawlMS are as in attempt.
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
	known  int64 // how many URLs the partition has at least, before it
}

func (p *partition) fold(r *kgo.Record, ev *weftpb.Scheduled) {
	s := &step{record: r, name: string(r.Key), ev: ev, epoch: p.chain.epoch}
	if s.name != "" {
		p.step(s)
	}
	p.compare(s)
}

func (p *partition) step(s *step) {
	if s.domain = p.domains[s.name]; s.domain == nil {
		s.domain = &domain{origins: map[string]*origin{}, referrals: map[string]bool{}, probed: map[string]bool{}}
		p.domains[s.name] = s.domain
	}
	wasPending, wasOut := s.domain.pending(), s.domain.visits > 0
	s.known = p.have.known()
	p.ask(s)
	for _, id := range s.ev.Expired {
		p.expire(s, id)
	}
	for _, g := range s.ev.Groups {
		p.regroup(s, g)
	}
	for _, a := range s.ev.Admitted {
		p.admit(s, a.GetRequest())
	}
	for _, r := range s.ev.Refreshed {
		p.comeBack(s, r)
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
	for _, id := range s.ev.Hanging {
		p.hang(s, id)
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

// front is the place that a URL leaves: a queue or the retries.
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

// known is how many URLs there are at least: what is out may be no URL of the crawl.
func (g *gauges) known() int64 { return g.queued + g.fetched + g.failed + g.refused + g.withdrawn }

func (g *gauges) end(reason string) {
	switch reason {
	case reasonRobots: // not a URL of the crawl
	case "fetched", "not_modified":
		g.fetched++
	case "robots_disallowed", "robots_too_many_rules", "robots_unreachable", "too_many_origins":
		g.refused++
	default:
		g.failed++
	}
}

// move takes a URL from one place to another. It is a violation if the URL was not there.
func (p *partition) move(s *step, url string, from, to place) (moved entry) {
	p.carry(s, from, to)
	p.mark(url, func(e *entry) {
		if e.place != from {
			p.violate(s, KindImpossibleStep, url, s.says("takes it %v", to), "it goes from %v to %v, and was %v", from, to, e.place)
		}
		e.place = to
		moved = *e
	})
	return moved
}

// carry counts that something goes from one place to another.
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
	s.domain.known++
	p.checkTarget(s, q.GetTarget())
	if !p.whole {
		return
	}
	print, e := p.table.get(url)
	if e.place.admitted() {
		p.judge.violate(Violation{
			Kind: KindAdmittedTwice, Domain: s.name, URL: url, Says: "it is admitted although it was before",
			Records: []RecordRef{s.says("admits it"), {Topic: s.record.Topic, Partition: e.partition, Offset: e.at, Says: "admits it"}},
		})
		return
	}
	p.table.put(print, entry{
		place: queued, at: s.record.Offset, partition: p.number, marks: e.marks, root: q.GetTarget().GetScopeRoot(),
	})
}

// expire returns the requests that a lost visit has not settled.
func (p *partition) expire(s *step, id string) {
	v := p.lookup(s, id)
	if v == nil {
		return
	}
	for i, q := range v.requests {
		switch {
		case v.open&(1<<i) == 0:
		case v.aside:
			p.carry(s, out, settled)
		case isReferral(q):
			p.carry(s, out, retrying)
		default:
			p.move(s, q.GetTarget().GetUrl(), out, retrying)
			p.mark(q.GetTarget().GetUrl(), func(e *entry) { e.marks |= unreported })
		}
	}
	p.close(s, id)
}

func (p *partition) lookup(s *step, id string) *visit {
	v := p.visits[id]
	if v == nil && p.whole {
		p.violate(s, KindImpossibleStep, "", s.says("names visit %s", id), "visit %s is not out", id)
	}
	return v
}

func (p *partition) close(s *step, id string) {
	is := func(v *visit) bool { return v == p.visits[id] }
	s.domain.hanging = slices.DeleteFunc(s.domain.hanging, is)
	s.domain.out = slices.DeleteFunc(s.domain.out, is)
	delete(p.visits, id)
	s.domain.visits--
	p.have.visits--
}

func (p *partition) settle(s *step, t *weftpb.Settlement) {
	v := p.lookup(s, t.Visit)
	if v == nil {
		return
	}
	if int(t.Index) >= len(v.requests) || v.open&(1<<t.Index) == 0 {
		p.violate(s, KindImpossibleStep, "", s.says("settles it as %s", t.Reason), "request %d of visit %s is settled again", t.Index, t.Visit)
		return
	}
	q, to := v.requests[t.Index], retrying
	if v.aside || t.RetryMs == 0 {
		to = settled
	}
	url := q.GetTarget().GetUrl()
	switch {
	case v.aside || isReferral(q):
		p.carry(s, out, to)
		if !v.robots && t.Attempt != nil {
			p.uncounted[url]++
		}
	default:
		p.attempted(s, q, t, to)
	}
	p.paced(s, v, url, t)
	if t.Attempt != nil {
		s.domain.asked.made(t.Attempt.StartedMs, s.ev.DecidedMs)
		p.days[t.Attempt.StartedMs/dayMS]++
	}
	if v.open &^= 1 << t.Index; v.open == 0 {
		p.close(s, t.Visit)
	}
}

// comeBack folds that a URL which was settled is queued again.
func (p *partition) comeBack(s *step, r *weftpb.Refresh) {
	p.move(s, r.GetRequest().GetTarget().GetUrl(), settled, queued)
	p.mark(r.GetRequest().GetTarget().GetUrl(), func(e *entry) { e.attempts = 0 })
}

// attempted folds the outcome of a request for a page, which goes to a place.
func (p *partition) attempted(s *step, q *weftpb.Request, t *weftpb.Settlement, to place) {
	url := q.GetTarget().GetUrl()
	p.move(s, url, out, to)
	if to == settled {
		p.have.end(t.Reason)
	}
	if t.RetryMs < 0 {
		if t.Attempt != nil {
			p.cutOff[url]++
		}
		return
	}
	if t.Throttled || t.Kept {
		p.uncounted[url]++
		return
	}
	p.mark(url, func(e *entry) {
		e.attempts = increment(e.attempts)
		if a := t.Attempt; a != nil && a.ErrorClass == "" && a.Status >= 200 && a.Status <= 299 {
			if q.GetTarget().GetSitemap() == nil {
				e.marks |= answered
			} else {
				e.marks |= listing
			}
		}
		if e.attempts > maxAttempts {
			p.violate(s, KindAttempts, url, s.says("settles it as %s", t.Reason), "attempt %d of at most %d", e.attempts, maxAttempts)
		}
	})
}

// compare compares the event's gauges and timing with the fold.
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
		p.violate(s, KindGauges, "", s.says("tells the gauges"),
			"the events up to here give %+v, and it says %+v, pending %d; later gauges of the partition are not judged", h, said, g.GetPending())
	}
	if s.domain == nil {
		return
	}
	due := s.ev.GetTiming().GetDueMs()
	switch {
	case s.domain.queued > 0 && s.domain.visits == 0 && due == 0:
		p.violate(s, KindForgotten, "", s.says("leaves it so"), "it has %d URLs and is neither out nor due", s.domain.queued)
	case s.domain.queued == 0 && due != 0:
		p.violate(s, KindForgotten, "", s.says("leaves it so"), "it has no URL and is due")
	}
}

// violate reports a violation that an event shows; url may be empty.
func (p *partition) violate(s *step, kind Kind, url string, record RecordRef, format string, args ...any) {
	p.judge.violate(Violation{Kind: kind, Domain: s.name, URL: url, Says: fmt.Sprintf(format, args...), Records: []RecordRef{record}})
}

// says names the event and what it does.
func (s *step) says(format string, args ...any) RecordRef {
	return recordOf(s.record, fmt.Sprintf("at %s: ", clock(s.ev.DecidedMs))+fmt.Sprintf(format, args...))
}

func clock(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }
