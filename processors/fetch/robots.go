package fetch

import (
	"net/http"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/robots"
	"github.com/weftcrawl/weft/internal/settings"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/fetch/hostqueue"
	"github.com/weftcrawl/weft/processors/fetch/httpclient"
)

// RobotsOutcome is the outcome of a request for a robots.txt. At most one of Rules and
// Elsewhere goes with the report of the visit.
type RobotsOutcome struct {
	// Rules are the rules of the origin whose robots.txt was requested.
	Rules *weftpb.OriginRules
	// Elsewhere goes to visited under the key Domain: a referral, when the last
	// exchange redirects to that domain, or the answer to a referral.
	Elsewhere *weftpb.Visited
	Domain    string
	Answer    hostqueue.Answer
}

// withoutDelay returns o without the Crawl-delay, which only serves a server that is asked.
func (o RobotsOutcome) withoutDelay() RobotsOutcome {
	o.Answer.Rest = 0
	for _, rules := range []*weftpb.OriginRules{o.Rules, o.Elsewhere.GetRules()} {
		if rules.GetRobots() != nil {
			rules.Robots.CrawlDelayMs = 0
		}
	}
	return o
}

// RobotsOutcomeOf is the outcome of a request for a robots.txt. last is its last exchange,
// after some redirects. product is our product token.
func RobotsOutcomeOf(asked *weftpb.Target, redirects int, last *httpclient.Exchange, product string) RobotsOutcome {
	outcome := RobotsOutcome{Answer: AnswerOf(last)}
	origin, followed, referral := robotsAsked(asked)
	followed += redirects
	if next := referred(last, followed); next != nil {
		next.ScopeRoot = origin
		outcome.Elsewhere, outcome.Domain = &weftpb.Visited{Referral: next}, urls.DomainOf(next.Url)
		if outcome.Answer.Referred = !referral; !referral {
			outcome.Rules = &weftpb.OriginRules{
				Origin: origin, Referred: true,
				Robots: &weftpb.Robots{Access: weftpb.Robots_ACCESS_DISALLOW_ALL, Status: uint32(last.Status)},
			}
		}
		return outcome
	}
	body := last.Body
	if last.Truncated {
		body = robots.WholeLines(body)
	}
	rules := robots.Parse(robotsStatus(last), body, product)
	if rules.TtlMs > 0 {
		rules.TtlMs = robots.Lifetime(last.Values).Milliseconds()
	}
	learned := &weftpb.OriginRules{Origin: origin, Robots: rules, Redirected: redirects > 0}
	outcome.Answer.Unreached = outcome.Answer.Unreached && redirects == 0
	if referral {
		outcome.Elsewhere, outcome.Domain = &weftpb.Visited{Rules: learned, Outcomes: []*weftpb.Outcome{last.Outcome()}}, urls.DomainOf(origin)
		return outcome
	}
	outcome.Rules = learned
	// A Crawl-delay holds from the response on that asks for it.
	outcome.Answer.Rest = time.Duration(rules.GetCrawlDelayMs()) * time.Millisecond
	return outcome
}

// robotsAsked returns the origin whose robots.txt is asked for, how many
// redirects led to this request, and whether it is for another domain.
func robotsAsked(t *weftpb.Target) (origin string, followed int, referral bool) {
	if t.GetVia() == weftpb.Via_VIA_ROBOTS {
		return t.ScopeRoot, int(t.Depth), true
	}
	u, _ := urls.Parse(t.GetUrl())
	return u.Origin(), 0, false
}

// referred is the referral that an exchange asks for. It is nil when the exchange does
// not redirect, or follows too many redirects.
func referred(last *httpclient.Exchange, followed int) *weftpb.Target {
	if last.Class != httpclient.ClassNone || last.Location == "" || followed >= httpclient.MaxRobotsRedirects {
		return nil
	}
	u, refusal := urls.Parse(last.Location)
	if refusal != urls.Accepted {
		return nil
	}
	return &weftpb.Target{Url: u.String(), Depth: uint32(followed + 1), Via: weftpb.Via_VIA_ROBOTS}
}

// robotsStatus is the status that says what a robots exchange means: 0 when there was
// no answer, and 404 for a redirect that leads nowhere (RFC 9309 section 2.3.1.2: after
// five redirects the file may be taken as unavailable). The status of an error counts
// even if its page could not be read (sections 2.3.1.3 and 2.3.1.4). A replay has no such errors.
func robotsStatus(x *httpclient.Exchange) int {
	switch {
	case x.Class == httpclient.ClassNotArchived, x.Class == httpclient.ClassArchivedFailure:
		return http.StatusNotFound // no server is asked, so there is nothing to forbid
	case x.Status >= http.StatusBadRequest:
		return x.Status
	case x.Class != httpclient.ClassNone:
		return 0
	case x.Location != "":
		return 404
	}
	return x.Status
}

