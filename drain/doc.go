// Package drain knows when a crawl has nothing left to do, exactly and without
// guessing at idleness, and how far each stage is behind.
//
// # The test
//
// Read, in this order:
//
//  1. E, the ends of the partitions of scheduled;
//  2. C, the committed offset of every group of the loop in each of its input
//     partitions, seeds included; none counts as the log's start;
//  3. L, the ends of all these logs;
//  4. in every partition of scheduled the last valid event before L that tells
//     its gauge pending: URLs queued, out, waiting for robots rules or held by
//     a breaker.
//
// The crawl is drained if and only if C = L everywhere, fetch excepted, E = L
// in scheduled, and every pending is 0.
//
// # Why that is exact
//
// Let m be the moment between the last answer of 2 and the first question of 3.
// Ends only grow and commits never pass them, so C = L means that at m nothing
// lay beyond any commit. Commits follow acknowledgements: everything that the
// consumed records led to had been written by then, and consumed too. E = L
// means that the frontier wrote nothing from before m to after it, so the
// events read in 4 are its state at m, and pending 0 says that nothing was
// under way outside of the topics: no URL queued, none out. Nothing was left
// that could write a record.
//
// Without 1 the test is wrong. A last page may come back between 3 and 4:
//
//	2, 3   C = L everywhere; the page's visit is out, pending is 1
//	fetch  writes the page to fetched, then the outcome to visited
//	sched  settles the outcome: pending is 0
//	4      reads pending 0, and the page in fetched is never parsed
//
// What ends a transaction is a record of the log, too, which no client is given
// unless it asks. normalize and parse ask, and commit it, so that C = L can be
// reached. dedupe and schedule cannot: where only such records lie between C and L,
// C counts as L for those who may read the topic. Seeds
// that a transaction has written which is still open count: the crawl is not
// drained before they are read or aborted.
//
// fetch is excepted in the comparison of C and L because its work is the
// frontier's out and not a lag.
package drain
