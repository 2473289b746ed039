package frontier

import (
	"math"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/politeness"
	"github.com/weftcrawl/weft/internal/urls"
)

// Settle decides on the outcomes of a visit. It returns nil if they change nothing: the visit is
// not known any more, because its lease ran out or because it is settled, or all these outcomes
// were settled before. A record without a visit comes from another domain; see refer and
// answerReferral.
func (f *Frontier) Settle(domain string, v *weftpb.Visited, at Moment) (*weftpb.Scheduled, error) {
	switch {
	case v.Visit != "":
	case v.Referral != nil:
		return f.refer(domain, v.Referral, at)
	case v.Rules != nil:
		return f.answerReferral(domain, v, at)
	}
	offset, index, err := splitID(f.opts.Partition, v.Visit)
	if err != nil {
		return nil, nil //nolint:nilerr // an id of another partition is not an error
	}
	p, err := f.begin(domain, at)
	if err != nil {
		return nil, err
	}
	i := p.d.find(offset, index)
	if i < 0 {
		return nil, nil
	}
	s := settling{plan: p, id: v.Visit, visit: p.d.visits[i]}
	s.delay = max(milliseconds(s.visit.delayMS), p.delay(0))
	s.requests = p.requestsOf(s.visit)
	if s.visit.hangs {
		s.hungUp()
	}
	switch {
	case s.visit.robots:
		s.robots(v)
	case s.visit.check:
		s.settleCheck(v)
	default:
		s.pages(v)
	}
	if v.Hangs {
		s.reportHang()
	}
	if p.err != nil || len(p.ev.Settled)+len(p.ev.Hanging) == 0 {
		return nil, p.err
	}
	s.pace(at.Now)
	if s.d.crowded = v.CrowdedMs > 0; s.d.crowded {
		s.rest(politeness.Crowded(time.Duration(v.CrowdedMs) * time.Millisecond))
	}
	return p.conclude()
}

// settling is a decision on the outcomes of one visit. A request that gets its outcome is
// removed from the settling's copy of the visit.
type settling struct {
	*plan
	id       string
	visit    visit
	requests []*weftpb.Request
	delay    time.Duration

	// At least one request was made, and reached a server.
	made, reached bool
}

func (s *settling) pages(v *weftpb.Visited) {
	for _, o := range v.Outcomes {
		if !s.visit.isOpen(o.Index) {
			continue
		}
		verdict, request := judge(o), s.requests[o.Index]
		name, _ := originOf(request.Target.GetUrl())
		probed, checked := s.visit.probe && s.failing(name), s.host(urls.HostOf(name)).checked()
		s.made = s.made || !verdict.Unmade
		s.learnHealth(name, verdict, o, request)
		switch {
		case verdict.Unmade:
			s.unprobed(name, s.visit, attempt(o) != nil)
			s.settled(o.Index, o, "", -1)
		case isReferral(request):
			// The Crawl-delay of this origin may have been learned after the visit went out. Then
			// the host queue does not know it.
			if to, _ := s.origin(name); !verdict.Unreached {
				s.rest(milliseconds(to.crawlDelayMS))
			}
			s.settled(o.Index, o, ReasonRobots, 0) // the domain of the origin gets the answer, and may refer again
		case verdict.Missing:
			if h := s.host(urls.HostOf(name)); h.refuses(s.nowMS) {
				s.settled(o.Index, o, h.refuse, 0)
			} else {
				s.settled(o.Index, o, verdict.Reason, -1)
			}
		case probed && verdict.Retry && (o.Status == 0 || verdict.Page && checked):
			// The host is down, so the URL keeps its attempts. The next probe asks for another URL.
			// A 5xx is the host's only if a check has failed.
			s.later(name, o, verdict.Reason).Kept = true
		case verdict.Throttled > 0 && request.Throttled < verdict.Throttled:
			later := s.later(name, o, verdict.Reason)
			if later.Throttled = true; verdict.Page {
				later.RetryMs = max(later.RetryMs, s.nowMS+s.pageWait(name, request.Throttled+1).Milliseconds())
			}
		case verdict.Retry:
			wait, ok := politeness.Retry(request.Attempt+1, retryAfter(o))
			if !ok && verdict.Throttled == 0 && s.mayBeDown(name, verdict, request.Attempt+1) {
				s.later(name, o, verdict.Reason).Kept = true
				continue
			}
			if !ok || verdict.Throttled > 0 {
				s.settled(o.Index, o, politeness.GaveUp(verdict.Reason), 0)
				s.refresh(request, o)
				continue
			}
			s.settled(o.Index, o, verdict.Reason, s.nowMS+wait.Milliseconds())
		default:
			s.settled(o.Index, o, verdict.Reason, 0)
			s.refresh(request, o)
		}
	}
	if !v.Done {
		return
	}
	for i := range s.visit.count {
		if s.visit.isOpen(i) {
			name, _ := originOf(s.requests[i].Target.GetUrl())
			s.unprobed(name, s.visit, false)
			s.settled(i, nil, "", -1)
		}
	}
}

