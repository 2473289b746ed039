package frontier

import (
	"slices"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/politeness"
)

// Settle decides on outcomes of a visit. It returns nil when they change nothing: the
// visit is not known, because its lease ran out or it was settled before, or all these
// outcomes were settled. A record without a visit comes from another domain; see refer
// and answer.
func (f *Frontier) Settle(domain string, v *weftpb.Visited, at Moment) (*weftpb.Scheduled, error) {
	switch {
	case v.Visit != "":
	case v.Referral != nil:
		return f.refer(domain, v.Referral, at)
	case v.Rules != nil:
		return f.answer(domain, v, at)
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
	if s.visit.robots {
		s.robots(v)
	} else {
		s.pages(v)
	}
	if p.err != nil || len(p.ev.Settled) == 0 {
		return nil, p.err
	}
	s.pace(at.Now)
	return p.conclude()
}

// settling is a decision on the outcomes of one visit. Its copy of the visit
// loses the requests that have one.
type settling struct {
	*plan
	id       string
	visit    visit
	requests []*weftpb.Request
	delay    time.Duration

	failed bool
	// stops: a failure is held against the domain.
	stops bool
	// At least one request was made, and reached a server.
	made, reached bool
	retryAfter    time.Duration
}

func (s *settling) pages(v *weftpb.Visited) {
	for _, o := range v.Outcomes {
		if !s.visit.isOpen(o.Index) {
			continue
		}
		verdict, request := judge(o), s.requests[o.Index]
		name, _ := originOf(request.Target.GetUrl())
		s.learnHealth(name, verdict, o, isReferral(request))
		switch {
		case verdict.Unmade:
			s.settled(o.Index, o, "", -1)
		case isReferral(request):
			// Its Crawl-delay may have been learned since the visit went out: its host
			// queue does not know of it.
			if o, _ := s.origin(name); !verdict.Unreached {
				s.retryAfter = max(s.retryAfter, milliseconds(o.crawlDelayMS))
			}
			s.settled(o.Index, o, ReasonRobots, 0) // the other domain has the answer, and refers again if it needs to
		case verdict.Missing:
			s.missing(name, o, verdict.Reason)
		case verdict.Retry:
			wait, ok := politeness.Retry(request.Attempt+1, retryAfter(o))
			if !ok {
				s.settled(o.Index, o, politeness.GaveUp(verdict.Reason), 0)
				continue
			}
			s.settled(o.Index, o, verdict.Reason, s.nowMS+wait.Milliseconds())
		default:
			s.settled(o.Index, o, verdict.Reason, 0)
		}
	}
	// A failure ends the visit, whether or not its end was still reported.
	if !v.Done && !s.failed {
		return
	}
	for i := range s.visit.count {
		if s.visit.isOpen(i) {
			s.settled(i, nil, "", -1)
		}
	}
}

// missing settles a page whose host's name was not found, although the robots.txt was
// fetched before. The origin waits for a second look-up, which asks for robots.txt.
// Until then the URL waits too.
func (s *settling) missing(name string, outcome *weftpb.Outcome, reason string) {
	if _, again := politeness.Retry(s.requests[outcome.Index].Attempt+1, 0); !again {
		s.settled(outcome.Index, outcome, reason, 0)
		return
	}
	o, _ := s.origin(name)
	retryMS := o.retryMS
	if !o.missing || retryMS <= s.nowMS || absurd(retryMS, s.nowMS) {
		retryMS = s.nowMS + politeness.ConfirmAfter.Milliseconds()
		known := func(r *weftpb.OriginRules) bool { return r.Origin == name }
		if !slices.ContainsFunc(s.ev.Rules, known) {
			s.nameMissing(s.robotsMissing(name, 0), false, reason)
		}
	}
	s.settled(outcome.Index, outcome, reason, retryMS)
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
	if outcome == nil && rules == nil || verdict.Unmade {
		s.settled(0, outcome, ReasonRobots, -1)
		return
	}
	s.settled(0, outcome, ReasonRobots, 0)
	name, _ := originOf(s.requests[0].Target.GetUrl())
	o, _ := s.origin(name)
	switch {
	case v.Rules.GetReferred():
		s.learnHealth(name, politeness.Verdict{Health: politeness.Answered}, outcome, false)
		if !o.answered {
			s.robotsReferred(name, o, rules.GetStatus())
		}
	case had(rules):
		s.learnHealth(name, politeness.Verdict{Health: politeness.Answered}, outcome, false)
		s.delay = max(s.delay, s.robotsHad(name, o, rules))
	default:
		if v.Rules.GetRedirected() && verdict.Unreached {
			// The name that does not exist, or is refused, is that of another origin.
			verdict = politeness.Verdict{Retry: true}
		}
		if verdict.Health == politeness.Answered {
			// The server answered, but not with a robots.txt.
			verdict = politeness.Verdict{Retry: true, Health: politeness.Failed}
		}
		health := verdict
		if outcome.GetStatus() != 0 && o.keepable(s.nowMS) {
			// The server is there, and its pages will be asked for under the last
			// rules. A breaker would give them up before that.
			health.Health = politeness.Unknown
			s.retryAfter = max(s.retryAfter, retryAfter(outcome))
		}
		s.learnHealth(name, health, outcome, false)
		s.robotsFailed(name, o, rules.GetStatus(), verdict, retryAfter(outcome))
	}
}

// settled adds a settlement: the end of the request, or with retryMS that it
// is queued again.
func (s *settling) settled(index uint32, o *weftpb.Outcome, reason string, retryMS int64) {
	s.made = s.made || retryMS >= 0
	s.visit.open &^= 1 << index
	s.ev.Settled = append(s.ev.Settled, &weftpb.Settlement{
		Visit: s.id, Index: index, Reason: reason, RetryMs: retryMS, Attempt: attempt(o),
	})
}

// attempt is what is kept of an outcome; nil when no request was made. A request that was
// cut off is queued again like one that was not made, but its attempt is kept.
func attempt(o *weftpb.Outcome) *weftpb.Attempt {
	if o == nil || o.StartedMs == 0 {
		return nil
	}
	return &weftpb.Attempt{
		StartedMs: o.StartedMs, TotalUs: o.TotalUs, Status: o.Status, ErrorClass: o.ErrorClass, BodyBytes: o.BodyBytes,
	}
}

// learnHealth takes over what an outcome says about an origin.
func (s *settling) learnHealth(name string, v politeness.Verdict, o *weftpb.Outcome, referral bool) {
	if o.GetStatus() != 0 {
		s.d.responseMS = uint32(min(max(o.GetTotalUs()/1000, 0), politeness.MaxDelay.Milliseconds()))
	}
	s.reached = s.reached || !v.Unmade && !v.Unreached
	switch v.Health {
	case politeness.Answered:
		s.answered(name)
		s.failed, s.stops = false, false
	case politeness.Failed:
		s.failed, s.retryAfter = true, max(s.retryAfter, retryAfter(o))
		s.stops = s.plan.failed(name, s.visit.robots, referral, s.visit.probe, s.delay)
	}
}

// pace sets the time of the next release: after an end of a visit, or when the
// domain is in trouble. An earlier, longer wait holds. A visit of which nothing
// was made is not released again at once, or a fetcher that cannot work and the
// scheduler would keep each other busy. One that reached no server delays
// nothing.
func (s *settling) pace(now time.Time) {
	if s.visit.open != 0 && !s.failed && s.retryAfter == 0 || s.made && !s.reached {
		return
	}
	var wait time.Duration
	if s.stops || !s.failed {
		wait = s.d.breaker.Wait(s.delay)
	}
	if !s.made {
		wait = max(wait, politeness.UnmadePause)
	}
	next := politeness.NextRelease(now, s.delay, wait, s.retryAfter)
	s.d.nextMS = max(s.d.nextMS, next.UnixMilli())
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
