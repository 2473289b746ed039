// Package verify reads a crawl's topics from their first record to their last. It proves
// that no URL was lost and no request broke a domain's delay, or refutes it with the
// records that show the violation. Verify and the crawler share the form and the scope
// of URLs (package normalize), the meaning of robots.txt (package robots) and the schema
// of records. Verify folds the decisions of the scheduler with a fold of its own, because
// it judges the frontier.
//
// It changes nothing, joins no group, and needs no checkpoint and no store. The crawl may
// run meanwhile.
//
// # The claims, and what shows them
//
//	urls      Each URL in seeds, discovered and normalized, and each link of the
//	          pages in parsed, is in deduped once, if it is in scope.
//	journeys  Each URL of deduped that schedule has read was admitted once, and
//	          is since then in exactly one place: a queue, the retries, a visit
//	          that is out, or settled. The gauges of every event are right, and
//	          a domain with URLs is out or due.
//	pages     Each page was fetched, its id is made of its URL, and each
//	          successful exchange has its page. The exchange of a sitemap may have a
//	          page: its server may answer with one.
//	delays    Between two requests to a domain is at least the delay in force, and
//	          no more requests are open at once than allowed. The requests to an
//	          address keep to its budget.
//	robots    A page was released only while rules of its origin were in force that
//	          allow it.
//	budgets   Depth, attempts, visits out of a domain and of a partition, requests of
//	          a day and the sizes of records are within their limits. No visit was
//	          released to a blocked domain.
//	ledgers   Claims fence older owners, events are at the offsets that they name and
//	          without a gap, positions move forward and within their inputs, and
//	          commits follow positions.
//	access_log  A web server's own log shows the same: delays, overlaps,
//	          robots.txt first, no request that it denies, and no request that the
//	          ledgers do not know.
//
// # A crawl that runs
//
// The topics are read in the direction of the flow: commits; the end of parsed; then
// fetched, seeds, discovered and normalized, each to its end; then the bounds of scheduled
// and deduped, and these two; then fetched again, and parsed. A URL that has left a topic
// before it is read is found in a topic that is read later. A URL that a stage has not
// committed, or its ledger has not folded, is counted as in transit.
//
// # Delays
//
// An interval is the time from the end of a response to the start of the next request to
// the domain. The attempts in settlements have a start on a wall clock in milliseconds
// and a length on a monotonic clock in microseconds; hence a tolerance of 1 ms. The delay
// in force between two requests is the delay of the later one's visit. There are two
// exceptions for the first request of a visit: a delay that is longer because the server
// was slow holds from the second request on, and a Crawl-delay counts from the last
// request to the origin that asks for it.
//
// Attempts name no fetcher. A takeover shows only as a claim of schedule, and not at all
// where processes run single stages. After a takeover a fetcher waits a second longer
// than the delay, so that clocks may differ by a second. Options.Skew permits more where
// a claim lies between the release of the earlier request and the settlement of the
// later one. A wall clock that is set while a process runs looks like a violation, or
// hides one. The server's own log decides.
//
// The ledgers do not know requests that were open at a kill and whose outcome was never written. Of
// the redirects of a robots.txt within its domain they know only the last. The log shows all of
// these.
//
// A log shows overlaps beside requests that hang. Other hosts of the domain may be asked
// once a request has had no answer for as long as host queues wait (package hostqueue).
//
// # Addresses
//
// An attempt names the address whose budget it took, and some logs name the server's address.
// The part of a fetcher in a budget is its part of the partitions. But verify does not know
// which fetcher had which partitions. So it allows one request that began too early for each
// partition, and one for each request that may be open, because such a request may have waited
// for a slot after its turn.
//
// # Trimmed ledgers
//
// A partition of scheduled that does not begin at 0 proves no journey and no page: its
// former URLs are unknown. Delays, robots and positions are proven for the rest. Each
// Proof says what it leaves out.
//
// # Memory
//
// What is known of URLs is in a scratch store, by fingerprints of 128 bits: 25 to 50 bytes
// per URL. The URLs that seeds, discovered and normalized still name are there, too: 30 to
// 50 bytes each. Memory has 300,000 of the former, about 35 MB, whatever the size of the
// crawl; 500 bytes per domain; each different robots.txt in force once; and about 200 bytes
// per request of access logs.
package verify
