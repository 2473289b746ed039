package processors

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/fetch"
	"github.com/weftcrawl/weft/lanes"
	"github.com/weftcrawl/weft/lease"
)

// Requests in flight land, none begins any more, and what takes too long is cut
// off by name.
func TestFlights(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFlights()
		landed := func() bool {
			synctest.Wait()
			select {
			case <-f.landed:
				return true
			default:
				return false
			}
		}
		_, first, _ := f.begin(t.Context())
		second, end, _ := f.begin(t.Context())
		first()
		if landed() {
			t.Error("landed before it was closed")
		}
		f.close()
		f.close()
		if _, _, ok := f.begin(t.Context()); ok || landed() || !f.over() {
			t.Error("a request began, or the last one is forgotten")
		}
		f.cut()
		synctest.Wait()
		if !errors.Is(context.Cause(second), fetch.ErrLeaseLost) {
			t.Errorf("cut off because of %v", context.Cause(second))
		}
		end()
		if !landed() {
			t.Error("not landed")
		}
	})
}

// slotless counts no slots.
type slotless struct{ silent }

func (slotless) Slots(int) {}

// slowServer answers when it is told to, or not at all.
type slowServer struct {
	exchanger
	begun, answer chan struct{}
}

func (s slowServer) Do(ctx context.Context, r fetch.Request) *fetch.Exchange {
	x := &fetch.Exchange{URL: r.URL, Started: time.UnixMilli(1000), RequestHeaders: []fetch.Header{{Name: "Host", Value: "a.test"}}}
	close(s.begun)
	select {
	case <-s.answer:
		x.Status = 200
	case <-ctx.Done():
		x.Class, x.Total = fetch.ClassLeaseLost, time.Second
	}
	return x
}

// A request that is cut off when its partition goes to another fetcher is in the
// report of its visit, as what it is.
func TestCutOffIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		right := lease.New(time.Hour, lease.BootTime)
		right.Extend(0)
		b := newBoard(t.Context(), "scheduled", 0, 0, time.Time{})
		server := slowServer{begun: make(chan struct{}), answer: make(chan struct{})}
		q := &requests{fetcher: &fetcher{
			env: Env{Meter: slotless{}}, http: server, lease: right, boards: map[int32]*Board{3: b},
			backlog: newPushback(nil, "", "", FetchOptions{BacklogBytes: 1}),
		}}
		visit, drop := context.WithCancel(b.ctx)
		v := &lanes.Visit{Domain: "a.test", Partition: 3, Visit: &weftpb.Visit{Id: "v", Requests: []*weftpb.Request{{Target: &weftpb.Target{Url: "http://a.test/"}}}}}
		over := make(chan lanes.Answer)
		go func() { over <- q.Request(visit, v, 0) }()
		<-server.begun
		b.flights.close()
		b.flights.cut()
		<-b.flights.landed
		part := q.report(visit, v).core.Flush(time.Now())
		if len(part.GetOutcomes()) != 1 || part.Done {
			t.Fatalf("reported %v", part)
		}
		if o := part.Outcomes[0]; !o.Skipped || o.StartedMs != 1000 || o.TotalUs != 1e6 || o.ErrorClass != string(fetch.ClassLeaseLost) {
			t.Errorf("reported as %v", o)
		}
		select {
		case <-over:
			t.Error("the visit went on")
		default:
		}
		drop()
		if answer := <-over; !answer.Stop {
			t.Error("the visit goes on")
		}
	})
}
