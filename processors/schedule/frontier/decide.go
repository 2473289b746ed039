package frontier

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/politeness"
)

// Admit decides on URLs of a domain that were never seen before.
func (f *Frontier) Admit(domain string, targets []*weftpb.Target, at Moment) (*weftpb.Scheduled, error) {
	return f.AdmitDeduped(domain, &weftpb.Deduped{Targets: targets}, at)
}

// AdmitDeduped decides on an event of dedupe: URLs of a domain that were never seen
// before, states of groups, and URLs that leave their group. It returns nil when
// the event changes nothing.
func (f *Frontier) AdmitDeduped(domain string, news *weftpb.Deduped, at Moment) (*weftpb.Scheduled, error) {
	targets := news.GetTargets()
	if len(targets)+len(news.GetGroups())+len(news.GetRecalled()) == 0 {
		return nil, nil
	}
	p, err := f.begin(domain, at)
	if err != nil {
		return nil, err
	}
	p.updateGroups(news)
	if p.err != nil || len(targets)+len(p.ev.Groups)+len(p.ev.Recalled) == 0 {
		return nil, p.err
	}
	admissions := make([]weftpb.Admission, len(targets))
	requests := make([]weftpb.Request, len(targets))
	p.ev.Admitted = make([]*weftpb.Admission, len(targets))
	for i, t := range targets {
		requests[i].Target = withoutTwin(t)
		requests[i].Priority, _ = Priority(t.GetDepth(), t.GetVia())
		admissions[i].Request = &requests[i]
		p.ev.Admitted[i] = &admissions[i]
		p.bytes += targetBytes(t)
	}
	return p.conclude()
}

// Tick decides on a domain that Due named. It returns nil if there is nothing to do: the domain
// is not due, or the window is full.
func (f *Frontier) Tick(domain string, at Moment) (*weftpb.Scheduled, error) {
	p, err := f.begin(domain, at)
	if err != nil {
		return nil, err
	}
	p.ticked = true
	for _, v := range p.d.visits {
		id := VisitID(f.opts.Partition, v.offset, v.index)
		if v.offset < at.Begins {
			p.ev.Expired = append(p.ev.Expired, id)
			continue
		}
		if v.leaseMS > p.nowMS && v.leaseMS <= p.nowMS+politeness.MaxLease.Milliseconds() {
			continue
		}
		lease := politeness.Lease(int(v.count), milliseconds(v.delayMS)).Milliseconds()
		if leasedAt := v.leaseMS - lease; leasedAt < at.OwnedSince.UnixMilli() {
			p.ev.Renewed = append(p.ev.Renewed, &weftpb.Renewal{Visit: id, LeaseMs: p.nowMS + lease})
		} else {
			p.ev.Expired = append(p.ev.Expired, id)
		}
	}
	remove(&f.changedSettings, domain)
	if remove(&f.sleeping, domain) {
		p.ev.Woken = p.toWake()
	}
	p.refreshDue()
	isDue := p.d.dueMS != 0 && (p.d.dueMS <= p.nowMS || absurd(p.d.dueMS, p.nowMS))
	if !isDue && len(p.ev.Expired)+len(p.ev.Renewed)+len(p.ev.Woken)+len(p.ev.Refreshed) == 0 && p.ev.Setting == nil {
		return nil, p.err
	}
	ev, err := p.conclude()
	if err != nil {
		return nil, err
	}
	idle := len(ev.Expired)+len(ev.Renewed)+len(ev.Woken)+len(ev.Released)+len(ev.Settled)+len(ev.Deferred)+len(ev.Refreshed) == 0 && ev.Setting == nil
	if idle && ev.Timing.DueMs == p.nowMS {
		return nil, nil
	}
	return ev, nil
}

// remove removes a name from a list, and tells whether the name was there. Due takes names from
// the front of the list, so the name is mostly found there, and a long list need not be moved.
func remove(names *[]string, name string) bool {
	switch i := slices.Index(*names, name); i {
	case -1:
		return false
	case 0:
		*names = (*names)[1:]
	default:
		*names = slices.Delete(*names, i, i+1)
	}
	return true
}

// Report returns an event that has only the gauges. Its key is empty.
func (f *Frontier) Report(at Moment) (*weftpb.Scheduled, error) {
	g, err := readGauges(f.store)
	if err != nil {
		return nil, err
	}
	return &weftpb.Scheduled{Gauges: g.record(), Oldest: f.oldest(at.Offset), DecidedMs: at.Now.UnixMilli()}, nil
}

