package sim

import (
	"math/rand/v2"
	"slices"
	"time"
)

// Case is one run, down to its last step: the same case is the same run.
type Case struct {
	Seed uint64 `json:"seed"`
	// Sites and Pages of each, made from the seed.
	Sites int `json:"sites"`
	Pages int `json:"pages"`
	// Twins: pages may have two URLs, see web.twins.
	Twins bool `json:"twins,omitempty"`
	// Names: some do not exist, and some hosts are down alone; see web.names.
	Names bool `json:"names,omitempty"`
	// Processes, of which some run all stages and some a few.
	Processes int `json:"processes"`
	// Embedded: the brokers are in the only process, and what is in their logs
	// may be gone after a power cut.
	Embedded bool `json:"embedded,omitempty"`
	// PerDomain is how many requests of a domain may be open; 0: one.
	PerDomain int `json:"per_domain,omitempty"`
	// MaxDepth is the most links between a seed and a page; 0: no limit.
	MaxDepth int `json:"max_depth,omitempty"`
	// PagesPerDomain is how many URLs of a domain are admitted, seeds besides; 0:
	// all. What is held back is lifted by nobody.
	PagesPerDomain int64 `json:"pages_per_domain,omitempty"`
	// MaxPages ends the crawl when so many are written; 0: no limit. Only a
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
	// Process and Place are numbers of what it happens to.
	Process int `json:"process,omitempty"`
	Place   int `json:"place,omitempty"`
	// For is how long it lasts, Rate that it happens once in so many.
	For  time.Duration `json:"for,omitempty"`
	Rate int           `json:"rate,omitempty"`
}

// Kind of a fault.
type Kind string

// What may go wrong.
const (
	KillProcess      Kind = "kill-process"
	KillStage        Kind = "kill-stage"         // Place says which
	Pause            Kind = "pause"              // a process stops, and goes on For later
	Unclean          Kind = "unclean-end"        // a partition's leader ends; what is not replicated is cut
	Away             Kind = "broker-away"        // a partition has no leader
	Reject           Kind = "reject"             // a partition refuses one append in Rate
	Forget           Kind = "forget"             // a partition does not acknowledge one append in Rate
	Repeat           Kind = "repeat"             // a partition of a transient topic writes one record in Rate twice
	Stranger         Kind = "stranger"           // another program writes to a partition, and takes the place of one record in Rate
	AwayThenKill     Kind = "away-then-kill"     // a partition has no leader, and a process is killed meanwhile
	Sluggish         Kind = "sluggish"           // coordinators answer heartbeats late, and a process stops meanwhile
	ClockJump        Kind = "clock-jump"         // a wall clock is set, forth or back
	DamageCheckpoint Kind = "damage-checkpoints" // of a process
	LoseCheckpoint   Kind = "lose-checkpoints"
	DiskFull         Kind = "disk-full" // nothing may be released
	Rebalance        Kind = "rebalance" // of a group, without a reason
	PowerCut         Kind = "power-cut" // of an embedded broker and its process

	// What people do is no fault, but comes like one.
	Hold  Kind = "hold"  // weft pause, of a stage or all, and weft resume; Place says which
	Stop  Kind = "stop"  // a process ends in good order, and is started again
	Drain Kind = "drain" // weft stop --drain, and all processes are started again
)

// orders are what people do.
var orders = []Kind{Hold, Hold, Stop, Stop, Drain}

// calm tells that nothing goes wrong with the processes and brokers of a case: there
// are only orders, and what other programs write.
func (c Case) calm() bool {
	return !slices.ContainsFunc(c.Faults, func(f Fault) bool { return f.Kind != Stranger && !slices.Contains(orders, f.Kind) })
}

func (c Case) perDomain() int { return max(c.PerDomain, 1) }

func (c Case) backlogBytes() int64 {
	if c.Backlog == 0 {
		return 64 << 20
	}
	return c.Backlog
}