// robots makes a request for a robots.txt, and follows redirects within the host while
// there is time for them. A redirect to another host is followed by another visit. If that host is
// of another domain, it is that domain's fetcher that makes the visit; see package frontier.
//
// The outcome is reported once the exchanges are in fetched, for archives, and the other
// domain has its record. A crash before that repeats the request.
func (q *requester) robots(f flight) result {
	v, asked := f.visit, f.request().Target
	if _, refusal := urls.Parse(asked.Url); refusal != urls.Accepted {
		return result{outcome: &weftpb.Outcome{Index: uint32(f.index), ErrorClass: string(httpclient.ClassInvalidURL), Error: string(refusal)}}
	}
	hops := q.robotsHops(f, asked)
	last := hops[len(hops)-1]
	if Undone(last) || f.within.Err() != nil {
		return f.undone(last)
	}
	last, learned := q.robotsOutcome(asked, len(hops)-1, last)
	r := result{outcome: OutcomeOf(v, f.index, last), answer: learned.Answer, exchanges: hops, rules: learned.Rules}
	for _, x := range hops {
		if x.Status != 0 {
			record := WithoutPage(x)
			record.RobotsOf = RobotsOf(asked)
			r.records = append(r.records, q.output(v.Domain, record))
		}
	}
	if learned.Elsewhere != nil {
		r.records = append(r.records, stage.Output{
			Topic: q.env.Names.Visited, Domain: learned.Domain, Key: learned.Domain, Value: stage.Encode(learned.Elsewhere),
		})
	}
	return r
}

// RobotsOf says for which URLs a robots.txt is asked for.
func RobotsOf(asked *weftpb.Target) *weftpb.RobotsOf {
	origin, _, referral := robotsAsked(asked)
	of := &weftpb.RobotsOf{Origin: origin}
	if referral { // the URLs are of another domain, and what waits there is not known here
		return of
	}
	of.ScopeRoot = asked.ScopeRoot
	host := asked.GetSitemap().GetHost()
	of.Aside = host != "" && !urls.SameHost(host, urls.AuthorityOf(origin))
	return of
}

// robotsSpan is how long redirects are followed in one request. The lease of a visit
// (politeness.Lease) has this time for a request, besides the delay and the exchange
// after it. A chain of redirects that outlasts the lease would be begun again for ever.
// So another visit follows the rest of a chain, by a referral of the domain to itself.
// Such a visit also follows a redirect to another host of the domain: that host may have a
// Crawl-delay or a request that hangs, or may have asked for no requests.
const robotsSpan = 30 * time.Second

// robotsHops makes the exchanges. Each target is charged to its address, and the address of the
// answer before is not held meanwhile. Where the line for it is too long, another visit goes on,
// too.
func (q *requester) robotsHops(f flight, asked *weftpb.Target) []*httpclient.Exchange {
	if f.failure != nil {
		return []*httpclient.Exchange{f.failure}
	}
	v, began := f.visit, time.Now()
	_, followed, _ := robotsAsked(asked)
	request := httpclient.Request{URL: asked.Url, LookedUp: v.LookedUp, Permit: q.permit(v)}
	return q.http.Robots(f.within, request, func(next string) (lookedUp time.Duration, follow bool) {
		u, refusal := urls.Parse(next)
		if refusal != urls.Accepted || followed >= httpclient.MaxRobotsRedirects || urls.HostOf(u.String()) != urls.HostOf(asked.Url) || time.Since(began) > robotsSpan {
			return 0, false
		}
		followed++
		v.SetWaiting(true)
		defer v.SetWaiting(false)
		v.Exit()
		select {
		case <-time.After(time.Duration(v.DelayMs) * time.Millisecond):
		case <-f.within.Done():
		}
		if f.within.Err() != nil || v.HungAfter(began) > 0 {
			return 0, false
		}
		asks := time.Now()
		address, failure := q.lookUp(f.within, next)
		lookedUp = time.Since(asks)
		if failure != nil {
			return lookedUp, true // the exchange says what is wrong, and reaches no server
		}
		v.Address = address
		leave, wait := q.addresses.Enter(f.within, address)
		if leave == nil {
			q.crowd(f.ctx, v, wait)
			return lookedUp, false
		}
		q.charge(v, leave)
		return lookedUp, true
	})
}

// robotsOutcome is RobotsOutcomeOf, except that a panic is the outcome of the exchange, and that a
// replay has no Crawl-delay.
func (q *requester) robotsOutcome(asked *weftpb.Target, redirects int, last *httpclient.Exchange) (x *httpclient.Exchange, outcome RobotsOutcome) {
	agent := settings.Product(q.env.Definition)
	defer func() {
		if cause := recover(); cause != nil {
			x = q.panicked(last.URL, last.Started, cause)
			outcome = RobotsOutcomeOf(asked, redirects, x, agent)
		}
	}()
	outcome = RobotsOutcomeOf(asked, redirects, last, agent)
	if q.env.Definition.Replay != "" {
		outcome = outcome.withoutDelay()
	}
	return last, outcome
}
