package processors

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/fetch"
	"github.com/weftcrawl/weft/lanes"
	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/urls"
)

// exchanger is the part of fetch.Client that makes exchanges. What our code
// meets in one, a server decides; when it panics, that is this exchange's
// outcome (fetch.ClassPanic), and the stage goes on. net/http's own goroutines
// are beyond that.
type exchanger interface {
	Do(ctx context.Context, r fetch.Request) *fetch.Exchange
	Robots(ctx context.Context, url string, permit func() bool, hop func(next string) bool) []*fetch.Exchange
}

// exchange makes the exchange of request i of v.
func (q *requests) exchange(ctx context.Context, v *lanes.Visit, i int) (x *fetch.Exchange) {
	url, began := v.Requests[i].Target.Url, time.Now()
	defer func() {
		if cause := recover(); cause != nil {
			x = q.panicked(url, began, cause)
		}
	}()
	return q.store(ctx, v, i, q.http.Do(ctx, fetch.Request{URL: url, Permit: q.permitted}))
}

// store puts a body that is too large for a record into the store, which is
// waited for. When the right to make the request ends before that, so does the
// exchange: somebody else makes it again. That is looked at once more after the
// body is there: a process that was frozen meanwhile must not refer to what
// may be taken for an orphan by now.
func (q *requests) store(ctx context.Context, v *lanes.Visit, i int, x *fetch.Exchange) *fetch.Exchange {
	if q.env.Bodies == nil || int64(len(x.Body)) <= q.env.Definition.LargeBody() {
		return x
	}
	request := v.Requests[i]
	partition := topics.Partition(v.Domain, q.env.Definition.Partitions)
	stored, err := q.env.Bodies.Put(ctx, partition, urls.PageID(request.Target.Url, request.Round), x.Body)
	if err == nil && !q.lease.Holds() {
		err = fetch.ErrLeaseLost
	}
	if err != nil {
		x.Release()
		return &fetch.Exchange{URL: x.URL, Class: fetch.ClassLeaseLost, Error: err.Error(), Started: x.Started, Total: x.Total}
	}
	x.Stored = stored
	return x
}

// recordOf is the record in fetched of the exchange that request i of v made,
// and its outcome.
func (q *requests) recordOf(v *lanes.Visit, i int, x *fetch.Exchange) (same *fetch.Exchange, o *weftpb.Outcome, out Output) {
	defer x.Release() // the record holds the body, or a reference
	defer func() {
		if cause := recover(); cause != nil {
			same = q.panicked(x.URL, x.Started, cause)
			record := FetchedOf(v, i, same)
			o, out = record.Outcome, q.fetched(v.Domain, record)
		}
	}()
	record := FetchedOf(v, i, x)
	return x, record.Outcome, q.fetched(v.Domain, record)
}

func (q *requests) fetched(domain string, f *weftpb.Fetched) Output {
	x := f
	if f.Robots != nil {
		x = f.Robots
	}
	exchange := q.env.Names.Exchange(x.Id, x.Outcome.StartedMs)
	return Output{
		Topic: q.env.Names.Fetched, Domain: domain, Key: domain, Value: encode(f),
		Headers: exchange.Headers(topics.SchemaFetched, topics.Fetch),
	}
}

func (q *requests) panicked(url string, began time.Time, cause any) *fetch.Exchange {
	text := strings.ToValidUTF8(fmt.Sprint(cause), "\ufffd") // a server may have a say in it
	q.env.Logger.Error("an exchange made its stage panic", "url", url, "panic", text, "stack", stackTop())
	return &fetch.Exchange{URL: url, Class: fetch.ClassPanic, Error: text, Started: began, Total: time.Since(began)}
}