// kinds are the faults that are drawn, each as often as it stands here.
var kinds = []Kind{
	KillProcess, KillProcess, KillStage, KillStage, KillStage, Pause, Pause, Pause, Unclean, Unclean, Away,
	AwayThenKill, AwayThenKill, Repeat, Repeat, Sluggish, Reject, Reject, Forget, ClockJump, DamageCheckpoint, LoseCheckpoint, DiskFull, Rebalance, Rebalance,
}

// faultsWithin is when faults happen.
const faultsWithin = 32 * time.Second

// NewCase draws a case from a seed.
func NewCase(seed uint64) Case {
	rng := rand.New(rand.NewPCG(seed, 2))
	c := Case{Seed: seed, Sites: 1 + rng.IntN(4), Pages: 3 + rng.IntN(12), Processes: 1 + rng.IntN(3)}
	at := time.Duration(0)
	for range rng.IntN(14) {
		at += time.Duration(rng.Int64N(int64(faultsWithin / 8)))
		f := Fault{At: at, Kind: kinds[rng.IntN(len(kinds))], Process: rng.IntN(c.Processes), Place: rng.IntN(1000)}
		switch f.Kind {
		case KillProcess:
			f.For = time.Duration(rng.Int64N(int64(12 * time.Second)))
		case Pause:
			f.For = time.Duration(rng.Int64N(int64(25 * time.Second)))
		case Away, AwayThenKill, DiskFull:
			f.For = time.Duration(rng.Int64N(int64(8 * time.Second)))
		case Unclean:
			f.For = time.Duration(rng.Int64N(int64(2 * time.Second)))
		case Sluggish:
			f.For = time.Duration(rng.Int64N(int64(30 * time.Second)))
		case Repeat:
			f.For, f.Rate = time.Duration(rng.Int64N(int64(20*time.Second))), 1+rng.IntN(3)
		case Reject, Forget:
			f.For, f.Rate = time.Duration(rng.Int64N(int64(5*time.Second))), 1+rng.IntN(10)
		case ClockJump:
			f.For = time.Duration(rng.Int64N(int64(4*time.Hour))) - 2*time.Hour
		}
		c.Faults = append(c.Faults, f)
	}
	if c.Embedded = c.Processes == 1 && rng.IntN(2) == 0; c.Embedded && rng.IntN(3) == 0 {
		c.Faults = append(c.Faults, Fault{
			At: time.Duration(rng.Int64N(int64(faultsWithin))), Kind: PowerCut, For: 10 * time.Second, Rate: 1 + rng.IntN(20),
		})
	}
	c.limits(rand.New(rand.NewPCG(seed, 4)))
	c.strangers(rand.New(rand.NewPCG(seed, 11)))
	return c
}

// strangers draws what another program writes to the topics.
func (c *Case) strangers(rng *rand.Rand) {
	if rng.IntN(3) > 0 {
		return
	}
	for range 1 + rng.IntN(4) {
		c.Faults = append(c.Faults, Fault{
			At: time.Duration(rng.Int64N(int64(faultsWithin))), Kind: Stranger, Place: rng.IntN(1000),
			For: time.Duration(rng.Int64N(int64(20 * time.Second))), Rate: 1 + rng.IntN(30),
		})
	}
}

// limits draws what a crawl is told to keep within, and what people do with it.
func (c *Case) limits(rng *rand.Rand) {
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
	if own := rand.New(rand.NewPCG(c.Seed, 5)); own.IntN(5) == 0 {
		c.PagesPerDomain = int64(1 + own.IntN(12))
	}
	c.Names = rand.New(rand.NewPCG(c.Seed, 9)).IntN(2) == 0
	c.Twins = rand.New(rand.NewPCG(c.Seed, 7)).IntN(2) == 0
	n := rng.IntN(3)
	if rng.IntN(6) == 0 {
		c.Faults, n = nil, 1+rng.IntN(5)
	}
	for range n {
		c.Faults = append(c.Faults, Fault{
			At: time.Duration(rng.Int64N(int64(faultsWithin))), Kind: orders[rng.IntN(len(orders))],
			Process: rng.IntN(c.Processes), Place: rng.IntN(1000), For: time.Duration(rng.Int64N(int64(15 * time.Second))),
		})
	}
}