// pageWait is how long a page waits that was answered with 503 for the nth time.
func (s *settling) pageWait(name string, nth uint32) time.Duration {
	wait := politeness.ThrottleWait(nth)
	if s.host(urls.HostOf(name)).brokenPages > 1 {
		wait = max(wait, politeness.BrokenPageWait)
	}
	return wait
}

// reportHang lets the domain go on without the visit, because the only open request of the visit
// hangs. The host of this request waits, because a host gets one request at a time.
func (s *settling) reportHang() {
	if _, hanging := s.d.out(); s.visit.unsettled() != 1 || s.visit.hangs || hanging == maxHanging {
		return
	}
	s.ev.Hanging = append(s.ev.Hanging, s.id)
	s.setHanging(s.visit.leaseMS)
	s.made, s.reached = true, true
}

// hungUp notes that the request that hung is over.
func (s *settling) hungUp() { s.setHanging(0) }

// setHanging sets the time before which no other request goes out to the host of the open
// request.
func (s *settling) setHanging(untilMS int64) {
	for i, request := range s.requests {
		if !s.visit.isOpen(uint32(i)) {
			continue
		}
		name, _ := originOf(request.Target.GetUrl())
		h := *s.host(urls.HostOf(name))
		h.hangsMS = untilMS
		s.setHost(urls.HostOf(name), h)
	}
}

// page returns the URL of the page that a request is for. It is empty if the request is for a
// robots.txt.
func page(r *weftpb.Request) string {
	if isReferral(r) {
		return ""
	}
	return r.GetTarget().GetUrl()
}

// mayBeDown tells whether a URL may have failed because its origin or host is down, and not
// because its page is broken. This is possible if nothing has answered since the first attempt
// of the URL. Soon the breaker opens, and a check shows which of the two is true. There is no
// check if no page of the host was fetched before. If a check was answered before, the host has
// broken pages. In these two cases only a failure to connect is certainly not a failure of the
// page.
func (s *settling) mayBeDown(name string, v politeness.Verdict, attempts uint32) bool {
	o, _ := s.origin(name)
	h := s.host(urls.HostOf(name))
	switch {
	case v.Health != politeness.Failed:
		return false
	case v.Unit == politeness.Origin:
		return o.health.breaker.Failures >= attempts
	}
	return h.breaker.Failures >= attempts && (v.Unreached || h.answeredURL != "" && h.brokenPages == 0)
}

// failing tells whether an origin or its host failed, and has not answered since.
func (s *settling) failing(name string) bool {
	o, _ := s.origin(name)
	return o.health.breaker.Failures > 0 || s.host(urls.HostOf(name)).failing()
}

// settleCheck settles a visit with a check: a request that tests whether a host answers.
func (s *settling) settleCheck(v *weftpb.Visited) {
	if len(v.Outcomes) == 0 && !v.Done {
		return
	}
	name, _ := originOf(s.requests[0].Target.GetUrl())
	if len(v.Outcomes) == 0 || judge(v.Outcomes[0]).Unmade {
		s.unprobed(name, s.visit, len(v.Outcomes) > 0 && attempt(v.Outcomes[0]) != nil)
		s.settled(0, nil, ReasonCheck, -1)
		return
	}
	s.learnHealth(name, judge(v.Outcomes[0]), v.Outcomes[0], nil)
	s.settled(0, v.Outcomes[0], ReasonCheck, 0)
	s.made = true
}

