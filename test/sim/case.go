package sim

import (
	"math/rand/v2"
	"slices"
	"time"
)

// Case is everything that one run depends on: the same case is the same run, event
// by event.
type Case struct {
	Seed uint64 `json:"seed"`
	// Sites and Pages of each, made from the seed.
	Sites int `json:"sites"`
	Pages int `json:"pages"`
	// Variants: pages of some sites have two URLs, see web.addVariants.
	Variants bool `json:"variants,omitempty"`
	// DNSFailures: some host names do not exist, and some hosts do not answer, see
	// web.addDNSFailures.
	DNSFailures bool `json:"dns_failures,omitempty"`
	// Addresses are shared by all names; 0: each name has one of its own, without a budget.
	// AddressDelay and PerAddress are the budget of each but one, see web.giveAddresses.
	Addresses    int           `json:"addresses,omitempty"`
	AddressDelay time.Duration `json:"address_delay,omitempty"`
	PerAddress   int           `json:"per_address,omitempty"`
	// Throttles: some hosts answer only a number of requests a minute, see web.addThrottles.
	Throttles bool `json:"throttles,omitempty"`
	// GiveUpAfter is how long a host may be down; 0: 10 minutes.
	GiveUpAfter time.Duration `json:"give_up_after,omitempty"`
	// Processes: some run all stages and some run a few.
	Processes int `json:"processes"`
	// Embedded: the brokers are in the only process, and what is in their logs
	// may be gone after a power cut.
	Embedded bool `json:"embedded,omitempty"`
	// PerDomain is how many requests of a domain may be open; 0: one.
	PerDomain int `json:"per_domain,omitempty"`
	// MaxDepth is the most links between a seed and a page; 0: no limit.
	MaxDepth int `json:"max_depth,omitempty"`
	// PagesPerDomain is how many URLs of a domain are admitted, seeds besides; 0:
	// no limit. The others are parked, and stay so.
	PagesPerDomain int64 `json:"pages_per_domain,omitempty"`
	// MaxPages ends the crawl after so many pages are written; 0: no limit. Only a
	// crawl in one process has files of pages.
	MaxPages int64 `json:"max_pages,omitempty"`
	// Backlog is how many bytes parse may be behind a fetcher; 0: many.
	Backlog int64 `json:"backlog,omitempty"`
	// Faults in order of time.
	Faults []Fault `json:"faults,omitempty"`
	// Bug that is planted; empty: none.
	Bug Bug `json:"bug,omitempty"`
	// Finds is the violation that the case showed when it was stored.
	Finds string `json:"finds,omitempty"`
}

// Fault is something that goes wrong at a time.
type Fault struct {
	At   time.Duration `json:"at"`
	Kind Kind          `json:"kind"`
	// Process and Target are numbers of what it happens to.
	Process int `json:"process,omitempty"`
	Target  int `json:"target,omitempty"`
	// For is how long it lasts. Rate: it happens once in so many times.
	For  time.Duration `json:"for,omitempty"`
	Rate int           `json:"rate,omitempty"`
}

// Kind of a fault.
type Kind string

// What may go wrong.
const (
	KillProcess        Kind = "kill-process"
	KillStage          Kind = "kill-stage"            // Target is the stage
	Freeze             Kind = "freeze"                // a process stops, and goes on For later
	UncleanElection    Kind = "unclean-election"      // a partition's leader ends; what is not replicated is cut
	LeaderAway         Kind = "leader-away"           // a partition has no leader
	LeaderAwayThenKill Kind = "leader-away-then-kill" // and a process is killed meanwhile
	Reject             Kind = "reject"                // a partition refuses one append in Rate
	LoseAck            Kind = "lose-ack"              // a partition does not acknowledge one append in Rate
	WriteTwice         Kind = "write-twice"           // a partition of a transient topic writes one record in Rate twice
	ForeignWriter      Kind = "foreign-writer"        // another program writes to a partition, and in front of one record in Rate
	SlowCoordinator    Kind = "slow-coordinator"      // coordinators answer heartbeats late, and a process is frozen meanwhile
	ClockJump          Kind = "clock-jump"            // a wall clock is set, forward or back
	DamageCheckpoint   Kind = "damage-checkpoints"    // of a process
	LoseCheckpoint     Kind = "lose-checkpoints"
	DiskFull           Kind = "disk-full" // nothing may be released
	Rebalance          Kind = "rebalance" // of a group, without a reason
	PowerCut           Kind = "power-cut" // of an embedded broker and its process

	// What goes wrong with servers.
	Outage Kind = "outage" // a part of the site Target does not answer; Rate: which, and how
	Storm  Kind = "storm"  // a host of it answers with 429; Rate: with Retry-After if it is even

	// What people do is not a fault, but is drawn like one.
	PauseStages Kind = "pause-stages" // weft pause, of a stage or of all (Target), and weft resume
	SetDomain   Kind = "set-domain"   // weft domain, of the site Target: blocked, slower, or PerDay (Rate)
	Stop        Kind = "stop"         // a process ends in good order, and is started again
	Drain       Kind = "drain"        // weft stop --drain, and all processes are started again
)

