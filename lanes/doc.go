// Package lanes makes the requests of released visits. It is the last line of
// politeness: whatever arrives, the requests of a domain are made one after
// another, and none starts before the domain's delay has passed since the end
// of the last response, on this process's own monotonic clock.
//
// A lane is a domain's queue of visits, with one goroutine while it has any.
// It lives until its delay has passed after the last request, so that a visit
// that arrives at once still waits. With PerDomain above one a domain has as
// many lanes; only who owns a site should ask for that.
//
//	visit ─▶ lane ─▶ wait for the delay ─▶ wait for the gate ─▶ take a slot ─▶ request
//	           ▲                                                                 │
//	           └──────────── not before: end + delay × (1 + jitter) ◄────────────┘
//
// What a lane does next is decided by Lane, which is told the time; Lanes gives
// each a goroutine, clocks and slots.
//
// Waiting costs no slot: slots count open requests. One that hangs gives its
// slot up after a while and goes on in a place of its own, so that servers that
// do not answer are not in the way of those that do; there is a bound for both.
// The gate holds requests back while parse is too far behind or the lease is in
// doubt.
//
// A visit whose context ends is dropped where it is, without a report: its
// partition belongs to somebody else, or the process stops and finds the visit
// in the ledger again.
package lanes
