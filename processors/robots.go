package processors

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/fetch"
	"github.com/weftcrawl/weft/lanes"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/urls"
)

// IsRobots tells whether request i of v is for a robots.txt: its own origin's,
// or that of another domain, which redirects there.
func IsRobots(v *lanes.Visit, i int) bool {
	return v.Robots || v.Requests[i].Target.GetVia() == weftpb.Via_VIA_ROBOTS
}

// RobotsFinding is what the exchanges of a request for a robots.txt say. At
// most one of Rules and Elsewhere goes with the report of the visit.
type RobotsFinding struct {
	// Rules are what is learned of the origin whose robots.txt was asked for.
	Rules *weftpb.OriginRules
	// Elsewhere goes to visited under the key Domain: a referral, when the last
	// exchange redirects to that domain, or the answer to one.
	Elsewhere *weftpb.Visited
	Domain    string
	Answer    lanes.Answer
}

// RobotsOf says what a request for a robots.txt found. last is its last exchange,
// after some redirects; product is our product token.
func RobotsOf(asked *weftpb.Target, redirects int, last *fetch.Exchange, product string) RobotsFinding {
	found := RobotsFinding{Answer: AnswerOf(last)}
	origin, followed, referral := robotsAsked(asked)
	followed += redirects
	if next := referred(last, followed); next != nil {
		next.ScopeRoot = origin
		found.Elsewhere, found.Domain = &weftpb.Visited{Referral: next}, domainOf(next.Url)
		if !referral {
			found.Rules = &weftpb.OriginRules{
				Origin: origin, Referred: true,
				Robots: &weftpb.Robots{Access: weftpb.Robots_ACCESS_DISALLOW_ALL, Status: uint32(last.Status)},
			}
		}
		return found
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
	found.Answer.Unreached = found.Answer.Unreached && redirects == 0
	if referral {
		found.Elsewhere, found.Domain = &weftpb.Visited{Rules: learned, Outcomes: []*weftpb.Outcome{last.Outcome()}}, domainOf(origin)
		return found
	}
	found.Rules = learned
	// A Crawl-delay holds from the response that asks for it on.
	found.Answer.RetryAfter = max(found.Answer.RetryAfter, time.Duration(rules.GetCrawlDelayMs())*time.Millisecond)
	return found
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

// referred is the referral that an exchange asks for, nil when it does not
// redirect, or does after too many redirects.
func referred(last *fetch.Exchange, followed int) *weftpb.Target {
	if last.Class != fetch.ClassNone || last.Location == "" || followed >= fetch.MaxRobotsRedirects {
		return nil
	}
	u, refusal := urls.Parse(last.Location)
	if refusal != urls.Accepted {
		return nil
	}
	return &weftpb.Target{Url: u.String(), Depth: uint32(followed + 1), Via: weftpb.Via_VIA_ROBOTS}
}

// domainOf is the registrable domain of a canonical URL or an origin; empty for
// what is neither.
func domainOf(url string) string {
	u, refusal := urls.Parse(url)
	if refusal != urls.Accepted {
		return ""
	}
	return urls.BundledSuffixes().Domain(u.Hostname())
}

// robotsStatus is the status that says what a robots exchange means: 0 when
// there was no answer, and 404 for a redirect that leads nowhere (RFC 9309
// section 2.3.1.2: after five it may be taken as unavailable). That of an error
// says it alone, whatever became of its page (sections 2.3.1.3 and 2.3.1.4).
func robotsStatus(x *fetch.Exchange) int {
	switch {
	case x.Status >= http.StatusBadRequest:
		return x.Status
	case x.Class != fetch.ClassNone:
		return 0
	case x.Location != "":
		return 404
	}
	return x.Status
}

// robots makes a request for a robots.txt, with its redirects within the domain as
// far as there is time for them. One to another domain is followed by that
// domain's fetcher, whose delay and lane it is; see package frontier.
//
// The visit's context is ctx, and the exchanges end with inner.
func (q *requests) robots(ctx, inner context.Context, v *lanes.Visit, i int) lanes.Answer {
	report, asked := q.report(ctx, v), v.Requests[i].Target
	if _, refusal := urls.Parse(asked.Url); refusal != urls.Accepted {
		report.add(&weftpb.Outcome{Index: uint32(i), ErrorClass: string(fetch.ClassInvalidURL), Error: string(refusal)})
		return lanes.Answer{}
	}
	hops := q.robotsHops(inner, v, asked)
	last := hops[len(hops)-1]
	if Undone(last) || inner.Err() != nil {
		report.add(undone(inner, i, last))
		return lanes.Answer{Stop: true}
	}
	for _, x := range hops {
		q.env.Meter.Exchange(x)
	}
	last, found := q.findingOf(asked, len(hops)-1, last)
	outcome := last.Outcome()
	outcome.Index = uint32(i)
	if found.Rules != nil {
		report.learn(found.Rules)
	}
	// The outcome is reported once the exchanges are in fetched, for archives, and the
	// other domain has its record: a crash before that repeats the request.
	report.open()
	left := new(atomic.Int32)
	left.Store(1)
	acknowledged := func(_ *kgo.Record, err error) {
		switch {
		case err != nil:
			q.fail(err)
		case left.Add(-1) == 0:
			report.close(outcome)
		}
	}
	for _, x := range hops {
		if x.Status != 0 {
			left.Add(1)
			q.out.send(q.life, q.fetched(v.Domain, RobotsFetched(x)), acknowledged)
		}
	}
	if found.Elsewhere != nil {
		left.Add(1)
		q.out.sendProto(q.life, q.env.Names.Visited, found.Domain, found.Elsewhere, acknowledged)
	}
	acknowledged(nil, nil)
	return found.Answer
}

// RobotsFetched is the record in fetched of an exchange for a robots.txt.
func RobotsFetched(x *fetch.Exchange) *weftpb.Fetched {
	record := x.Fetched()
	record.Id, record.Request = urls.PageID(x.URL, 0), &weftpb.Request{Target: &weftpb.Target{Url: x.URL}}
	return &weftpb.Fetched{Robots: record}
}

// robotsSpan is how long redirects are followed in one request. With the delay and
// the exchange after it that is what the lease of a visit has for a request
// (politeness.Lease): a chain that outlived it would be begun anew for ever. The
// rest is the domain's to ask for in another visit, by a referral to itself.
const robotsSpan = 30 * time.Second

// robotsHops makes the exchanges of a request for a robots.txt.
func (q *requests) robotsHops(ctx context.Context, v *lanes.Visit, asked *weftpb.Target) (hops []*fetch.Exchange) {
	began := time.Now()
	defer func() {
		if cause := recover(); cause != nil {
			hops = []*fetch.Exchange{q.panicked(asked.Url, began, cause)}
		}
	}()
	_, followed, _ := robotsAsked(asked)
	return q.http.Robots(ctx, asked.Url, q.permitted, func(next string) bool {
		u, refusal := urls.Parse(next)
		if refusal != urls.Accepted || followed >= fetch.MaxRobotsRedirects || domainOf(u.String()) != v.Domain || time.Since(began) > robotsSpan {
			return false
		}
		followed++
		select {
		case <-time.After(time.Duration(v.DelayMs) * time.Millisecond):
			return true
		case <-ctx.Done():
			return false
		}
	})
}

// findingOf is RobotsOf, but that a panic is the exchange's outcome.
func (q *requests) findingOf(asked *weftpb.Target, redirects int, last *fetch.Exchange) (x *fetch.Exchange, found RobotsFinding) {
	agent := product(q.env.Definition)
	defer func() {
		if cause := recover(); cause != nil {
			x = q.panicked(last.URL, last.Started, cause)
			found = RobotsOf(asked, redirects, x, agent)
		}
	}()
	return last, RobotsOf(asked, redirects, last, agent)
}