// robots settles a robots visit and learns from it.
func (s *settling) robots(v *weftpb.Visited) {
	var outcome *weftpb.Outcome
	if len(v.Outcomes) > 0 {
		outcome = v.Outcomes[0]
	}
	rules := v.Rules.GetRobots()
	if outcome == nil && rules == nil && !v.Done {
		return
	}
	verdict := judge(outcome)
	name, _ := originOf(s.requests[0].Target.GetUrl())
	if outcome == nil && rules == nil || verdict.Unmade {
		s.unprobed(name, s.visit, attempt(outcome) != nil)
		s.settled(0, outcome, ReasonRobots, -1)
		return
	}
	s.settled(0, outcome, ReasonRobots, 0)
	s.made = true
	o, _ := s.origin(name)
	answered := politeness.Verdict{Health: politeness.Answered}
	switch {
	case v.Rules.GetReferred():
		s.learnHealth(name, answered, outcome, nil)
		if !o.answered {
			s.robotsReferred(name, o, rules.GetStatus())
		}
	case hasRules(rules):
		s.learnHealth(name, answered, outcome, nil)
		s.delay = max(s.delay, s.robotsHad(name, o, rules))
	case v.Rules.GetRedirected() && verdict.Unreached:
		// robots.txt redirects to another origin. The name of that origin does not exist or is
		// refused.
		s.learnHealth(name, politeness.Verdict{}, outcome, nil)
		s.robotsElsewhere(name, o, rules.GetStatus())
	case verdict.Missing:
		s.learnHealth(name, verdict, outcome, nil)
	default:
		health := verdict
		if outcome.GetStatus() != 0 {
			// The server answers, but not with a robots.txt. The origin waits, and its robots.txt
			// has waits of its own. The host waits only if it asked for fewer requests.
			verdict.Retry = true
			if health.Throttled == 0 || o.keepable(s.nowMS, s.f.opts.AgentSinceMS) {
				health.Health = politeness.Unknown
			}
		}
		s.learnHealth(name, health, outcome, nil)
		s.robotsFailed(name, o, rules.GetStatus(), verdict, retryAfter(outcome))
	}
}

// settled adds a settlement to the event. If retryMS is 0 the request ends; otherwise it is
// queued again.
func (s *settling) settled(index uint32, o *weftpb.Outcome, reason string, retryMS int64) {
	s.visit.open &^= 1 << index
	s.ev.Settled = append(s.ev.Settled, &weftpb.Settlement{
		Visit: s.id, Index: index, Reason: reason, RetryMs: retryMS, Attempt: attempt(o),
	})
}

// attempt returns the part of an outcome that the ledger keeps, nil if no request was made. A
// request that was cut off is queued again, like a request that was not made. But the ledger
// keeps its attempt.
func attempt(o *weftpb.Outcome) *weftpb.Attempt {
	if o == nil || o.StartedMs == 0 {
		return nil
	}
	return &weftpb.Attempt{
		StartedMs: o.StartedMs, TotalUs: o.TotalUs, Status: o.Status, ErrorClass: o.ErrorClass, BodyBytes: o.BodyBytes, HungUs: o.HungUs,
		DnsMs: whole(o.DnsUs), ConnectMs: whole(o.ConnectUs), Address: o.Address,
	}
}

// whole returns a time in whole milliseconds. Most look-ups and connections take less than one,
// so they cost the ledger nothing.
func whole(us int64) uint32 { return uint32(min(max(us/1000, 0), math.MaxUint32)) }

// later queues a request again. Other URLs of its origin go first. It returns the settlement.
func (s *settling) later(name string, o *weftpb.Outcome, reason string) *weftpb.Settlement {
	first, _ := politeness.Retry(1, 0)
	from, _ := s.origin(name)
	host := s.host(urls.HostOf(name))
	waitMS := max(host.waitMS, host.silentMS, from.health.waitMS, s.nowMS)
	s.settled(o.Index, o, reason, waitMS+first.Milliseconds())
	return s.ev.Settled[len(s.ev.Settled)-1]
}

