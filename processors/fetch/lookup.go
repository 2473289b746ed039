package fetch

import (
	"context"
	"time"

	"github.com/weftcrawl/weft/processors/fetch/hostqueue"
	"github.com/weftcrawl/weft/processors/fetch/httpclient"
)

// LookAhead begins to look up the hosts of a visit.
func (q *requester) LookAhead(ctx context.Context, v *hostqueue.Visit) {
	var urls []string
	for i, request := range v.Requests {
		if !v.Settled[uint32(i)] {
			urls = append(urls, request.GetTarget().GetUrl())
		}
	}
	q.http.LookAhead(ctx, urls)
}

// LookUp looks up the host of request i of a visit. A failure is the outcome of the request, as
// if the request had been made. So it needs the lease, but it needs no slot and waits for no
// delay. The witness does not count it as a request.
func (q *requester) LookUp(ctx context.Context, v *hostqueue.Visit, i int) (answer hostqueue.Answer, found bool) {
	url, began := v.Requests[i].GetTarget().GetUrl(), time.Now()
	failure := q.lookUp(ctx, url)
	v.LookedUp += time.Since(began)
	if failure == nil {
		return hostqueue.Answer{}, true
	}
	failure.DNS = v.LookedUp
	v.LookedUp = 0
	return q.within(ctx, v, func(within context.Context) hostqueue.Answer {
		if !q.permit(v)() {
			failure = &httpclient.Exchange{URL: url, Class: httpclient.ClassLeaseLost, Started: began}
		}
		return q.make(ctx, within, v, i, notFound{q.http, failure})
	}), false
}

// lookUp returns the exchange that failed because of the look-up, nil if the host was found. A
// panic is an outcome, too.
func (q *requester) lookUp(ctx context.Context, url string) (x *httpclient.Exchange) {
	began := time.Now()
	defer func() {
		if cause := recover(); cause != nil {
			x = q.panicked(url, began, cause)
		}
	}()
	return q.http.LookUp(ctx, url)
}

// notFound makes the one exchange that failed because of its look-up.
type notFound struct {
	exchanger
	failure *httpclient.Exchange
}

func (n notFound) Do(context.Context, httpclient.Request) *httpclient.Exchange { return n.failure }

func (n notFound) Robots(context.Context, string, func() bool, func(string) bool) []*httpclient.Exchange {
	return []*httpclient.Exchange{n.failure}
}

// lookedUp makes exchanges. The first one also counts the time of earlier look-ups.
type lookedUp struct {
	exchanger
	wait time.Duration
}

func (l lookedUp) Do(ctx context.Context, r httpclient.Request) *httpclient.Exchange {
	x := l.exchanger.Do(ctx, r)
	x.DNS += l.wait
	return x
}

func (l lookedUp) Robots(ctx context.Context, url string, permit func() bool, hop func(string) bool) []*httpclient.Exchange {
	hops := l.exchanger.Robots(ctx, url, permit, hop)
	hops[0].DNS += l.wait
	return hops
}
