package crawl_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/weftcrawl/weft/webtest"
)

// span is a time in which something was wrong, in nanoseconds since 1970; a
// kill is a moment.
type span struct{ from, to int64 }

// inFlight is how long before a kill the server may have ended a response whose
// record was not acknowledged. It takes milliseconds; a machine that is busy
// with other tests may take more.
const inFlight = time.Second

// meets tells whether a request was in flight in the span.
func (s span) meets(e webtest.Entry) bool { return e.Start < s.to && e.End+int64(inFlight) > s.from }

// requests are all that were made, by URL, in order.
func (w *web) requests() map[string][]webtest.Entry {
	requests := map[string][]webtest.Entry{}
	for _, e := range w.server.Entries() {
		url := w.url(e.Domain, e.Path)
		requests[url] = append(requests[url], e)
	}
	for _, all := range requests {
		slices.SortFunc(all, func(a, b webtest.Entry) int { return cmp.Compare(a.Start, b.Start) })
	}
	return requests
}

// repeatsOnlyIn checks that nothing is asked for again but what was in flight
// when something was wrong. The rules of a robots.txt hold for a day at most.
func (w *web) repeatsOnlyIn(t *testing.T, times []span) {
	t.Helper()
	for url, all := range w.requests() {
		for i, e := range all[:len(all)-1] {
			if e.Path == "/robots.txt" && slices.ContainsFunc(w.days, func(day int64) bool { return day > e.End && day < all[i+1].Start }) {
				continue
			}
			if !slices.ContainsFunc(times, func(s span) bool { return s.meets(e) }) {
				t.Errorf("%s was asked for again, although all was well when it was: %v", url, all)
			}
		}
	}
}
