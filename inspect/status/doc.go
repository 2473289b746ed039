// Package status reads how far each stage of a crawl is behind, and decides exactly, without
// a time-out, when the crawl is drained: it has nothing left to do.
//
// # The test
//
// Read, in this order:
//
//  1. E, the ends of the partitions of scheduled;
//  2. C, the committed offset of every group of the loop in each of its input
//     partitions, seeds included; without a commit it is the log's start;
//  3. L, the ends of all these logs;
//  4. in every partition of scheduled the last valid event before L with the gauge
//     pending: URLs that are queued, out, or wait for robots rules or a breaker.
//
// The crawl is drained if and only if C = L everywhere except for fetch, E = L in
// scheduled, and every pending is 0.
//
// # Why that is exact
//
// Let m be the moment between the last answer of 2 and the first request of 3. Ends only
// grow and commits never pass them, so C = L means that at m there was no record beyond
// any commit. Commits follow acknowledgements: at m everything that the consumed records
// led to was written, and consumed too. E = L means that the frontier wrote nothing around
// m, so the events of 4 are its state at m. Pending 0 means that nothing was under way
// outside of the topics: no URL was queued or out. So nothing was left that could write a
// record.
//
// Without 1 the test is wrong. A last page may come back between 3 and 4:
//
//	2, 3   C = L everywhere; the page's visit is out, pending is 1
//	fetch  writes the page to fetched, then the outcome to visited
//	sched  settles the outcome: pending is 0
//	4      reads pending 0, and the page in fetched is never parsed
//
// The end of a transaction is a record of the log too, which clients get only if they ask
// for it. normalize and parse ask for it and commit it, so that C = L can be reached.
// dedupe and schedule cannot: if only such records are between C and L, C counts as L, for
// readers with the right to read the topic. Seeds of an open transaction count: the crawl
// is not drained before they are read or aborted.
//
// fetch is not in the comparison of C and L because its work is the frontier's URLs that
// are out, and not a lag.
package status
