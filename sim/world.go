package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/fetch"
	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/politeness"
	"github.com/weftcrawl/weft/processors"
	"github.com/weftcrawl/weft/state"
	"github.com/weftcrawl/weft/topics"
)

// world is one run.
type world struct {
	agenda
	c          Case
	names      topics.Names
	partitions int32
	env        processors.Env
	cluster    *cluster
	web        *web
	procs      []*process
	transforms map[topics.Stage]processors.Transform
	bugs       bugs
	control    topics.Control // what people ask of the crawl

	calm     time.Duration // when the last fault is over
	busy     time.Duration // when something was written last
	violated *Violation
	over     bool
	lossy    bool // a power cut lost what had been acknowledged
	counts   map[string]int
	lines    *[]string // trace; nil: none is kept
	sum      uint64    // of the order of events
}

// Violation is an invariant that does not hold.
type Violation struct {
	// Kind names the invariant.
	Kind string
	// Text says what was found, and At when.
	Text string
	At   time.Duration
}

func (v *Violation) Error() string { return fmt.Sprintf("%s at %v: %s", v.Kind, v.At, v.Text) }

// violate ends the run with a violation; the first counts.
func (w *world) violate(kind, format string, args ...any) {
	if w.violated == nil {
		w.violated = &Violation{Kind: kind, Text: fmt.Sprintf(format, args...), At: w.now}
		w.trace("VIOLATION %v", w.violated)
		w.over = true
	}
}

const partitions = 2

// delay is the configured delay of the crawl.
const delay = 500 * time.Millisecond

func newWorld(c Case, lines *[]string) *world {
	w := &world{
		c: c, names: topics.Loop("sim"), partitions: partitions, counts: map[string]int{}, lines: lines,
		agenda: agenda{rng: rand.New(rand.NewPCG(c.Seed, 3))},
	}
	w.bugs = bugs{w: w, latest: map[place]int64{}, maybe: map[int32]uint64{}, absent: map[string]bool{}}
	w.env = processors.Env{Names: w.names, Meter: deaf{}, Definition: topics.Definition{
		Version: topics.DefinitionVersion, Crawl: "sim", Partitions: partitions, Scope: "any", MaxDepth: -1,
		DelayMS: delay.Milliseconds(), PerDomain: c.perDomain(), MaxPages: c.MaxPages, UserAgent: product + "/1",
	}}
	if c.MaxDepth > 0 {
		w.env.Definition.MaxDepth = c.MaxDepth
	}
	w.env.Definition.MaxPagesPerDomain = c.PagesPerDomain
	w.bugs.define(&w.env.Definition)
	normalize, err1 := processors.NewNormalize(w.env)
	parse, err2 := processors.NewParse(w.env)
	if err1 != nil || err2 != nil {
		panic(fmt.Sprintf("sim: stages: %v, %v", err1, err2))
	}
	w.transforms = map[topics.Stage]processors.Transform{topics.Normalize: normalize, topics.Parse: parse}
	w.cluster = newCluster(w, w.names, partitions)
	w.web = newWeb(w, c.Seed, c.Sites, c.Pages, c.Twins, c.Names)
	w.seed()
	for i := range c.Processes {
		p := &process{
			w: w, name: fmt.Sprintf("p%d", i), disk: map[place]*saved{}, stages: map[topics.Stage]stage{},
			lives: map[topics.Stage]*life{}, skew: w.between(-2*time.Second, 2*time.Second), brakes: processors.NewBrakes(topics.Control{}),
		}
		w.procs = append(w.procs, p)
		w.after(w.between(0, 2*time.Second), p.boots)
	}
	for _, f := range c.Faults {
		w.at(f.At, func() { w.strike(f) })
		w.calm = max(w.calm, f.end())
	}
	w.after(time.Second, w.watch)
	w.after(5*time.Second, w.janitor)
	return w
}