// plan is a decision that is being made. It folds each step into an overlay, so that the next
// step sees the new state.
type plan struct {
	fold
	f      *Frontier
	paused bool
	ev     *weftpb.Scheduled
	// ticked: the domain is decided because it was due, and not because of an input.
	ticked bool
	// known is the number of URLs of the crawl.
	known int64
	// bytes is the approximate size of the event so far.
	bytes int

	groups groupFronts
	// served is domain.served as this decision goes on.
	served [priorities]uint32
	// latest is the name of the origin that nextReadyName returned last. runs is how often in a
	// row it did so.
	latest [priorities]string
	runs   [priorities]int
	// refusals and deferrals are bounded together, in number and in size.
	chunk, chunkBytes int
	// judged has the origins whose rules were read. work is the cost of that; see chunkWork.
	judged map[string]bool
	work   int
}

// begin opens a decision on a domain.
func (f *Frontier) begin(domain string, at Moment) (*plan, error) {
	f.overlay.reset(f.store)
	nowMS := at.Now.UnixMilli()
	x, err := openFold(&f.overlay, f.opts.Partition, domain, at.Offset, nowMS)
	if err != nil {
		return nil, err
	}
	if absurd(x.d.nextMS, nowMS) {
		x.d.nextMS = nowMS + politeness.MaxWait.Milliseconds()
	}
	p := &plan{fold: x, f: f, paused: at.Paused, known: at.Known, ev: &weftpb.Scheduled{DecidedMs: nowMS}, served: x.d.served}
	if f.opts.Setting != nil {
		p.take(f.opts.Setting(domain))
	}
	return p, p.err
}

// conclude folds what arrived, releases what may go out, and completes the
// event.
func (p *plan) conclude() (*weftpb.Scheduled, error) {
	p.arrive(p.ev)
	p.judgeErrors()
	p.advance()
	p.leave(p.ev)
	if p.err != nil {
		return nil, p.err
	}
	p.count()
	p.ev.Gauges = p.g.record()
	p.ev.Oldest = p.f.oldest(p.offset)
	p.ev.Timing = p.d.timing(p.due())
	if err := p.checkState(p.ev.Timing.DueMs); err != nil {
		return nil, fmt.Errorf("decide: %w", err)
	}
	return p.ev, nil
}

// due returns the time at which the domain is decided again. It is 0 if no time leads to a
// decision.
func (p *plan) due() int64 {
	d := p.d
	out, _ := d.out()
	if d.queued() == 0 || out >= p.f.opts.PerDomain {
		return 0
	}
	ready := p.ready()
	if ready == never {
		return 0 // the end of a visit that is out leads to the next decision
	}
	due := max(ready, d.nextMS, p.heldMS())
	switch {
	case due > p.nowMS:
		return due
	case !p.ticked && d.dueMS > 0 && d.dueMS < p.nowMS:
		return d.dueMS // the domain keeps its place among the domains that are overdue
	}
	return p.nowMS
}

// never is a time that does not come.
const never = math.MaxInt64

// ready returns the earliest time at which a queued URL can be served.
func (p *plan) ready() int64 {
	d, ready := p.d, int64(never)
	if d.ready != ([priorities]uint64{}) || d.groups.counts[trial]+d.groups.counts[free] > 0 {
		return p.nowMS
	}
	if d.waiting > 0 {
		if absurd(d.waitMS, p.nowMS) {
			return p.nowMS
		}
		ready = max(p.nowMS, d.waitMS)
	}
	switch {
	case d.groups.counts[whenIdle] == 0, len(d.visits) > 0:
	case d.groups.idle(p.nowMS):
		ready = p.nowMS
	default:
		ready = min(ready, d.groups.idleAtMS())
	}
	return ready
}

// delay is the domain's delay, with an origin's Crawl-delay.
func (p *plan) delay(crawlDelayMS uint32) time.Duration {
	return politeness.Delay(p.domainDelay(), milliseconds(crawlDelayMS), p.f.opts.ResponseFactor, milliseconds(p.d.responseMS))
}

func milliseconds(ms uint32) time.Duration { return time.Duration(ms) * time.Millisecond }

// targetBytes is about how much room a target takes in an event.
func targetBytes(t *weftpb.Target) int { return len(t.GetUrl()) + len(t.GetScopeRoot()) + 32 }
