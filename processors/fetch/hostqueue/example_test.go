package hostqueue_test

import (
	"context"
	"fmt"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/processors/fetch/hostqueue"
)

// A queue says what to do next, and is told the time. Each request here takes a second.
func ExampleQueue() {
	visit := &weftpb.Visit{Id: "visit", DelayMs: 5000, Requests: make([]*weftpb.Request, 2)}
	var q hostqueue.Queue
	q.Add(context.Background(), &hostqueue.Visit{Visit: visit, Domain: "example.org"})
	start := time.Unix(0, 0)
	for now := start; ; {
		step := q.Next(now)
		at := now.Sub(start)
		switch step.Kind {
		case hostqueue.LookUp:
			q.Found()
		case hostqueue.Ask:
			fmt.Println(at, "ask for request", step.Index)
			now = now.Add(time.Second)
			q.Made(now, hostqueue.Answer{}, 0)
		case hostqueue.Wait, hostqueue.Idle:
			fmt.Println(at, "wait for", step.Until.Sub(now))
			now = step.Until
		case hostqueue.Finish:
			fmt.Println(at, "finish")
			q.Drop()
		case hostqueue.Over:
			fmt.Println(at, "over")
			return
		}
	}
	// Output:
	// 0s ask for request 0
	// 1s wait for 5s
	// 6s ask for request 1
	// 7s finish
	// 7s wait for 5s
	// 12s over
}
