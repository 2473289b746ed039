// Package drain knows when a crawl has nothing left to do, exactly and without
// guessing at idleness, and how far each stage is behind.
//
// # The test
//
// Read, in this order:
//
//  1. C, the committed offset of every group of the loop in each of its input
//     partitions, seeds included; none counts as the log's start;
//  2. L, the end of every one of these logs;
//  3. the last record of every partition of scheduled, and its gauge pending:
//     queued, out, waiting for robots rules or held by a breaker.
//
// The crawl is drained if and only if C = L everywhere, fetch excepted, and
// every pending is 0.
//
// Ends only grow and commits never pass them. So C = L, with L read later,
// means that at the moment of reading C nothing lay beyond it: every record
// written until then had been consumed, and with it, since commits follow
// acknowledgements, everything it led to had been written, and consumed too.
// Whatever was still under way would have to be in the frontier, and pending
// says that it is not. fetch is excepted because its work is the frontier's out
// and not a lag.
package drain
