package politeness

import (
	"testing"
	"time"
)

// Whatever a server says and however long it takes, waits are not negative, not longer than their
// bounds, and not shorter than the configured delay.
func FuzzWaits(f *testing.F) {
	f.Add(int64(time.Second), int64(3*time.Second), 1.0, int64(time.Minute), int64(time.Hour), uint32(3), uint32(200), "")
	f.Add(int64(0), int64(1)<<62, 1e300, int64(1)<<62, int64(-1), uint32(1<<31), uint32(503), "connect_timeout")
	f.Add(int64(MaxDelay), int64(-1), 0.0, int64(-1), int64(1)<<62, uint32(0), uint32(999), "no such class")
	f.Fuzz(func(t *testing.T, configured, crawlDelay int64, factor float64, response, retryAfter int64, failures, status uint32, class string) {
		// What is configured is valid; the rest comes from servers.
		set := min(max(time.Duration(configured), 0), MaxDelay)
		if !(factor >= 0 && factor <= 1000) {
			factor = 1
		}
		asked, took, after := time.Duration(crawlDelay), max(time.Duration(response), 0), time.Duration(retryAfter)
		delay := Delay(set, asked, factor, took)
		if delay < set || delay < min(asked, MaxCrawlDelay) || delay > max(MaxDelay, MaxCrawlDelay) {
			t.Fatalf("delay %v of %v, %v, %v × %v", delay, set, asked, factor, took)
		}
		if n := VisitSize(delay); n < 1 || n > MaxVisit || n > 1 && time.Duration(n)*delay > visitSpan {
			t.Fatalf("visits of %d requests, %v apart", n, delay)
		}
		if lease := Lease(MaxVisit, delay); lease <= 0 {
			t.Fatalf("a lease of %v", lease)
		}

		b := Breaker{}
		for range min(failures, 100) {
			before := b.Wait(delay)
			b = b.Failed(b.Open, 5)
			if wait := b.Wait(delay); wait <= 0 || wait > MaxBackoff || wait < before && !(b.Open && b.Cycles == 1) {
				t.Fatalf("%+v waits %v, %v before", b, wait, before)
			}
		}
		b = Breaker{Failures: failures, Cycles: status, Open: failures%2 == 0} // as a store may hold it
		backoff := b.Wait(delay)
		if backoff < 0 || backoff > MaxBackoff {
			t.Fatalf("%+v waits %v", b, backoff)
		}
		if b.Answered() != (Breaker{}) {
			t.Fatal("an answer does not close it")
		}

		end := time.Unix(1e9, 0)
		next := NextRelease(end, delay).Sub(end)
		if next < delay-Lead(delay) || next > MaxWait {
			t.Fatalf("released after %v: delay %v", next, delay)
		}
		if wait, ok := Retry(failures, after); ok && (wait <= 0 || wait > MaxRetryAfter) || !ok && failures >= 1 && int(failures) <= len(retries) {
			t.Fatalf("tried again after %v, %v", wait, ok)
		}
		if wait := RetryRobots(failures, after); wait <= 0 || wait > MaxRetryAfter {
			t.Fatalf("robots.txt after %v", wait)
		}
		pace := Pace{LearntMS: failures, Answers: status, Steady: failures ^ status} // as a store may hold it
		refused := pace.Refused(delay, uint64(failures))
		resumed := refused.Resumed(after)
		answered := resumed.Answered(set)
		if refused.Delay() > mostLearnt || resumed.Delay() > mostLearnt || resumed.Delay() < refused.Delay() || answered.Delay() > resumed.Delay() {
			t.Fatalf("%+v, %+v, %+v, %+v", pace, refused, resumed, answered)
		}

		v := Judge(status, class)
		if v.Reason == "" || v.Unmade && v.Retry {
			t.Fatalf("%d, %q: %+v", status, class, v)
		}
		if _, known := classes[class]; !known && class != "" && v != (Verdict{Reason: "other", Retry: true, Health: Failed}) {
			t.Fatalf("class %q is counted: %+v", class, v)
		}
	})
}
