package processors

import (
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/fetch"
	"github.com/weftcrawl/weft/lanes"
	"github.com/weftcrawl/weft/politeness"
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
