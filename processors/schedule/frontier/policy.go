package frontier

import (
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/politeness"
)

// A plan learns from the robots.txt of an origin, which its own domain or another domain
// fetched.

// hasRules tells whether a robots.txt was fetched, so that it says what is allowed.
func hasRules(r *weftpb.Robots) bool {
	return r.GetAccess() == weftpb.Robots_ACCESS_RULES || r.GetAccess() == weftpb.Robots_ACCESS_ALLOW_ALL
}

// robotsHad puts rules in force, and returns the delay that they ask for.
func (p *plan) robotsHad(name string, o *origin, rules *weftpb.Robots) time.Duration {
	learned := &weftpb.OriginRules{Origin: name, Robots: inForce(rules), Unchanged: o.sameRules(rules)}
	if learned.Unchanged {
		learned.Robots.Rules = ""
	}
	p.bytes += len(learned.Robots.Rules)
	p.ev.Rules = append(p.ev.Rules, learned)
	return p.delay(learned.Robots.CrawlDelayMs)
}

// robotsReferred makes the origin wait for the answer of another domain. If that domain did not
// answer last time, this counts as a failure.
func (p *plan) robotsReferred(name string, o *origin, status uint32) {
	learned := p.robotsMissing(name, status)
	if o.referred && p.giveOriginUp(learned, o) {
		return
	}
	learned.Referred = true
	learned.RetryMs = p.nowMS + referralWait.Milliseconds()
}

// robotsElsewhere notes that a robots.txt redirects to a name that does not exist, or to an
// address that must not be asked. The origin's own host answers, so its robots.txt is tried as
// often as a URL. How often it failed before, for another reason, does not count.
func (p *plan) robotsElsewhere(name string, o *origin, status uint32) {
	learned := p.robotsMissing(name, status)
	learned.Redirected = true
	wait, again := politeness.Retry(o.elsewhere+1, 0)
	if !again {
		learned.Refuse, wait = ReasonUnreachable, politeness.RefusedFor
	}
	learned.RetryMs = p.nowMS + wait.Milliseconds()
}

// robotsFailed decides when robots.txt is asked for again. A permanent error gives the origin up
// at once.
func (p *plan) robotsFailed(name string, o *origin, status uint32, verdict politeness.Verdict, retryAfter time.Duration) {
	learned := p.robotsMissing(name, status)
	switch {
	case !verdict.Retry:
		learned.Refuse = verdict.Reason
		learned.RetryMs = p.nowMS + politeness.RefusedFor.Milliseconds()
	case !p.giveOriginUp(learned, o):
		learned.RetryMs = p.nowMS + politeness.RetryRobots(o.failures+1, retryAfter).Milliseconds()
	}
}

// robotsMissing adds to the event that a robots.txt cannot be fetched. The caller completes the
// record.
func (p *plan) robotsMissing(name string, status uint32) *weftpb.OriginRules {
	learned := &weftpb.OriginRules{
		Origin: name, Robots: &weftpb.Robots{Access: weftpb.Robots_ACCESS_DISALLOW_ALL, Status: status},
	}
	p.ev.Rules = append(p.ev.Rules, learned)
	return learned
}

// giveOriginUp tells whether robots.txt has failed for so long that the origin is given up for
// a while. Then the last rules hold again. If they are too old, URLs are refused.
func (p *plan) giveOriginUp(learned *weftpb.OriginRules, o *origin) bool {
	since := time.Duration(0)
	if o.failures > 0 {
		since = time.Duration(p.nowMS-o.failingMS) * time.Millisecond
	}
	switch {
	case o.keepable(p.nowMS, p.f.opts.AgentSinceMS) && since >= keptAfter:
		learned.Kept = true
	case o.failures >= robotsDown && since >= p.f.opts.GiveUpAfter:
		learned.Refuse = ReasonUnreachable
	default:
		return false
	}
	learned.RetryMs = p.nowMS + politeness.RefusedFor.Milliseconds()
	return true
}

// keptAfter is for how long Weft tries to fetch a robots.txt again before the last rules hold
// again.
const keptAfter = 3 * time.Hour
