package fetch

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/robots"
	"github.com/weftcrawl/weft/internal/settings"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/fetch/hostqueue"
	"github.com/weftcrawl/weft/processors/fetch/httpclient"
)

// RobotsOutcome is the outcome of a request for a robots.txt. At most one of Rules and
// Elsewhere goes with the report of the visit.
type RobotsOutcome struct {
	// Rules are those of the origin whose robots.txt was asked for.
	Rules *weftpb.OriginRules
	// Elsewhere goes to visited under the key Domain: a referral, when the last
	// exchange redirects to that domain, or the answer to a referral.
	Elsewhere *weftpb.Visited
	Domain    string
	Answer    hostqueue.Answer
}

// RobotsOf is the outcome of a request for a robots.txt. last is its last exchange,
// after some redirects. product is our product token.
func RobotsOf(asked *weftpb.Target, redirects int, last *httpclient.Exchange, product string) RobotsOutcome {
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
// even if its page could not be read (sections 2.3.1.3 and 2.3.1.4).
func robotsStatus(x *httpclient.Exchange) int {
	switch {
	case x.Status >= http.StatusBadRequest:
		return x.Status
	case x.Class != httpclient.ClassNone:
		return 0
	case x.Location != "":
		return 404
	}
	return x.Status
}

// robots makes a request for a robots.txt, and follows redirects within the domain while
// there is time for them. A redirect to another domain is followed by that domain's
// fetcher, in its host queue and with its delay; see package frontier.
//
// The visit's context is ctx, and the exchanges end with within.
func (q *requester) robots(ctx, within context.Context, v *hostqueue.Visit, i int, http exchanger) hostqueue.Answer {
	report, asked := q.reporter.of(ctx, v), v.Requests[i].Target
	if _, refusal := urls.Parse(asked.Url); refusal != urls.Accepted {
		report.add(&weftpb.Outcome{Index: uint32(i), ErrorClass: string(httpclient.ClassInvalidURL), Error: string(refusal)})
		return hostqueue.Answer{}
	}
	hops := q.robotsHops(ctx, within, v, asked, http)
	last := hops[len(hops)-1]
	if Undone(last) || within.Err() != nil {
		report.add(undone(within, i, last))
		return hostqueue.Answer{Stop: true}
	}
	for _, x := range hops {
		q.count(x)
	}
	last, learned := q.robotsOutcome(asked, len(hops)-1, last)
	outcome := OutcomeOf(v, i, last)
	// The outcome is reported once the exchanges are in fetched, for archives, and the
	// other domain has its record. A crash before that repeats the request.
	report.update(func(r *Report) *weftpb.Visited {
		if learned.Rules != nil {
			r.Learn(learned.Rules)
		}
		r.Open()
		return nil
	})
	left := new(atomic.Int32)
	left.Store(1)
	acknowledged := func(_ *kgo.Record, err error) {
		switch {
		case err != nil:
			q.fail(err)
		case left.Add(-1) == 0:
			report.update(func(r *Report) *weftpb.Visited { return r.Close(outcome, time.Now()) })
		}
	}
	for _, x := range hops {
		if x.Status != 0 {
			left.Add(1)
			record := WithoutPage(x)
			record.RobotsOf = RobotsFor(asked)
			q.fetched.Send(q.life, q.output(v.Domain, record), acknowledged)
		}
	}
	if learned.Elsewhere != nil {
		left.Add(1)
		q.fetched.SendProto(q.life, q.env.Names.Visited, learned.Domain, learned.Elsewhere, acknowledged)
	}
	acknowledged(nil, nil)
	return learned.Answer
}

// WithoutPage is the record in fetched of an exchange that is not for a URL of the crawl:
// that for a robots.txt, or a check.
func WithoutPage(x *httpclient.Exchange) *weftpb.Fetched {
	record := x.Fetched()
	record.Id, record.Request = urls.PageID(x.URL, 0), &weftpb.Request{Target: &weftpb.Target{Url: x.URL}}
	return &weftpb.Fetched{Robots: record}
}

// RobotsFor says for which URLs a robots.txt is asked for.
func RobotsFor(asked *weftpb.Target) *weftpb.RobotsOf {
	origin, _, referral := robotsAsked(asked)
	of := &weftpb.RobotsOf{Origin: origin}
	if referral { // the URLs are of another domain, and what waits there is not known here
		return of
	}
	of.ScopeRoot = asked.ScopeRoot
	host := asked.GetSitemap().GetHost()
	of.Aside = host != "" && strings.TrimPrefix(host, "www.") != strings.TrimPrefix(hostOf(origin), "www.")
	return of
}

// hostOf is the host, and port, of an origin.
func hostOf(origin string) string {
	_, host, _ := strings.Cut(origin, "://")
	return host
}

// robotsSpan is how long redirects are followed in one request. The lease of a visit
// (politeness.Lease) has this time for a request, besides the delay and the exchange
// after it. A chain of redirects that outlasts the lease would be begun again for ever.
// So another visit follows the rest of a chain, by a referral of the domain to itself.
const robotsSpan = 30 * time.Second

// The address of each target is charged, and that of the answer before it is not held
// meanwhile. Where the line for it is too long, another visit goes on, too.
//
// The context of the visit is ctx, and the exchanges end with within.
func (q *requester) robotsHops(ctx, within context.Context, v *hostqueue.Visit, asked *weftpb.Target, http exchanger) (hops []*httpclient.Exchange) {
	began := time.Now()
	var lookUps []time.Duration // before each redirect
	defer func() {
		if cause := recover(); cause != nil {
			hops = []*httpclient.Exchange{q.panicked(asked.Url, began, cause)}
		}
	}()
	_, followed, _ := robotsAsked(asked)
	hops = http.Robots(within, asked.Url, q.permit(v), func(next string) bool {
		u, refusal := urls.Parse(next)
		if refusal != urls.Accepted || followed >= httpclient.MaxRobotsRedirects || urls.DomainOf(u.String()) != v.Domain || time.Since(began) > robotsSpan {
			return false
		}
		followed++
		v.Rest(true)
		defer v.Rest(false)
		exit(v)
		select {
		case <-time.After(time.Duration(v.DelayMs) * time.Millisecond):
		case <-within.Done():
		}
		if within.Err() != nil || v.HungAfter(began) > 0 {
			return false
		}
		asks := time.Now()
		failure := q.lookUp(within, next)
		lookUps = append(lookUps, time.Since(asks))
		if failure != nil {
			return true // the exchange says what is wrong, and reaches no server
		}
		entered, _ := q.enter(ctx, within, v, next)
		return entered
	})
	for i, took := range lookUps[:min(len(lookUps), len(hops)-1)] {
		hops[1+i].DNS += took
	}
	return hops
}

// robotsOutcome is RobotsOf, except that a panic is the outcome of the exchange.
func (q *requester) robotsOutcome(asked *weftpb.Target, redirects int, last *httpclient.Exchange) (x *httpclient.Exchange, outcome RobotsOutcome) {
	agent := settings.Product(q.env.Definition)
	defer func() {
		if cause := recover(); cause != nil {
			x = q.panicked(last.URL, last.Started, cause)
			outcome = RobotsOf(asked, redirects, x, agent)
		}
	}()
	return last, RobotsOf(asked, redirects, last, agent)
}
