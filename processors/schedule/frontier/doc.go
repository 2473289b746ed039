// Package frontier is the core of the scheduler. It decides which URL is fetched next,
// and when, and it remembers what it decided. It knows neither Kafka nor a clock. The
// stage schedule runs it over a ledger.
//
// # Decide, then fold
//
// AdmitDeduped, Settle and Tick decide: from the state, an input and a [Moment] they
// make an event, weftpb.Scheduled, and change nothing. Apply folds an event into the
// state. Live processing and recovery call the same Apply, which reads neither a clock
// nor options. So the fold of the ledger is the state, key by key, on any machine.
//
// A decision folds, too. It folds what arrived into an overlay over the store, decides
// on the releases by what it sees there, folds them as well, and writes the resulting
// gauges and timing into the event. Apply must come to the same gauges; otherwise the
// event is impossible.
//
// # The journey of a URL
//
//	from              to        when
//	(new)             a queue   it is admitted; Priority says which of the four
//	a queue, retries  a visit   it is at the front and may go out
//	a queue, retries  retries   its origin's robots.txt cannot be fetched now, or its
//	                            origin failed and waits alone
//	a queue, retries  settled   it is refused: robots.txt, too many origins, breaker,
//	                            no such name
//	(new)             a group   it is admitted, perhaps as a variant of a known URL
//	a group           a queue   it is recalled: it must be fetched itself
//	a group           any       as from a queue, unless the group is withdrawn
//	a visit           settled   it has an outcome that ends it
//	a visit           retries   it failed and may be tried again, it was not made, or
//	                            the lease ended
//
// Each URL is admitted once; dedupe ensures this. From then on it is in exactly one
// place: a queue, the retries, a group, a visit that is out, or settled. URLs leave
// queues and retries only at the front. Retries that are ready come first, then the
// queues by the weights 8:4:2:1. A URL at the front that cannot go out is settled or
// put off. One event settles or puts off at most 200 of them, so that an event stays
// below 512 KiB whatever the queue holds; and fewer if their robots rules cost much
// time, so that no domain keeps the partition for itself.
//
// # The states of a domain
//
// A domain is a registrable domain: all that asks the same servers. After every Apply
// it is in exactly one state:
//
//	empty  nothing is pending
//	out    visits are out, each with a lease; an index has the end of the first lease
//	due    it has an entry in the back queue, the index of due times
//
//	from   to     when
//	empty  out    Admit, if a visit may go out at once
//	empty  due    Admit, if not: delay, back-off, breaker, window, full disk
//	due    out    Tick at its time, when the window has room; Admit
//	due    due    Tick: some URLs were refused or put off, and there are more
//	due    empty  Tick: all other URLs were refused
//	out    out    Settle: more of the visit is out, or the next one is released;
//	              Tick at the end of a lease: released again
//	out    due    Settle: something is queued that may not go out yet
//	out    empty  Settle: nothing is left
//
// So a domain cannot be forgotten: not when robots.txt forbids all its URLs, not while
// its breaker is open, and not when a report is lost. If more than one visit per domain
// is allowed, a domain that is out may also be due for another visit.
//
// A visit is released together with the outcomes of the one before, if the remaining
// wait is within the lead that fetch makes up for. So a crawl without delays needs no
// timers. When the window gets scarce, the domain that has been due for longest goes
// first instead.
//
// # Groups
//
// A group is a set of URLs of which it is learnt late whether they must be fetched. Each
// group has a queue of its own. What dedupe tells of a group changes one record, however
// many URLs the group holds; group.go has its states. URLs of a withdrawn group are not
// pending. The gauges count them, and Outcomes names them.
//
// # Robots
//
// No page of an origin goes out before its robots.txt. If the URL at the front is of an
// origin without rules in force, a visit for robots.txt goes out and the URL stays.
// Rules hold for 24 h at most.
//
// A robots.txt that cannot be fetched forbids everything (RFC 9309 section 2.3.1.4). The
// URLs of the origin are put off, some at a time, so that other origins of the domain
// are served. After the last try the last rules hold on, an hour at a time, until they
// are 30 days old. If there are none, URLs are settled as robots_unreachable for an
// hour. An error that does not pass, such as an address that must not be asked, is used
// as the reason at once. A name that does not exist is looked up once more, ten seconds
// later, and then is the reason.
//
// A robots.txt that redirects to another domain is fetched by that domain, within its
// delays: see referral.go. The domain of the origin is due when the answer should have
// come, and goes on when it comes.
//
// # Failure
//
//   - A failure of an origin stops its domain only if no other origin of the domain has
//     answered since the last failure of this one. Otherwise this origin waits alone
//     (health.go). A request that reached no server stops nothing.
//   - A visit whose lease is over is released again with a new id. What it had settled
//     stays settled. Outcomes settle by visit id. An id that is not out changes nothing,
//     so reports may be repeated and may come late.
//   - A visit whose release the ledger does not hold any more, because of a repair, is
//     released again at once (Moment.Begins).
//   - A lease that ran out while no process owned the partition begins anew
//     (Moment.OwnedSince). The next fetcher finds the visit, and what of it was fetched,
//     under the id that it had.
//   - A clock that was set back leaves times that are too far ahead. A due time beyond
//     politeness.MaxWait is cut to it, a lease beyond politeness.MaxLease is over, and a
//     retry beyond MaxWait is ready. Due looks for them whenever the time is before that
//     of the last call.
//   - An event that cannot follow from the state is ErrImpossible. A value of the store
//     that cannot be read is an error of the decision or of Apply. Neither is skipped:
//     the ledger stops the partition.
//
// # Costs
//
// Queues are ranges of sequence numbers, and the indexes remember where they begin, so
// no decision searches: an event of a domain with ten million URLs costs as much as one
// of a domain with ten. Memory holds only caches: robots rules, within a bound, and the
// first key of each index.
package frontier
