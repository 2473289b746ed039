package fetch

import (
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/fetch/httpclient"
)

// check makes a request that asks whether a host answers. Its exchange is kept for
// archives, without a body that is too large for a record, and makes no page.
func (q *requester) check(f flight) result {
	v, x := f.visit, f.failure
	if x == nil {
		x = q.http.Do(f.within, httpclient.Request{URL: f.request().Target.Url, LookedUp: v.LookedUp, Permit: q.permit(v)})
		defer x.Release()
	}
	if Undone(x) {
		return f.undone(x)
	}
	if int64(len(x.Body)) > q.env.Definition.LargeBody() {
		x.Body, x.Truncated = nil, true
	}
	r := result{outcome: OutcomeOf(v, f.index, x), answer: AnswerOf(x), exchanges: []*httpclient.Exchange{x}}
	if x.Status != 0 {
		r.records = []stage.Output{q.output(v.Domain, WithoutPage(x))}
	}
	return r
}

// WithoutPage is the record in fetched of an exchange that is not for a URL of the crawl:
// that for a robots.txt, or a check.
func WithoutPage(x *httpclient.Exchange) *weftpb.Fetched {
	record := x.Fetched()
	record.Id, record.Request = urls.PageID(x.URL, 0), &weftpb.Request{Target: &weftpb.Target{Url: x.URL}}
	return &weftpb.Fetched{Robots: record}
}
