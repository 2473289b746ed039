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

// CutOff is the outcome of a request that was cut off because its partition
// went to another fetcher. It says when, if the server may have seen the
// request, for it is made again.
func CutOff(i int, x *fetch.Exchange) *weftpb.Outcome {
	o := Skip(i)
	if len(x.RequestHeaders) > 0 {
		o.StartedMs, o.TotalUs, o.ErrorClass = x.Started.UnixMilli(), x.Total.Microseconds(), string(x.Class)
	}
	return o
}

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
	verdict := politeness.Judge(uint32(x.Status), string(x.Class))
	if verdict.Health != politeness.Failed {
		return lanes.Answer{Unreached: verdict.Unreached} // a Retry-After on an answer asks for nothing
	}
	return lanes.Answer{Stop: true, RetryAfter: x.RetryAfter}
}