// learnHealth records what an outcome says about an origin and its host. request is nil if it was
// not for a URL of the crawl.
func (s *settling) learnHealth(name string, v politeness.Verdict, o *weftpb.Outcome, request *weftpb.Request) {
	if o.GetStatus() != 0 {
		s.d.responseMS = uint32(min(max(o.GetTotalUs()/1000, 0), politeness.MaxDelay.Milliseconds()))
	}
	s.reached = s.reached || !v.Unmade && !v.Unreached
	host, after, again := urls.HostOf(name), retryAfter(o), request.GetAttempt()+request.GetThrottled() > 0
	switch {
	case judge(o).Health == politeness.Failed:
		s.silence(host, after)
	case o.GetSkipped() && !waits(s.host(host).silentMS, s.nowMS):
		s.silence(host, after) // by the clock of an earlier decision it is over
	}
	probe, check := s.visit.probe && s.failing(name), s.visit.check
	switch {
	case v.Missing:
		s.nameMissing(host, v.Reason)
	case v.Health == politeness.Answered:
		fetched := o.GetStatus() >= 200 && o.GetStatus() <= 299 && o.GetErrorClass() == "" && page(request) != ""
		s.answered(name, answer{url: page(request), refusals: request.GetThrottled(), fetched: fetched, check: check, startedMS: s.startedMS(o)})
	case v.Health != politeness.Failed:
	case v.Page && page(request) != "" && (again || after == 0) && s.failedPage(host, page(request), again, v.Throttled > 0):
	case v.Throttled > 0:
		paced := after > 0 || o.GetStatus() == 429
		s.throttle(host, probe, check, paced, paced || page(request) != "" && !again, s.delay, after)
	case v.Unit == politeness.Origin:
		s.failedOrigin(name, probe, s.delay)
	default:
		s.failedHost(host, probe, check, s.delay, after)
	}
}

// startedMS is when a request was made, by the clock of the scheduler as far as it can tell: the
// clock of the fetcher may differ.
func (s *settling) startedMS(o *weftpb.Outcome) int64 {
	releasedMS := s.visit.leaseMS - politeness.Lease(int(s.visit.count), milliseconds(s.visit.delayMS)).Milliseconds()
	return min(max(o.GetStartedMs(), releasedMS), s.nowMS-max(o.GetTotalUs(), 0)/1000)
}

// rest makes the domain wait for longer than its delay.
func (s *settling) rest(wait time.Duration) {
	s.d.nextMS = max(s.d.nextMS, s.nowMS+wait.Milliseconds())
}

// pace sets the time of the next release after the end of a visit. It never shortens a wait. If
// no request of the visit was made, the next release waits for a moment: otherwise a fetcher
// that cannot work and the scheduler would keep each other busy. If no request reached a server,
// there is no wait. A fetcher waits for the delay of the visit that ended. If people ask for a
// longer one meanwhile, the next release waits for all of it.
func (s *settling) pace(now time.Time) {
	switch {
	case s.visit.open != 0 && len(s.ev.Hanging) == 0:
	case !s.made:
		s.rest(politeness.UnmadePause)
	case s.reached:
		s.d.nextMS = max(s.d.nextMS, politeness.NextRelease(now, s.delay).UnixMilli())
		if delay := s.domainDelay(); delay > milliseconds(s.visit.delayMS) {
			s.rest(delay)
		}
	}
}

func judge(o *weftpb.Outcome) politeness.Verdict {
	if o.GetSkipped() {
		return politeness.Verdict{Unmade: true}
	}
	return politeness.Judge(o.GetStatus(), o.GetErrorClass())
}

func retryAfter(o *weftpb.Outcome) time.Duration {
	ms := min(max(o.GetRetryAfterMs(), 0), politeness.MaxRetryAfter.Milliseconds())
	return time.Duration(ms) * time.Millisecond
}
