package processors

import (
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/fetch"
	"github.com/weftcrawl/weft/lanes"
	"github.com/weftcrawl/weft/politeness"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/urls"
)

// Undone tells an exchange that was not made, or not to its end, because the
// right to make it was gone.
func Undone(x *fetch.Exchange) bool {
	return x.Class == fetch.ClassLeaseLost || x.Class == fetch.ClassCanceled
}

// Skip is the outcome of a request that was not made.
func Skip(i int) *weftpb.Outcome { return &weftpb.Outcome{Index: uint32(i), Skipped: true} }

// FetchedOf is the record in fetched of the exchange that request i of v made.
func FetchedOf(v *lanes.Visit, i int, x *fetch.Exchange) *weftpb.Fetched {
	request := v.Requests[i]
	record := x.Fetched()
	record.Id, record.Visit, record.Request = urls.PageID(request.Target.Url, request.Round), v.Id, request
	record.Outcome.Index = uint32(i)
	return record
}

// AnswerOf is what an exchange means for the rest of its visit.
func AnswerOf(x *fetch.Exchange) lanes.Answer {
	if politeness.Judge(uint32(x.Status), string(x.Class)).Health != politeness.Failed {
		return lanes.Answer{} // a Retry-After on an answer asks for nothing
	}
	return lanes.Answer{Stop: true, RetryAfter: x.RetryAfter}
}

// RobotsOf is what the last exchange of a robots visit says about its origin.
// product is our product token.
func RobotsOf(origin string, last *fetch.Exchange, product string) (*weftpb.OriginRules, lanes.Answer) {
	rules := robots.Parse(robotsStatus(last), last.Body, product)
	answer := AnswerOf(last)
	// A Crawl-delay holds from the response that asks for it on.
	answer.RetryAfter = max(answer.RetryAfter, time.Duration(rules.GetCrawlDelayMs())*time.Millisecond)
	return &weftpb.OriginRules{Origin: origin, Robots: rules}, answer
}

// robotsStatus is the status that says what a robots exchange means: 0 when
// there was no answer, and 404 for a redirect that was not followed.
func robotsStatus(x *fetch.Exchange) int {
	switch {
	case x.Class != fetch.ClassNone:
		return 0
	case x.Location != "":
		return 404
	}
	return x.Status
}
