// Package fetch is the stage fetch: it makes the HTTP requests of a crawl.
//
//	reads   scheduled  visits that are released, and which of their requests are settled
//	writes  fetched    one record for each HTTP exchange, with its body
//	        visited    the outcomes of a visit, in parts; rules of robots.txt
//
// The ledger of schedule decides what to fetch. Package hostqueue decides when. These
// pure types decide the rest:
//
//	ReleasedVisits  the visits of a partition to start (released.go)
//	Takeover        where a new owner begins to read, and when it may go live (takeover.go)
//	Gate            whether a request may begin (requester.go)
//	Backlog         whether parse is too far behind (backlog.go)
//	Report          which outcomes are reported now (report.go)
//	RobotsOutcomeOf what a robots.txt says (robots.go)
//
// The way of a visit:
//
//	scheduled ─▶ ReleasedVisits ─▶ host queue ─▶ look-up ─▶ gate ─▶ slot ─▶ exchange ─▶ fetched
//	                                                                                       │ acknowledged
//	                                                              visited ◀─ report ◀──────┘
//
// The stage takes its work from the ledger and not from commits. A partition is read
// from the offset that its last record calls oldest. An outcome is reported only after
// the exchange is acknowledged in fetched, so that a crash repeats requests and loses
// none. A process that takes a partition over reports what the former owner fetched and
// did not report.
//
// Read fetch.go, then released.go, requester.go and report.go for the way of a visit: the
// methods of requester stand in the order in which host queues call them. Read assignment.go
// and takeover.go for partitions that come and go; then partitions.go, heartbeats.go,
// backlog.go, backpressure.go, robots.go, check.go and witness.go. Package httpclient makes an
// exchange, and package lease is the right to make it.
package fetch
