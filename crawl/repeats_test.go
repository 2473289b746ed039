package crawl_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/weftcrawl/weft/test/webserver"
)

// requests are all that were made, by URL, in order.
func (w *web) requests() map[string][]webserver.Entry {
	requests := map[string][]webserver.Entry{}
	for _, e := range w.server.Entries() {
		url := w.url(e.Domain, e.Path)
		requests[url] = append(requests[url], e)
	}
	for _, all := range requests {
		slices.SortFunc(all, func(a, b webserver.Entry) int { return cmp.Compare(a.Start, b.Start) })
	}
	return requests
}

// repeatsOnlyIn checks that nothing is asked for again but what was in flight
// when something was wrong, and by a process that woke up between its last check
// and its request. The rules of a robots.txt hold for a day at most.
func (w *web) repeatsOnlyIn(t *testing.T, outages []webserver.Outage, woke ...int64) {
	t.Helper()
	for url, all := range w.requests() {
		for i, e := range all[:len(all)-1] {
			again := all[i+1].Start
			if e.Path == "/robots.txt" && slices.ContainsFunc(w.days, func(day int64) bool { return day > e.End && day < again }) {
				continue
			}
			if slices.ContainsFunc(woke, func(at int64) bool { return again >= at && again < at+int64(signalled) }) {
				continue
			}
			if !slices.ContainsFunc(outages, func(outage webserver.Outage) bool { return outage.Meets(e) }) {
				t.Errorf("%s was asked for again, although all was well when it was: %v", url, all)
			}
		}
	}
}
