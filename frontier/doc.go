// Package frontier is the heart of the scheduler: it decides which URL is
// fetched next, and when, and remembers what it decided. It knows neither
// Kafka nor a clock; the stage schedule runs it over a ledger.
//
// # Decide, then fold
//
// Admit, Settle and Tick decide: from the state, an input and the moment they
// make an event, weftpb.Scheduled, and change nothing. Apply folds an event
// into the state. Live processing and recovery run the same Apply, and it reads
// neither a clock nor options, so that the fold of the ledger is the state,
// key by key, on any machine.
//
// A decision is made by folding, too: what arrived is folded into an overlay
// over the store, the releases are decided on what is seen there and folded in
// turn, and the gauges and the timing of the result are written into the
// event. Apply comes to the same gauges or calls the event impossible.
//
// # The journey of a URL
//
//	from              to        when
//	(new)             a queue   admitted: Priority says which of the four
//	a queue, retries  a visit   it is at the front and may go out
//	a queue, retries  retries   its origin's robots.txt cannot be had now, or its
//	                            origin failed and waits alone
//	a queue, retries  settled   refused: robots.txt, too many origins, breaker,
//	                            no such name
//	(new)             a group   admitted, perhaps as another spelling of a known URL
//	a group           a queue   it is recalled: it has to be fetched itself
//	a group           any       as from a queue, unless the group is withdrawn
//	a visit           settled   it has an outcome that ends it
//	a visit           retries   it failed and may be tried again, was not made,
//	                            or the lease ended
//
// It is admitted once (dedupe sees to that), and from then on in exactly one of: a queue, the retries, a group, a visit
// that is out, or settled. URLs leave queues and retries only at the front, in the
// order of the weights 8:4:2:1, retries that are ready before all. What cannot
// go out is settled or put off there, at most 200 an event, so that an event
// stays under 512 KiB whatever the queue holds. There are fewer where their robots
// rules cost much, so that no domain keeps the partition to itself.
//
// # The states of a domain
//
// A domain is a registrable domain: everything that asks the same servers.
// After every Apply it is exactly one of
//
//	empty  nothing is pending
//	out    visits are out, each under a lease; the lease's end is in an index
//	due    it has an entry in the back queue, the index of due times
//
//	from   to     when
//	empty  out    Admit, if a visit may go out at once
//	empty  due    Admit, if not: delay, back-off, breaker, window, full disk
//	due    out    Tick at its time, when the window has room; Admit
//	due    due    Tick: a chunk was refused or put off, and there is more
//	due    empty  Tick: all of the rest was refused
//	out    out    Settle: more of the visit is out, or the next one is released;
//	              Tick at the end of a lease: released again
//	out    due    Settle: something is queued that may not go out yet
//	out    empty  Settle: nothing is left
//
// so that it cannot be forgotten: not when all its URLs are disallowed, not
// while its breaker is open, and not when a report is lost. With more than one
// visit per domain allowed, a domain that is out may be due for another too.
//
// A visit is released with the outcomes of the one before, if no wait remains
// beyond the lead that fetch makes up for: a crawl without delays needs no
// timers. When the window gets scarce, whoever has been due for longest goes
// first instead.
//
// # Groups
//
// A group is URLs of which it is learnt late whether they have to be fetched. Each has
// a queue of its own, and what dedupe tells of it changes one record, however many URLs
// it holds: see group.go for its states. URLs of a group that is withdrawn are not
// pending; the gauges count them, and Outcomes names them.
//
// # Robots
//
// Nothing of an origin goes out before its robots.txt: when the URL at the
// front is of an origin without rules in force, a visit for robots.txt goes out
// and the URL stays. Rules hold for 24 h at most. A robots.txt that cannot be
// had forbids everything (RFC 9309 section 2.3.1.4); the URLs of the origin are
// put off, a chunk at a time, so that other origins of the domain are served.
// After the last try the rules that were had last hold on, an hour at a time,
// until they are 30 days old; if there are none, URLs are settled as
// robots_unreachable for an hour. An error that does not pass, such as an
// address that may not be asked, gives its own name at once. A name that does not
// exist is looked up once more, ten seconds later, and then gives its own name.
//
// One that redirects to another domain is asked for by that domain, whose
// delays it keeps: see referral.go. The domain of the origin is due when the
// answer should have come, and goes on when it comes.
//
// # Failure
//
//   - A failure of an origin stops its domain only when no other origin has answered
//     since it was last heard of; else the origin waits alone (health.go). What
//     never reached a server stops nobody.
//   - A visit whose lease is over is released again under a new id, and what it
//     had settled stays settled. Outcomes settle by visit id; ids that are not
//     out change nothing, so that reports may be repeated and may come late.
//   - A visit whose release the ledger does not hold any more, which only a
//     repair cuts off, is released again at once (Moment.Begins).
//   - A lease that ran out while nobody held the partition begins anew
//     (Moment.Since): whoever fetches next finds the visit, and what of it was
//     fetched, under the id that it had.
//   - A clock that was set back leaves times too far ahead. A due time beyond
//     politeness.MaxWait is cut to it, a lease beyond politeness.MaxLease is
//     over, a retry beyond MaxWait is ready; Due looks for them whenever now is
//     before what it was.
//   - An event that cannot follow is ErrImpossible. A value of the store that
//     cannot be read is an error of the decision or of Apply. Neither is ever
//     skipped: the ledger stops the partition.
//
// # Costs
//
// Queues are ranges of sequence numbers, and the indexes remember where they
// begin, so that no decision searches: a domain with ten million URLs costs as
// much per event as one with ten. Memory holds caches only: robots rules,
// bounded, and the first key of each index.
package frontier