// roles are the stages of a process: the first runs all, so that there is one
// of each; the others leave some out.
func (w *world) roles(p *process) []topics.Stage {
	stages := topics.Stages()
	i := slices.Index(w.procs, p)
	if i <= 0 {
		if w.pagesOf(p) {
			stages = append(slices.Clone(stages), topics.Pages)
		}
		return stages
	}
	return slices.DeleteFunc(stages, func(s topics.Stage) bool {
		return (uint64(i)*2654435761+w.c.Seed+uint64(len(s)))%3 == 0
	})
}

// seed writes the seeds, as a client does before the crawl begins.
func (w *world) seed() {
	for i, url := range w.web.seeds {
		l := w.cluster.log(w.names.Seeds, int32(i)%partitions)
		l.records = append(l.records, record{value: []byte(url), offset: l.end()})
		l.seen = l.end()
	}
}

// define returns the declaration of a stateful stage.
func (w *world) define(p *process, name topics.Stage) ledger.Definition {
	env := w.env
	if name == topics.Dedupe {
		return processors.DefineDedupe(env)
	}
	if !w.bug(BugHoldIgnored) {
		env.Brakes = p.brakes
	}
	return processors.DefineSchedule(env, &p.hold)
}

// frontier returns a frontier that is only looked at.
func (w *world) frontier(partition int32, store state.Store) *frontier.Frontier {
	opts := processors.FrontierOptions(w.env.Definition)
	opts.Partition = partition
	return frontier.New(opts, store)
}

// rhythm is how often something is looked after: less often when all is quiet.
func (w *world) rhythm() time.Duration {
	if w.now-w.busy > 30*time.Second {
		return w.between(2*time.Second, 5*time.Second)
	}
	return w.between(100*time.Millisecond, 300*time.Millisecond)
}

func (w *world) janitor() {
	w.cluster.trim()
	w.after(5*time.Second, w.janitor)
}

func (w *world) count(what string) { w.counts[what]++ }

// trace books what happens. What is traced makes the sum of the run.
func (w *world) trace(format string, args ...any) {
	w.sum = (w.sum ^ uint64(w.now)) * 0x100000001b3
	w.sum = (w.sum ^ uint64(len(format))) * 0x100000001b3
	if w.lines != nil {
		*w.lines = append(*w.lines, fmt.Sprintf("%12.6f  ", w.now.Seconds())+fmt.Sprintf(format, args...))
	}
}

// patience is how long after the last fault a crawl may take to drain.
const patience = 4 * time.Hour

// run does everything until the crawl is drained, an invariant is violated, or
// patience is at an end.
func (w *world) run() {
	for !w.over && w.step() {
		if w.now > w.calm+patience {
			w.violate("drain", "not drained %v after the last fault: %s", patience, w.left())
		}
	}
}

// encode marshals a record of the loop.
func encode(m proto.Message) []byte {
	value, err := proto.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("sim: marshal %T: %v", m, err))
	}
	return value
}

// sortedPlaces returns the keys of a map in order, so that runs are the same.
func sortedPlaces[V any](m map[place]V) []place {
	keys := make([]place, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b place) int {
		if n := strings.Compare(a.topic, b.topic); n != 0 {
			return n
		}
		return int(a.partition - b.partition)
	})
	return keys
}

// deaf is a Meter that counts nothing.
type deaf struct{}

func (deaf) Rejected(topics.Stage, string)    {}
func (deaf) Normalized(string, int)           {}
func (deaf) Deduped(int, int, int)            {}
func (deaf) Ledger(topics.Stage, string)      {}
func (deaf) Exchange(*fetch.Exchange)         {}
func (deaf) Page(int)                         {}
func (deaf) Duplicate(int)                    {}
func (deaf) Slots(int)                        {}
func (deaf) Hurried(politeness.Violation)     {}
func (deaf) Tripped()                         {}
func (deaf) Outcomes(int32, map[string]int64) {}
