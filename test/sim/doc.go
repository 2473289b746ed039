// Package sim runs the whole loop in one goroutine under virtual time. Brokers,
// consumer groups, processes, clocks and a web are simulated. One random source,
// which begins with a seed, draws every delay, every order and every fault. A run
// of some minutes, with processes that are killed or frozen and brokers that lose
// records, takes some milliseconds. The same case is always the same run, event by
// event.
//
//	make sim SEEDS=5000
//	go test ./test/sim -run TestSeeds -first 4711 -seeds 1
//
// A failure prints its seed, the smallest case that Shrink found to fail in the
// same way, and the end of its trace. With -update that case is stored in testdata,
// where TestGoldenCases runs it from then on.
//
// # How a run is put together
//
// A Case is drawn from a seed (NewCase), and Run makes a world of it:
//
//	agenda       the events to come, by time; each is a function (clock.go)
//	cluster      logs and the coordinators of groups (log.go, group.go)
//	process      a machine that runs stages: disk, clocks, instances (process.go)
//	shell        runs one instance of a stage: worker, ledgerStage with a table for
//	             each partition, fetcher with its queues, pageWriter
//	web          the sites, and their access log (web.go, variants.go, dns.go,
//	             throttle.go, outage.go, addresses.go)
//	leap         leaps over time in which all wait for a host that is down (leap.go)
//	faults       what goes wrong, and what people do (faults.go, foreign.go,
//	             control.go, stop.go)
//	checks       what must hold at each request (checks.go), at checkpoints
//	             (compare.go) and at the end (drained.go, history.go)
//
// A shell does what goroutines, clients and files do in a running crawl. It asks
// production's code for the next decision, carries it out, and comes back by an
// event. Events of others may come between any two of its steps.
//
// # What is production's code
//
// The simulation runs production's code for all decisions, and no copy of it:
//
//	ledger.Partition   folding, deciding, framing, positions, resuming, timers
//	ledger.Claiming    the steps of a claim, and the search for inputs that were
//	                   cut
//	ledger.Saving      when the state is copied and a checkpoint is published
//	ledger.Writer      fail-stop, without gaps
//	ledger.EventReader      which events count
//	processors.Loop    what each stage is: the transform of a worker, the
//	                   definition of a ledger
//	stage.Progress     up to where a worker commits
//	stage.Pauses       which stages are paused
//	stage.Settings     what people ask for domains
//	fetch              takeovers and released visits (TakeOver, ReleasedVisits, Search),
//	                   reports (Report), what exchanges mean (RobotsOutcomeOf, AnswerOf),
//	                   whether a request may begin (Gate), how far parse is behind
//	                   (Backlog)
//	hostqueue.Queue     what a queue does next; hostqueue.Choose: which of its
//	                   domain's queues gets a visit
//	addresses.Lines    whose turn it is at an address, and whose line is too long
//	lease              the right to make requests (Lease), and which heartbeat
//	                   extends it (Heartbeats)
//	archive.Quota      the limit of pages
//	status.Sample      the drained test; status.Quiet: when a drain has ended
//	broker.TrimTo      what the janitor trims
//	topiclog           LastDecision, which takeovers and the drained test read
//
// # The simulated brokers, machines and sites
//
//   - A record that arrives at its leader is in the log at once. It is visible and
//     acknowledged when it is replicated. Records of one writer to one partition
//     arrive in order; nothing else is ordered.
//   - A coordinator gives a partition away when its owner has given it up, or was
//     silent for the session time-out.
//   - A process has a disk with checkpoints, a wall clock that may be wrong, and a
//     clock since boot that is right. A frozen process does nothing, and does later
//     all that it was about to do: it may have lost its partitions meanwhile.
//   - Sites have redirects, errors, Retry-After, and robots.txt that disallow, ask
//     for delays, fail, are missing, or redirect to another domain. The pages of some
//     have two URLs, with exceptions, so that dedupe learns rules, merges URLs, and
//     finds that it was wrong.
//   - In some cases names share addresses, which have budgets. Some hosts answer only a number of
//     requests a minute, and 429 to all others, with Retry-After or without.
//
// # Faults
//
// Kind lists them: processes and stages are killed, processes freeze, leaders end
// and lose what is not replicated, so that other records get the same offsets.
// Partitions have no leader, refuse records, lose acknowledgements, or have records
// twice. Heartbeats are answered late, groups rebalance, wall clocks jump, disks are
// full, checkpoints are damaged or lost, and the power of an embedded broker's
// machine is cut.
//
// Origins, hosts and whole domains do not answer for minutes, hours or days, and hosts
// answer 429 for as long: they refuse connections, hang up, are silent, are not found,
// or say 503.
//
// Another program writes to the topics: garbage, empty records, text, half a record,
// a record of another topic or partition, copies of records and of claims. In a
// ledger such a record may get the offset that the owner's next event was made for,
// and that event may be lost, too. Only records of such a program may be rejected.
//
// People choose limits: connections to a domain, depth, URLs of a domain, pages of the crawl,
// bytes that parse may be behind. They pause and resume stages, end processes gracefully, and
// drain the crawl. Each process learns of this with its own delay. Some cases have no faults,
// but only this.
//
// # Invariants
//
// At each request: a domain has no more requests at once than it may have
// connections. On each connection the delay in force is kept (the configured one,
// Crawl-delay, Retry-After). The robots.txt of the origin was fetched before, and
// does not disallow the page. The page is not deeper than allowed. The process has
// not read that fetch is paused, and parse is not too far behind.
//
// Requests to an address keep to its budget (decision 0034). In any period one request more may
// begin for each process, and one for each change of the part of a process. The number of open
// requests is at most the number of the budget, or one for each process. A domain that rests
// because its address is crowded rests for the time that was reported, and not much longer.
//
// An origin that does not answer is probed after waits of up to an hour. Its URLs are not given
// up earlier than the crawl says. A shorter outage costs few URLs (see mayBeLost). A host that
// permits a number of requests a minute does not refuse many more requests than it answers, and
// all its pages are fetched.
//
// At each event: no visit is released while releases are paused or the disk is
// nearly full. No stage meets an error that only a person could repair.
//
// At checkpoints and at the end: the state is, key by key, the fold of the ledger
// from its beginning. The gauges are what a recount finds. A domain is in exactly one
// state, and a URL in one place.
//
// When a crawl has its limit of pages: the file has exactly these pages, each once.
// Then, and when a drain has ended, no request is open.
//
// When the drained test says that the crawl is drained: every seed, every link of a
// fetched page and every target of a redirect is admitted once, or parked beyond the
// limit of its domain, or merged once into its variant, which is in the crawl and has
// a page if its site has one. Each admitted URL has one outcome, after at most four
// attempts. What was fetched was requested, and is parsed. Nothing of a healthy site
// failed for good. No visit ran out of its lease. In a case without faults and with
// one process, no request was made twice. By induction these are all URLs that the
// rules reach. And the drained test says so within some hours of virtual time after
// the last fault.
//
// # Planted bugs
//
// A simulation that finds nothing may be blind. Each Bug breaks one rule from the
// outside: in a shell, or in what a shell passes to production's code.
// TestPlantedBugsAreFound tells within how many seeds each of them is found.
//
// TestBudgetOfAnAddressIsUsed and TestThrottledHost measure the other side of two rules:
// how much of what is permitted is used.
//
// # What a run does not show
//
//   - The shells of production: kfake, goka, franz-go, Pebble and net/http are for
//     the tests with real processes. Some rules are therefore written twice, here and
//     in production: the order in which a process ends its stages, and a fetcher its
//     work; how a worker and a fetcher read their partitions; that an event is
//     appended after it is folded.
//   - WARC files, checkpoints in a bucket and bodies in an object store.
//   - Rebalances that leave partitions where they are: here each takes them all.
//   - Slots: a request begins at once when its address gives it a turn.
//   - What happens to processes while all wait for a host that is down.
//   - A request that is still being answered after its process was frozen for longer
//     than a session: here answers take at most 2 s.
//   - That nothing is lost when a machine loses what it has acknowledged. After a
//     power cut an embedded crawl goes on and drains, its ledgers fold, and it stays
//     polite; URLs may be lost or come twice.
package sim
