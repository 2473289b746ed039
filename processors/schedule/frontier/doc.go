// Package frontier is the core of the scheduler. It decides which URL is fetched next,
// and when, and it remembers what it decided. It knows neither Kafka nor a clock. The
// stage schedule runs it over a ledger.
//
// # Decide, then fold
//
// AdmitDeduped, Settle and Tick decide. They make an event, weftpb.Scheduled, from the state,
// an input and a [Moment], and change nothing. Apply folds an event into the state. Live
// processing and recovery call the same Apply, which reads neither a clock nor options. So the
// fold of the ledger is the state, key by key, on any machine.
//
// A decision folds, too. It folds the input into an overlay over the store, decides on the
// releases by the overlay, and folds the releases as well. Then it writes the resulting gauges
// and timing into the event. Apply must come to the same gauges; otherwise the event is
// impossible.
//
// # The units
//
//	URL      its attempts
//	origin   scheme, host and port: queues and retries; robots.txt; failures to connect
//	host     failures in a row, back-off, breaker, Retry-After, whether its name exists
//	domain   the registrable domain: the rate (one visit at a time, the delay between
//	         two requests), fairness between its origins, the setting of people,
//	         requests a day
//
// fetch keeps the budgets of addresses (package addresses). It reports when a domain must rest
// because of one.
//
// An origin or host that fails waits alone. The next visit of its domain goes to an origin that
// is ready. The table of politeness.Judge says what waits because of each outcome.
//
// # The journey of a URL
//
//	from              to        when
//	(new)             a queue   it is admitted; Priority says which of the four of its origin
//	a queue, retries  a visit   it is at the front and may go out
//	a queue, retries  settled   it is refused: robots.txt, too many origins, no such
//	                            name, a host that was down for too long
//	(new)             a group   it is admitted, perhaps as a variant of a known URL
//	a group           a queue   it is recalled: it must be fetched itself
//	a group           retries   its turn came while its origin waits
//	a group           any       as from a queue, unless the group is withdrawn
//	a visit           settled   it has an outcome that ends it
//	a visit           retries   it failed and may be tried again, it was not made, or
//	                            the lease ended
//
// Each URL is admitted once; dedupe ensures this. From then on it is in exactly one place: in a
// queue or the retries of its origin, in a group, in a visit that is out, or settled.
//
// URLs leave queues and retries only at the front. Retries of an origin that are ready come
// before its queues. But a URL that failed lets eight URLs of the queues pass first. The
// priorities have the weights 8:4:2:1 over all origins and groups of a domain. Origins with URLs
// of the same priority are served in turn.
//
// One event settles or puts off at most 200 URLs, so an event stays below 512 KiB. It settles
// fewer if their robots rules cost much time, so one domain does not keep the partition busy.
//
// # The places of an origin
//
// An origin with URLs is in at most one of two indexes of its domain (places.go):
//
//	ready    its URLs may go out
//	waiting  until a time: its host failed or asked for time, no connection could be
//	         made to it, its robots.txt could not be fetched, or all its URLs are retries
//	neither  its robots.txt is being fetched
//
// The place follows from the records of the origin and its host, and from no clock. In every
// other visit, origins whose wait is over are served first.
//
// # The states of a domain
//
// A domain is a registrable domain. After every Apply it is in exactly one state:
//
//	empty  nothing is pending
//	out    visits are out, each with a lease; an index has the end of the first lease
//	due    it has an entry in the back queue, the index of due times
//
//	from   to     when
//	empty  out    Admit, if a visit may go out at once
//	empty  due    Admit, if not: delay, window, full disk, all its hosts wait
//	due    out    Tick at its time, when the window has room; Admit
//	due    due    Tick: some URLs were refused, and there are more
//	due    empty  Tick: all other URLs were refused
//	out    out    Settle: more of the visit is out, or the next one is released;
//	              Tick at the end of a lease: released again
//	out    due    Settle: something is queued that may not go out yet
//	out    empty  Settle: nothing is left
//
// So a domain cannot be forgotten: not when robots.txt forbids all its URLs, not while
// all its hosts are down, and not when a report is lost. If more than one visit per domain
// is allowed, a domain that is out may also be due for another visit.
//
// The event that settles a visit also releases the next one, if the remaining wait is within
// the lead (politeness.Lead): fetch then waits for the rest. So a crawl without delays needs no
// timers.
//
// When the window gets scarce, domains wait for their turn. Each domain is due in one of four
// back queues, by the highest priority of the URLs in its queues. The back queues have the
// weights 8:4:2:1. In each of them, the domain that has been due for longest goes first.
//
// # Groups
//
// A group is a set of URLs about which the crawl learns late whether they must be fetched. Each
// group has a queue of its own. An event of dedupe about a group changes one record, even if the
// group holds many URLs; group.go has its states. URLs of a withdrawn group are not pending. The
// gauges count them, and Outcomes names them.
//
// # Robots
//
// No page of an origin goes out before its robots.txt. If the URL at the front is of an
// origin without rules in force, a visit for robots.txt goes out and the URL stays.
// Rules hold for 24 h at most.
//
// A robots.txt that cannot be fetched forbids everything (RFC 9309 section 2.3.1.4). The
// origin waits, longer after each failure. After three hours, earlier rules hold again, an hour
// at a time, until they are 30 days old. Without earlier rules, URLs are settled as
// robots_unreachable when the failures have lasted for Options.GiveUpAfter. A permanent error,
// such as an address that must not be asked, refuses URLs at once, with the error as the reason.
//
// A robots.txt that redirects to another domain is fetched by that domain, within its delays:
// see referral.go. The domain of the origin goes on when the answer comes. It is also due at the
// time by which the answer should have come.
//
// # Failure
//
//   - A host or origin that failed gets one request at a time, and each failure doubles
//     the wait before the next one. Five failures in a row open its breaker. Then it is
//     down: only probes go out, after waits of up to an hour, and its URLs keep their
//     places. A probe without an answer is not a failed attempt of its URL.
//   - A 5xx between other answers counts against its page, which waits alone. The host waits if
//     the next request to it fails, too, or if more than a fifth of its pages answer 5xx
//     (politeness.Doubt).
//   - A request that hangs makes its host wait until the request is over. Its visit does
//     not count as out, so the domain goes on.
//   - The first probe, the third, and so on are checks: a check requests a page that was
//     fetched before. If the host answers a check, some of its pages are broken and the
//     host is not. Then its URLs go out again, and the next time more failures in a row
//     open the breaker.
//   - A host that was down for Options.GiveUpAfter is given up: its URLs are settled as
//     gave_up_breaker until the next probe.
//   - After a time in which no process decided, hosts that are down are asked again at
//     once: see wake.go.
//   - A host that asks for fewer requests (429, 503) waits. Its URLs keep their attempts,
//     and the host gets a longer delay of its own, which is learnt from its answers and
//     from how long it refused. It is down after eight refusals in a row. It is given up
//     after Options.GiveUpAfter and politeness.MostThrottled refusals in a row.
//   - A name that does not exist is looked up once more, ten seconds later, and then its
//     URLs are settled for an hour. That costs the domain no delay.
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
// # Settings of people
//
// Options.Setting returns the setting of a domain. A decision compares the setting with the
// domain's record, and its event says what has changed (setting.go). A domain that is blocked,
// or has used up its requests of the day (budget.go), is due later. A domain that people have
// blocked is due once a day.
//
// # Costs
//
// Queues are ranges of sequence numbers, and the indexes remember where they begin. So a
// decision does not search. An event of a domain with ten million URLs, or with 100,000 hosts,
// costs as much as an event of a domain with ten. Memory holds only caches: robots rules, within
// a bound, and the first key of each index. After a pause it also holds the names of the
// domains that have hosts to wake.
package frontier