// orders are what people do, each as often as it is drawn.
var orders = []Kind{PauseStages, PauseStages, Stop, Stop, Drain}

// faultless tells that nothing goes wrong with the processes and brokers of a case:
// there are only orders, and records of foreign writers.
func (c Case) faultless() bool {
	return !slices.ContainsFunc(c.Faults, func(f Fault) bool {
		return f.Kind != ForeignWriter && f.Kind != SetDomain && f.Kind != Outage && f.Kind != Storm && !slices.Contains(orders, f.Kind)
	})
}

func (c Case) perDomain() int { return max(c.PerDomain, 1) }

func (c Case) giveUpAfter() time.Duration {
	if c.GiveUpAfter > 0 {
		return c.GiveUpAfter
	}
	return 10 * time.Minute
}

func (c Case) backlogBytes() int64 {
	if c.Backlog == 0 {
		return 64 << 20
	}
	return c.Backlog
}

// kinds are the faults that are drawn, each as often as it is in the list.
var kinds = []Kind{
	KillProcess, KillProcess, KillStage, KillStage, KillStage, Freeze, Freeze, Freeze, UncleanElection, UncleanElection, LeaderAway,
	LeaderAwayThenKill, LeaderAwayThenKill, WriteTwice, WriteTwice, SlowCoordinator, Reject, Reject, LoseAck, ClockJump, DamageCheckpoint,
	LoseCheckpoint, DiskFull, Rebalance, Rebalance,
}

// longest is how long faults last at most. largestRate is of those that happen to
// one record in so many.
var (
	longest = map[Kind]time.Duration{
		KillProcess: 12 * time.Second, Freeze: 25 * time.Second, LeaderAway: 8 * time.Second, LeaderAwayThenKill: 8 * time.Second,
		DiskFull: 8 * time.Second, UncleanElection: 2 * time.Second, SlowCoordinator: 30 * time.Second, WriteTwice: 20 * time.Second,
		Reject: 5 * time.Second, LoseAck: 5 * time.Second, ClockJump: 4 * time.Hour,
	}
	largestRate = map[Kind]int{WriteTwice: 3, Reject: 10, LoseAck: 10}
)

// faultsWithin is when faults happen.
const faultsWithin = 32 * time.Second

// NewCase draws a case from a seed. Later additions to cases are drawn from sources of their own,
// so that a seed still draws the same case.
func NewCase(seed uint64) Case {
	source := func(n uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, n)) }
	c := plainCase(seed)
	c.drawAddresses(source(15))
	c.drawThrottles(source(17))
	c.drawOutages(source(19))
	return c
}

