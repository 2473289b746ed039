// Package sim runs the whole loop in one goroutine under virtual time: brokers,
// consumer groups, processes, clocks and a web are simulated, and one random
// source, which a seed starts, draws every delay, every order and every fault.
// A run of minutes, with kills and pauses and lying brokers, takes some
// milliseconds, and the same case is the same run, event by event.
//
// # What is real
//
// All that decides is production's own code, not a copy of it:
//
//	ledger.Partition   folding, deciding, framing, positions, resuming, and what
//	                   timers wait for
//	ledger.Claiming    the steps of a claim, and the search for inputs that were
//	                   cut
//	ledger.Saving      when the state is copied and a checkpoint is published
//	ledger.Writer      fail-stop, free of gaps
//	ledger.Reader      which events count
//	processors         the declarations of dedupe and schedule (Define…), what
//	                   normalize and parse make of a record (New…), the commit
//	                   rule (Progress), boards and takeovers (Board, TakeOver,
//	                   Search), reports (Report), what exchanges mean (RobotsOf,
//	                   AnswerOf), whether a request may begin (Gate), how far parse
//	                   is behind (Backlog), what people hold (Brakes), the limit of
//	                   pages (Quota), with scope, urls, dedupe, frontier,
//	                   politeness, robots and parse behind them
//	lanes.Lane         what a domain's queue does next, and lanes.Choose: which of
//	                   its lanes takes a visit
//	lease.Lease        the right to make a request, and lease.Heartbeats: which
//	                   heartbeat extends it
//	drain.Reading      the drained test
//	replay             LastDecision, which takeovers and the drained test read
//
// What is simulated is what surrounds it: goka, franz-go, Pebble, the goroutines
// of lanes and workers, net/http, files. The shells here (owner and table,
// worker, fetcher and lane, sink) carry out what the above says, with others'
// steps possible between any two of theirs.
//
// # The simulated world
//
//   - agenda: what is to happen, by time. There is nothing else.
//   - cluster, log: a record that arrives is in its log at once, and is seen by
//     readers and acknowledged when it is replicated. Arrivals are in order for
//     one writer and one partition, nothing is between partitions.
//   - group: a coordinator. A partition is given away when its owner let go of
//     it, or was silent for the session's time-out.
//   - process: stages, a disk with checkpoints, a wall clock that may be wrong, a
//     clock since boot that is not. A process that is stopped does nothing, and
//     goes on with all that it was about to do: it is the zombie.
//   - web: sites from the seed, with redirects, errors, Retry-After, robots.txt
//     that disallow, ask for delays, fail, are missing or redirect to another
//     domain's. Sites may have two URLs for their pages, and exceptions, so that
//     dedupe learns rules, gives URLs up, and finds that it was wrong. Its access
//     log, in true time, is what politeness is judged from.
//
// # Faults
//
// A process or a stage is killed (what it sent may still arrive, or not), a
// process stops and goes on, a partition's leader ends and what is not
// replicated is cut, so that offsets are given again, a partition is away,
// refuses records, forgets to acknowledge them, or holds them twice; heartbeats
// are answered late; groups rebalance for no reason; wall clocks jump;
// checkpoints are damaged or lost; disks are full; and the power of an embedded
// broker's machine is cut. See Kind.
//
// Another program writes to the topics: garbage, nothing, text, half a record, a
// record of another topic or partition, copies of real records and of claims. In a
// ledger its record may take the place that the owner's next event was to have,
// and that event may be lost besides, so that the one behind it stands in its
// place. Only such a program's records may be rejected.
//
// # What people do
//
// A crawl may be told to keep one, two or three connections to a domain, to
// follow links to a depth, to take so many URLs of a domain, to end after so many pages (a crawl in one process,
// which writes them to a file), and how far parse may be behind. Stages are
// paused and resumed, in all processes, each of which hears of it in its own
// time. A process ends in good order, stage after stage, and comes back; or all
// do, once nothing is released any more and nothing is under way (--drain).
// Some cases have nothing but that, and no fault.
//
// # Invariants
//
// At each request: no more of a domain at once than it may have connections, and
// on each none before the delay in force (the configured one, Crawl-delay,
// Retry-After), no page before the robots.txt of its origin, none that it
// disallows, none more links from the next seed than allowed, none in a process
// that has heard that fetch is paused, and none past the gate while parse is too
// far behind. No visit is released while people hold releases, or the disk is
// nearly full.
//
// When a crawl is full, its file has as many pages as it was to have, each once,
// and nothing is asked any more. When it is said to have nothing under way,
// nothing is.
//
// At checkpoints, now and then, and at the end: the state is, key by key, the
// fold of the ledger from nothing; gauges are what a recount finds; a domain is
// in exactly one state and a URL in one place. No stage ever meets an error that
// only a person could mend.
//
// When the drained test says so, and not earlier: every seed, every link of a
// page that was fetched and every redirect's target is admitted, once, or held
// back, because its domain has had as many as it may have, or given up, once, for
// its other URL, which is admitted or held back, and has a page if it has an
// answer; each admitted one has one outcome, after four attempts at most; what was
// fetched was asked for and is parsed; nothing of a healthy site failed for good;
// no visit had to run out of its lease; and if nothing went wrong in its only
// process, nothing was asked for but what counts as an attempt, however often that
// was ended and started. By induction that is all that the rules reach. And the
// test does say so within a few hours of virtual time after the last fault.
//
// # Failing seeds
//
// A failure prints its seed, the smallest case that Shrink found to fail in the
// same way, and the end of its trace. With -update it is stored in testdata,
// where TestGoldenCases runs it for ever.
//
//	make sim SEEDS=5000
//	go test ./sim -run TestSeeds -first 4711 -seeds 1
//
// # Planted bugs
//
// A simulation that finds nothing may be blind. Each Bug breaks one rule, from
// the outside: in a shell, or in what a shell hands to production's code.
// TestPlantedBugsAreFound says within how many seeds each is found.
//
// # What it does not show
//
// The shells of production themselves: kfake, goka, franz-go, Pebble and net/http
// are what the tests with real processes are for. Shells of both kinds still
// have in common, as two programs, the order in which a process ends its stages
// and a fetcher its work (crawl, processors.Fetch; here stop), how a worker and a
// board are read, and that an event is appended after it is folded. Slots, WARC
// files, checkpoints in a bucket and bodies in an object store are not simulated,
// and a rebalance takes all partitions from everybody, where fetchers of
// production keep those that do not move. A request that is still being
// answered when its process is frozen for longer than a session; here answers
// take at most 2 s. That nothing is lost when a machine loses what had been
// acknowledged: with an embedded broker a power cut may. Such a crawl goes on
// and drains, its ledgers fold, and it stays polite (see PowerCut); the rest is
// not asked of it.
package sim
