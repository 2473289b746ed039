package politeness_test

import (
	"fmt"
	"time"

	"github.com/weftcrawl/weft/internal/politeness"
)

// A robots.txt that asks for more than the user wins, and so does a server that
// takes long.
func ExampleDelay() {
	fmt.Println(politeness.Delay(2*time.Second, 0, 10, 100*time.Millisecond))
	fmt.Println(politeness.Delay(2*time.Second, 5*time.Second, 10, 100*time.Millisecond))
	fmt.Println(politeness.Delay(2*time.Second, 0, 10, 700*time.Millisecond))
	// Output:
	// 2s
	// 5s
	// 7s
}

// What an answer means for the URL and for the domain.
func ExampleJudge() {
	for _, status := range []uint32{200, 404, 503} {
		verdict := politeness.Judge(status, "")
		fmt.Println(status, verdict.Reason, verdict.Health == politeness.Answered, verdict.Retry)
	}
	// Output:
	// 200 fetched true false
	// 404 fetched true false
	// 503 http_5xx false true
}

// Three failures in a row open the breaker, and an answer closes it.
func ExampleBreaker() {
	var b politeness.Breaker
	for range 3 {
		b = b.Failed(false, 3)
		fmt.Println(b.Open, b.Wait(time.Second))
	}
	b = b.Answered()
	fmt.Println(b.Open, b.Wait(time.Second))
	// Output:
	// false 1s
	// false 2s
	// true 30s
	// false 0s
}

// The witness says which request began when it should not have.
func ExampleWitness() {
	var w politeness.Witness
	now := time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)
	fmt.Printf("%q\n", w.Begin("example.com", now, 1))
	w.End("example.com", now.Add(time.Second), 2*time.Second)
	fmt.Printf("%q\n", w.Begin("example.com", now.Add(2*time.Second), 1))
	// Output:
	// ""
	// "early"
}
