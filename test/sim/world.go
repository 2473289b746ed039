package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/internal/kv"
	"github.com/weftcrawl/weft/internal/settings"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/processors"
	"github.com/weftcrawl/weft/processors/fetch/addresses"
	"github.com/weftcrawl/weft/processors/schedule/frontier"
	"github.com/weftcrawl/weft/topics"
)

// Result is what became of a case.
type Result struct {
	// Violation is the first one; nil: every invariant held.
	Violation *Violation
	// Took is the virtual time until the end. Sum depends on the order of events.
	Took time.Duration
	Sum  uint64
	// Requests to the web, and Counts of what happened.
	Requests int
	Counts   map[string]int
}

// Run runs a case. trace gets a line for everything that matters; nil: none.
func Run(c Case, trace *[]string) Result {
	w := newWorld(c, trace)
	w.run()
	return Result{Violation: w.violated, Took: w.now, Sum: w.sum, Requests: len(w.web.log), Counts: w.counts}
}

type world struct {
	agenda
	c          Case
	names      topics.Names
	partitions int32
	env        stage.Env
	budget     addresses.Options
	cluster    *cluster
	web        *web
	procs      []*process
	transforms map[topics.Stage]stage.Transform
	bugs       bugs
	control    topics.Control // as it was written last
	settings   map[string]topics.Setting

	lastFault        time.Duration // when the last fault is over
	lastActivity     time.Duration // when something was requested or written last
	leaped           time.Duration // how much of the time was leapt over
	crowds           map[string]*crowd
	oracles          map[topicPartition]*oracle
	violated         *Violation
	over             bool
	lostAcknowledged bool // a power cut lost what had been acknowledged
	counts           map[string]int
	lines            *[]string // trace; nil: none is kept
	sum              uint64    // of the order of events
}

// Violation is an invariant that does not hold.
type Violation struct {
	// Kind names the invariant. Text says what was found, and At when.
	Kind, Text string
	At         time.Duration
}

func (v *Violation) Error() string { return fmt.Sprintf("%s at %v: %s", v.Kind, v.At, v.Text) }

// violate ends the run with a violation, unless there was one before.
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
		c: c, names: topics.Loop("sim"), partitions: partitions, counts: map[string]int{}, settings: map[string]topics.Setting{}, lines: lines,
		agenda: agenda{rng: rand.New(rand.NewPCG(c.Seed, 3))}, transforms: map[topics.Stage]stage.Transform{},
	}
	w.bugs = bugs{w: w, latest: map[topicPartition]int64{}, maybe: map[int32]uint64{}, absent: map[string]bool{}}
	w.env = stage.Env{Names: w.names, Meter: stage.NoMeter{}, Definition: topics.Definition{
		Version: topics.DefinitionVersion, Crawl: "sim", Partitions: partitions, Scope: "any", MaxDepth: -1,
		DelayMS: delay.Milliseconds(), PerDomain: c.perDomain(), GiveUpAfterMS: c.giveUpAfter().Milliseconds(), MaxPages: c.MaxPages, MaxPagesPerDomain: c.PagesPerDomain,
		UserAgent: product + "/1",
	}}
	if c.MaxDepth > 0 {
		w.env.Definition.MaxDepth = c.MaxDepth
	}
	w.bugs.define(&w.env.Definition)
	for _, row := range processors.Loop(w.names) {
		if row.Transform == nil {
			continue
		}
		transform, err := row.Transform(w.env)
		if err != nil {
			panic(fmt.Sprintf("sim: stage %s: %v", row.Stage, err))
		}
		w.transforms[row.Stage] = transform
	}
	w.cluster = newCluster(w, w.names, partitions)
	w.web = newWeb(w, c)
	w.budget, w.crowds, w.oracles = c.budget(), map[string]*crowd{}, map[topicPartition]*oracle{}
	w.markOutages()
	w.seed()
	for i := range c.Processes {
		p := &process{
			w: w, name: fmt.Sprintf("p%d", i), disk: map[topicPartition]*checkpoint{}, shells: map[topics.Stage]shell{},
			instances: map[topics.Stage]*instance{}, clockSkew: w.between(-2*time.Second, 2*time.Second), pauses: stage.NewPauses(topics.Control{}),
			settings: stage.NewSettings(nil),
		}
		w.procs = append(w.procs, p)
		w.after(w.between(0, 2*time.Second), p.boot)
	}
	for _, f := range c.Faults {
		w.fixedAt(f.At, func() { w.inject(f) })
		w.lastFault = max(w.lastFault, f.end())
	}
	w.after(time.Second, w.watch)
	w.after(5*time.Second, w.janitor)
	return w
}

// stagesOf are the stages of a process. The first process runs all of them, so that
// there is one of each; the others leave some out.
func (w *world) stagesOf(p *process) []topics.Stage {
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

// seed writes the seeds, before the crawl begins.
func (w *world) seed() {
	for i, url := range w.web.seeds {
		l := w.cluster.log(w.names.Seeds, int32(i)%partitions)
		l.records = append(l.records, record{value: []byte(url), offset: l.end()})
		l.highWatermark = l.end()
	}
}

func (w *world) define(p *process, name topics.Stage) ledger.Processor {
	env := w.env
	if !w.bug("release-pause-ignored") {
		env.Pauses = p.pauses
	}
	env.Settings = w.bugs.settings(p)
	return processors.Find(w.names, name).Define(env, &p.diskLow)
}

// frontier returns a frontier on a state, to look at.
func (w *world) frontier(partition int32, store kv.Store) *frontier.Frontier {
	opts := settings.FrontierOptions(w.env.Definition)
	opts.Partition = partition
	return frontier.New(opts, store)
}

// pollInterval is the time between two looks at something. It is longer when nothing
// happens in the crawl.
func (w *world) pollInterval() time.Duration {
	if w.now-w.lastActivity > 30*time.Second {
		return w.between(2*time.Second, 5*time.Second)
	}
	return w.between(100*time.Millisecond, 300*time.Millisecond)
}

func (w *world) janitor() {
	w.cluster.trim()
	w.after(5*time.Second, w.janitor)
}

func (w *world) count(what string) { w.counts[what]++ }

func (w *world) trace(format string, args ...any) {
	w.sum = (w.sum ^ uint64(w.now)) * 0x100000001b3
	w.sum = (w.sum ^ uint64(len(format))) * 0x100000001b3
	if w.lines != nil {
		*w.lines = append(*w.lines, fmt.Sprintf("%12.6f  ", w.now.Seconds())+fmt.Sprintf(format, args...))
	}
}

// leastPatience is how long after the last fault every crawl may take to drain.
const leastPatience = 4 * time.Hour

// patience is how long after the last fault this crawl may take to drain. A site that never
// answers is given up some time later.
func (w *world) patience() time.Duration {
	patience := leastPatience
	for _, o := range w.web.hosts {
		if o.down || o.site.down || !o.site.healthy {
			return patience + w.c.GiveUpAfter
		}
	}
	return patience
}

// run runs the events until the crawl is drained, an invariant is violated, or the
// drained crawl is overdue.
func (w *world) run() {
	for !w.over && w.step() {
		if w.now > w.lastFault+leastPatience && w.now > w.lastFault+w.patience() {
			w.violate("drain", "not drained %v after the last fault: %s", w.patience(), w.left())
		}
	}
}

func encode(m proto.Message) []byte {
	value, err := proto.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("sim: marshal %T: %v", m, err))
	}
	return value
}
