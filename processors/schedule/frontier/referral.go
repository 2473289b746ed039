package frontier

import (
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/politeness"
)

// A robots.txt may redirect to another domain (RFC 9309 section 2.3.1.2). Another partition may
// keep the delay of that domain. Therefore that domain makes the request, in a visit of its own,
// and sends the answer. A chain of redirects within one domain may take longer than a visit.
// Then it goes on in the same way, with the domain as its own target:
//
//	domain of the origin            domain of the target
//	visit for robots.txt
//	a redirect: referred  ───────▶  refer: the target joins the retries
//	                                a visit with the target
//	answer: rules in force  ◀─────  its outcome
//
// The target is a referral. It is a request that counts as pending, goes out whatever robots.txt
// says about it, and ends as ReasonRobots. A referral may be made twice, and it may be lost: the
// origin asks again if no answer comes within referralWait. It goes in front of the retries. So
// two domains that refer to each other wait only for each other's answers, and not for each
// other's queues.

// referralWait is how long the origin waits for an answer. The other domain may have to finish a
// visit, and to wait for its delays.
const referralWait = 10 * time.Minute

// referralMS is the time of referrals among the retries: before any other.
const referralMS = 1

func isReferral(q *weftpb.Request) bool {
	return q.GetTarget().GetVia() == weftpb.Via_VIA_ROBOTS
}

// refer admits a referral.
func (f *Frontier) refer(domain string, target *weftpb.Target, at Moment) (*weftpb.Scheduled, error) {
	if _, ok := originOf(target.GetUrl()); !ok || target.GetVia() != weftpb.Via_VIA_ROBOTS {
		return nil, nil
	}
	return f.Admit(domain, []*weftpb.Target{target}, at)
}

// answerReferral learns what another domain found for an origin of this domain. The answer may come
// before the report of the visit that was redirected. answerReferral returns nil if nothing
// changes: the origin is not known, or the answer is a failure for which the origin does not wait.
func (f *Frontier) answerReferral(domain string, v *weftpb.Visited, at Moment) (*weftpb.Scheduled, error) {
	p, err := f.begin(domain, at)
	if err != nil {
		return nil, err
	}
	name, rules := v.Rules.GetOrigin(), v.Rules.GetRobots()
	o, heard := p.origin(name)
	if !heard {
		return nil, p.err
	}
	switch {
	case hasRules(rules):
		delay := p.robotsHad(name, o, rules)
		if rules.GetCrawlDelayMs() > 0 {
			p.d.nextMS = max(p.d.nextMS, at.Now.Add(delay).UnixMilli())
		}
	case !o.referred && !o.robotsOut:
		return nil, nil
	default:
		var outcome *weftpb.Outcome
		if len(v.Outcomes) > 0 {
			outcome = v.Outcomes[0]
		}
		verdict := judge(outcome)
		if verdict.Unmade || verdict.Missing || verdict.Health == politeness.Answered {
			p.robotsElsewhere(name, o, rules.GetStatus())
			break
		}
		p.robotsFailed(name, o, rules.GetStatus(), verdict, retryAfter(outcome))
	}
	return p.conclude()
}