// plainCase is a case without addresses, limits of hosts, and outages.
func plainCase(seed uint64) Case {
	source := func(n uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, n)) }
	rng := source(2)
	c := Case{Seed: seed, Sites: 1 + rng.IntN(4), Pages: 3 + rng.IntN(12), Processes: 1 + rng.IntN(3)}
	at := time.Duration(0)
	for range rng.IntN(14) {
		at += upTo(rng, faultsWithin/8)
		f := Fault{At: at, Kind: kinds[rng.IntN(len(kinds))], Process: rng.IntN(c.Processes), Target: rng.IntN(1000)}
		if most := longest[f.Kind]; most > 0 {
			f.For = upTo(rng, most)
		}
		if most := largestRate[f.Kind]; most > 0 {
			f.Rate = 1 + rng.IntN(most)
		}
		if f.Kind == ClockJump {
			f.For -= longest[ClockJump] / 2
		}
		c.Faults = append(c.Faults, f)
	}
	if c.Embedded = c.Processes == 1 && rng.IntN(2) == 0; c.Embedded && rng.IntN(3) == 0 {
		c.Faults = append(c.Faults, Fault{At: upTo(rng, faultsWithin), Kind: PowerCut, For: 10 * time.Second, Rate: 1 + rng.IntN(20)})
	}
	c.drawLimits(source(4))
	if rng := source(5); rng.IntN(5) == 0 {
		c.PagesPerDomain = int64(1 + rng.IntN(12))
	}
	c.Variants = source(7).IntN(2) == 0
	c.DNSFailures = source(9).IntN(2) == 0
	c.drawForeignWriters(source(11))
	c.drawSettings(source(13))
	return c
}

// upTo draws a duration below most.
func upTo(rng *rand.Rand, most time.Duration) time.Duration {
	return time.Duration(rng.Int64N(int64(most)))
}

// drawLimits draws the limits of the crawl, and what people do with it.
func (c *Case) drawLimits(rng *rand.Rand) {
	c.PerDomain = []int{1, 1, 1, 2, 3}[rng.IntN(5)]
	if rng.IntN(4) == 0 {
		c.MaxDepth = 1 + rng.IntN(3)
	}
	if c.Processes == 1 && rng.IntN(3) == 0 {
		c.MaxPages = int64(1 + rng.IntN(16))
	}
	if rng.IntN(3) == 0 {
		c.Backlog = int64(1 + rng.IntN(800))
	}
	n := rng.IntN(3)
	if rng.IntN(6) == 0 {
		c.Faults, n = nil, 1+rng.IntN(5)
	}
	for range n {
		c.Faults = append(c.Faults, Fault{
			At: upTo(rng, faultsWithin), Kind: orders[rng.IntN(len(orders))],
			Process: rng.IntN(c.Processes), Target: rng.IntN(1000), For: upTo(rng, 15*time.Second),
		})
	}
}

// drawForeignWriters draws what other programs write to the topics.
func (c *Case) drawForeignWriters(rng *rand.Rand) {
	if rng.IntN(3) > 0 {
		return
	}
	for range 1 + rng.IntN(4) {
		c.Faults = append(c.Faults, Fault{
			At: upTo(rng, faultsWithin), Kind: ForeignWriter, Target: rng.IntN(1000), For: upTo(rng, 20*time.Second), Rate: 1 + rng.IntN(30),
		})
	}
}

// drawThrottles draws whether hosts answer only a number of requests a minute. They have more
// pages than in other crawls, and in half of these crawls nothing goes wrong.
func (c *Case) drawThrottles(rng *rand.Rand) {
	if rng.IntN(8) > 0 {
		return
	}
	c.Throttles, c.GiveUpAfter, c.Pages = true, 6*time.Hour, c.Pages+8
	if rng.IntN(2) == 0 {
		c.Faults = nil
	}
}

// drawAddresses draws addresses that names share, and their budgets. There are more names then.
func (c *Case) drawAddresses(rng *rand.Rand) {
	if rng.IntN(6) > 0 {
		return
	}
	c.Sites, c.Addresses = 3+rng.IntN(6), 1+rng.IntN(3)
	c.AddressDelay = []time.Duration{0, 300 * time.Millisecond, time.Second, 2 * time.Second}[rng.IntN(4)]
	if c.PerAddress = rng.IntN(4); c.AddressDelay == 0 {
		c.PerAddress = 1 + rng.IntN(3)
	}
}

// drawSettings draws what people ask for single domains.
func (c *Case) drawSettings(rng *rand.Rand) {
	if rng.IntN(3) > 0 {
		return
	}
	for range 1 + rng.IntN(3) {
		c.Faults = append(c.Faults, Fault{
			At: upTo(rng, faultsWithin), Kind: SetDomain, Process: rng.IntN(12), Target: rng.IntN(1000), For: upTo(rng, 40*time.Second), Rate: rng.IntN(3),
		})
	}
}
