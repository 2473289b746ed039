// Package verify reads a crawl's topics from their first record to their last
// and proves, or refutes with the records that show it, that nothing was lost
// and nobody was hurried. It shares with the crawler what a URL is and whether
// it is in scope (package processors), what robots.txt allows (package robots)
// and the schema of records. What a scheduler did with URLs it folds anew, with
// a fold of its own: the frontier is what is judged.
//
// It changes nothing, joins no group, and needs no checkpoint and no store. The
// crawl may run meanwhile.
//
// # The claims, and what shows them
//
//	urls      What seeds, discovered and normalized still hold, and each link of
//	          the pages in parsed, judged with the crawl's own scope, is in
//	          deduped, once.
//	journeys  Each URL of deduped that schedule has read was admitted once, and
//	          is since in exactly one of: a queue, the retries, a visit that is
//	          out, settled. The gauges of every event agree, and a domain with
//	          URLs is out or due.
//	pages     Each page was fetched, under an id that is made of its URL, and
//	          each successful exchange has its page.
//	delays    The requests of a domain are not closer than the delay in force
//	          and no more at once than allowed.
//	robots    A page was released only while rules of its origin were in force,
//	          and these allow it.
//	budgets   Depth, attempts, visits out of a domain and of a partition, and
//	          sizes of records are within their limits.
//	ledgers   Claims fence, events stand where they say and without a gap,
//	          positions move forward and within their inputs, commits follow.
//	access_log  A web server's own log shows the same: delays, overlaps,
//	          robots.txt first, nothing that it denies, nothing that the
//	          ledgers do not know.
//
// # A crawl that runs
//
// Nothing is judged by when it was read. The order is: commits; the end of
// parsed; then fetched, seeds, discovered, normalized, each to its end, in the
// direction of the flow; then the bounds of scheduled and deduped, and these
// two; then fetched again, and parsed. What has left a topic when it is read is
// found in one that is read later, and what a stage has not committed, or its
// ledger has not folded, is in transit, and counted as such.
//
// # Delays
//
// Intervals run from the end of a response to the start of the next request of
// the domain, by the attempts that settlements carry: a wall clock in
// milliseconds for the start, a monotonic clock in microseconds for the length;
// hence a tolerance of 1 ms. The delay in force between two requests is that of
// the visit of the later one, with two exceptions for the first request of a
// visit, which the crawler states: a delay that is longer because the server
// was slow holds from its second request on, and a Crawl-delay counts from the
// last request to the origin that asks for it.
//
// Attempts name no fetcher. A takeover shows only as a claim of schedule, and
// where processes run single stages not at all. After one, a fetcher waits a
// second longer than the delay, so that clocks may differ by as much; more is
// to be said with Options.Skew, which applies where a claim lies between the
// release of the earlier and the settlement of the later request. A wall clock
// that is set while a process runs looks like a violation or hides one. The
// server's own log decides.
//
// What the ledgers do not know: requests in flight at a kill whose outcome was
// never written, and the redirects of a robots.txt within its domain but for the
// last. The log shows them.
//
// # Trimmed ledgers
//
// A partition of scheduled that does not begin at 0 proves no journey and no
// page: its former URLs are unknown. Delays, robots and positions are proven
// for what is there. Each Proof says what it leaves out.
//
// # Memory
//
// What is known of URLs is in a temporary file by their fingerprints of 128 bits,
// some 42 to 100 bytes a URL, and so are the URLs that seeds, discovered and
// normalized still name, 29 bytes each. Memory holds 32 MiB of the former at most
// (scratch), whatever the size of the crawl; 500 bytes a domain; the robots.txt in
// force, each different one once; and about 200 bytes a request of access logs.
package verify
