// Package hostqueue makes the requests of released visits. It is the last place
// where politeness is kept. Whatever visits arrive, the requests of a domain are
// made one after another, except for requests that hang (below). No request starts
// before the domain's delay has passed since the end of the last response, on this
// process's own monotonic clock.
//
// A host queue is the queue of one domain's visits. It lives from the first visit on until
// the delay after its last request has passed: a visit that arrives in between still
// waits. While it has visits, it has one goroutine. With PerDomain above one a domain has as many
// queues. Only the owner of a site should ask for that.
//
//	visit ─▶ queue ─▶ look up the host ─▶ wait for the delay ─▶ the gate ─▶ the address ─▶ a slot ─▶ request
//	           ▲                                                                                       │
//	           └────────────────────── not before: end + delay × (1 + jitter) ◄────────────────────────┘
//
// [Queue] is pure. It decides what a host queue does next, and is told the time.
// [Queues] gives each Queue a goroutine, a clock and slots.
//
// A host that fails stops only itself. The queue skips the further requests of the visit to
// this host. After a 5xx it does so only if the next request to the host fails, too. If a host
// asked for no requests (Retry-After, see Silences), the queue skips requests to it in all
// visits. The requests to other hosts of the domain are made.
//
// A request that hangs stops only its host, too. The queue goes on without it, and
// another goroutine serves the queue meanwhile. The rest of its visit is given back, and
// requests to its host are skipped until it is over.
//
// The queue looks the host of a request up before all its waits. If the host is not found,
// the request ends: it took no slot, it waited for no delay, and no delay follows. The hosts
// of a visit are also looked up ahead, when the visit starts. A look-up may hang, too. The more
// requests and look-ups of a domain hang, the less time the next look-up has.
//
// A visit that waits has no slot, because slots count open requests. A
// request that hangs leaves its slot after a while and goes on in a place of its own, so
// that servers that do not answer do not delay servers that do. There is a bound for both.
// When requests wait for slots, those of each priority have a share of the slots, by the
// weights 8:4:2:1, whatever their domains (package slots). The gate stops requests while parse
// is too far behind, or while it is uncertain whether the lease holds.
//
// One server may have many names, so its address has a budget of its own (package
// addresses). If the line for the address is too long, the rest of the visit is given back.
//
// A visit whose context ends is dropped without a report. Its partition belongs to
// another process, or this process stops and finds the visit in the ledger again.
//
// Read queue.go, then queues.go.
package hostqueue
