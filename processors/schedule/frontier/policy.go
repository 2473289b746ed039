package frontier

import (
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/politeness"
)

// What a plan makes of an origin's robots.txt, from its own domain or another one.

// had tells whether a robots.txt says what is allowed.
func had(r *weftpb.Robots) bool {
	return r.GetAccess() == weftpb.Robots_ACCESS_RULES || r.GetAccess() == weftpb.Robots_ACCESS_ALLOW_ALL
}

// robotsHad puts rules in force and returns the delay that they ask for.
func (p *plan) robotsHad(name string, o *origin, rules *weftpb.Robots) time.Duration {
	learned := &weftpb.OriginRules{Origin: name, Robots: inForce(rules), Unchanged: o.sameRules(rules)}
	if learned.Unchanged {
		learned.Robots.Rules = ""
	}
	p.bytes += len(learned.Robots.Rules)
	p.ev.Rules = append(p.ev.Rules, learned)
	return p.delay(learned.Robots.CrawlDelayMs)
}

// robotsReferred waits for another domain. If that did not answer the last time, it is
// a failure.
func (p *plan) robotsReferred(name string, o *origin, status uint32) {
	learned := p.robotsMissing(name, status)
	if _, ok := politeness.RetryRobots(o.failures+1, o.reached, 0); o.referred && !ok {
		p.giveOriginUp(learned, o)
		return
	}
	learned.Referred = true
	learned.RetryMs = p.nowMS + referralWait.Milliseconds()
}

// robotsFailed decides when robots.txt is asked for again. An error that does
// not pass gives the origin up at once.
func (p *plan) robotsFailed(name string, o *origin, status uint32, verdict politeness.Verdict, retryAfter time.Duration) {
	learned := p.robotsMissing(name, status)
	if verdict.Missing {
		p.nameMissing(learned, o.missing, verdict.Reason)
		return
	}
	if !verdict.Retry {
		learned.Refuse = verdict.Reason
		learned.RetryMs = p.nowMS + politeness.RefusedFor.Milliseconds()
		return
	}
	if wait, ok := politeness.RetryRobots(o.failures+1, o.reached, retryAfter); ok {
		learned.RetryMs = p.nowMS + wait.Milliseconds()
		return
	}
	p.giveOriginUp(learned, o)
}

// robotsMissing begins the fact that a robots.txt cannot be fetched.
func (p *plan) robotsMissing(name string, status uint32) *weftpb.OriginRules {
	learned := &weftpb.OriginRules{
		Origin: name, Robots: &weftpb.Robots{Access: weftpb.Robots_ACCESS_DISALLOW_ALL, Status: status},
	}
	p.ev.Rules = append(p.ev.Rules, learned)
	return learned
}

// nameMissing learns that the name of an origin's host was not found. It is
// looked up once more; when that look-up says the same, URLs are refused by name.
func (p *plan) nameMissing(learned *weftpb.OriginRules, confirmed bool, reason string) {
	learned.Missing = true
	learned.RetryMs = p.nowMS + politeness.ConfirmAfter.Milliseconds()
	if confirmed {
		learned.Refuse = reason
		learned.RetryMs = p.nowMS + politeness.RefusedFor.Milliseconds()
	}
}

// giveOriginUp decides after the last try: for a while the last rules hold again, or, if
// they are too old, URLs are refused.
func (p *plan) giveOriginUp(learned *weftpb.OriginRules, o *origin) {
	learned.RetryMs = p.nowMS + politeness.RefusedFor.Milliseconds()
	if learned.Kept = o.keepable(p.nowMS); !learned.Kept {
		learned.Refuse = ReasonUnreachable
	}
}
