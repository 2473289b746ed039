package sim

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/topics"
)

// process runs stages on a machine of its own. The machine has a disk, a wall
// clock that may be wrong, and a clock since boot that is right.
type process struct {
	w           *world
	name        string
	disk        map[topicPartition]*checkpoint
	clockSkew   time.Duration // of the wall clock
	frozenUntil time.Duration
	up          bool
	diskLow     atomic.Bool // the disk is nearly full
	pauses      *stage.Pauses
	settings    *stage.Settings
	unlimited   *stage.Settings // of the bug per-day-ignored
	control     topics.Control  // the latest one that the process has read
	ending      bool            // the process ends in good order
	pages       pageFile
	shells      map[topics.Stage]shell
	instances   map[topics.Stage]*instance
	starts      int
}

// shell does for one instance of a stage what clients, goroutines and files do
// in a running crawl.
type shell interface {
	// start is called once.
	start()
	// release ends what outlives the process: open requests. It is called after
	// the instance has ended.
	release()
	// onControl is called when the process has read a new control.
	onControl()
	// stop ends the instance in good order. It returns at once; the instance
	// ends later, by leave.
	stop()
}

// baseShell is embedded in shells that have nothing to release, or nothing to do
// about a new control.
type baseShell struct{}

func (baseShell) release()   {}
func (baseShell) onControl() {}

// instance is one run of a stage in a process, from its start to its end. A
// crash of the process ends all its instances.
type instance struct {
	proc      *process
	name      string
	ended     bool
	producers []*producer
	member    *member
	fail      func(reason error)
}

// wall is the time by the process's wall clock.
func (p *process) wall() time.Time { return epoch.Add(p.w.now + p.clockSkew) }

// mono is the time by a clock that neither jumps nor stops.
func (p *process) mono() time.Time { return epoch.Add(p.w.now) }

// sinceBoot is the clock of the lease.
func (p *process) sinceBoot() time.Duration { return p.w.now - p.w.leaped + time.Hour }

// after calls do later. If the process is frozen then, do is called after it has
// thawed; if the instance has ended, do is not called.
func (i *instance) after(d time.Duration, do func()) { i.proc.w.after(d, func() { i.run(do) }) }

// run calls do now. If the process is frozen, do is called soon after it has
// thawed; the order of such calls is random.
func (i *instance) run(do func()) {
	w := i.proc.w
	switch {
	case i.ended:
	case i.proc.frozenUntil > w.now:
		w.at(i.proc.frozenUntil+w.between(0, 3*time.Millisecond), func() { i.run(do) })
	default:
		do()
	}
}

// inOrder is run for calls that must stay in order.
func (i *instance) inOrder(do func()) {
	w := i.proc.w
	switch {
	case i.ended:
	case i.proc.frozenUntil > w.now:
		w.at(i.proc.frozenUntil, func() { i.inOrder(do) })
	default:
		do()
	}
}

// wait calls then once done returns true, or at the deadline. It calls done now
// and then every period.
func (i *instance) wait(done func() bool, every, deadline time.Duration, then func()) {
	if done() || i.proc.w.now >= deadline {
		then()
		return
	}
	i.after(every, func() { i.wait(done, every, deadline, then) })
}

// end ends an instance. What it has sent may still arrive.
func (i *instance) end() {
	if i.ended {
		return
	}
	i.ended = true
	for _, p := range i.producers {
		p.end()
	}
}

func (p *process) start(name topics.Stage) {
	p.starts++
	i := &instance{proc: p, name: fmt.Sprintf("%s.%s.%d", p.name, name, p.starts)}
	var s shell
	switch topics.KindOf(name) {
	case topics.Worker:
		s = newWorker(i, name)
	case topics.Ledger:
		s = newLedgerStage(i, name)
	case topics.Follower:
		s = newFetcher(i)
	case topics.Sink:
		s = newPageWriter(i)
	}
	i.fail = func(reason error) {
		if i.ended {
			return
		}
		p.w.trace("%s fails: %v", i.name, reason)
		p.endStage(name)
		if i.member != nil {
			i.member.leave()
		}
		p.w.after(p.w.between(200*time.Millisecond, 3*time.Second), func() { p.restart(name) })
	}
	p.shells[name], p.instances[name] = s, i
	p.w.trace("%s starts", i.name)
	s.start()
}

// restart starts a stage that is not running.
func (p *process) restart(name topics.Stage) {
	if p.up && !p.ending && p.instances[name] == nil {
		p.start(name)
	}
}

// endStage ends a stage as a kill does.
func (p *process) endStage(name topics.Stage) {
	if i := p.instances[name]; i != nil {
		s := p.shells[name]
		delete(p.instances, name)
		delete(p.shells, name)
		i.end()
		s.release()
	}
}

// crash kills the process. It is started again after away.
func (p *process) crash(away time.Duration) {
	p.w.trace("%s is killed", p.name)
	p.up, p.frozenUntil, p.ending = false, 0, false
	for _, name := range p.w.stagesOf(p) {
		p.endStage(name)
	}
	p.w.after(away, func() {
		if !p.up {
			p.boot()
		}
	})
}

func (p *process) boot() {
	p.up, p.control = true, p.w.control
	p.pauses, p.settings = stage.NewPauses(p.control), stage.NewSettings(p.w.settings)
	p.unlimited = nil
	for _, name := range p.w.stagesOf(p) {
		p.restart(name)
	}
}
