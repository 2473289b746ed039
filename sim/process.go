package sim

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/weftcrawl/weft/processors"
	"github.com/weftcrawl/weft/topics"
)

// process runs stages, on a machine of its own: with a disk, a wall clock that
// may be wrong, and a clock since boot that is not.
type process struct {
	w       *world
	name    string
	disk    map[place]*saved
	skew    time.Duration // of the wall clock
	until   time.Duration // stopped until then
	up      bool
	hold    atomic.Bool // the disk is nearly full
	brakes  *processors.Brakes
	told    topics.Control // what the process has heard last that people ask
	ending  bool           // it ends in good order
	pages   pageFile
	stages  map[topics.Stage]stage
	lives   map[topics.Stage]*life
	serials int
}

// stage is one life of a stage in a process.
type stage interface {
	// begin is called once.
	begin()
	// release is called when the life has ended, to let go of what is not in
	// the process: requests.
	release()
	// hear is called when people ask something of the crawl.
	hear()
	// stop ends the life in good order, by leave, in a while.
	stop()
}

// life is what ends at a crash: of a stage, or of the process.
type life struct {
	proc      *process
	name      string
	ended     bool
	producers []*producer
	member    *member
	fail      func(reason error)
}

// wall is what the process takes for the time.
func (p *process) wall() time.Time { return epoch.Add(p.w.now + p.skew) }

// mono is a clock that neither jumps nor stops.
func (p *process) mono() time.Time { return epoch.Add(p.w.now) }

// boot is the clock of the lease.
func (p *process) boot() time.Duration { return p.w.now + time.Hour }

// after does something in this life; when the process is stopped, once it goes
// on.
func (l *life) after(d time.Duration, do func()) { l.proc.w.after(d, func() { l.run(do) }) }

// run does something now; a process that is stopped does it soon after it goes
// on, in any order.
func (l *life) run(do func()) {
	w := l.proc.w
	switch {
	case l.ended:
	case l.proc.until > w.now:
		w.at(l.proc.until+w.between(0, 3*time.Millisecond), func() { l.run(do) })
	default:
		do()
	}
}

// inOrder is run for what must stay in order.
func (l *life) inOrder(do func()) {
	w := l.proc.w
	switch {
	case l.ended:
	case l.proc.until > w.now:
		w.at(l.proc.until, func() { l.inOrder(do) })
	default:
		do()
	}
}

// end ends a life. What it sent may still arrive.
func (l *life) end() {
	if l.ended {
		return
	}
	l.ended = true
	for _, p := range l.producers {
		p.end()
	}
}

// start starts a stage of a process that is up.
func (p *process) start(name topics.Stage) {
	p.serials++
	l := &life{proc: p, name: fmt.Sprintf("%s.%s.%d", p.name, name, p.serials)}
	var s stage
	switch name {
	case topics.Normalize, topics.Parse:
		s = newWorker(l, name)
	case topics.Dedupe, topics.Schedule:
		s = newOwner(l, name)
	case topics.Fetch:
		s = newFetcher(l)
	case topics.Pages:
		s = newSink(l)
	}
	l.fail = func(reason error) {
		if l.ended {
			return
		}
		p.w.trace("%s fails: %v", l.name, reason)
		p.endStage(name)
		if l.member != nil {
			l.member.leave()
		}
		p.w.after(p.w.between(200*time.Millisecond, 3*time.Second), func() { p.restart(name) })
	}
	p.stages[name], p.lives[name] = s, l
	p.w.trace("%s begins", l.name)
	s.begin()
}

// restart starts a stage that is not running.
func (p *process) restart(name topics.Stage) {
	if p.up && !p.ending && p.lives[name] == nil {
		p.start(name)
	}
}

// endStage ends a stage as a kill does.
func (p *process) endStage(name topics.Stage) {
	if l := p.lives[name]; l != nil {
		s := p.stages[name]
		delete(p.lives, name)
		delete(p.stages, name)
		l.end()
		s.release()
	}
}

// crash ends the process; it comes back after a while.
func (p *process) crash(away time.Duration) {
	p.w.trace("%s is killed", p.name)
	p.up, p.until, p.ending = false, 0, false
	for _, name := range p.w.roles(p) {
		p.endStage(name)
	}
	p.w.after(away, func() {
		if !p.up {
			p.boots()
		}
	})
}

func (p *process) boots() {
	p.up, p.told = true, p.w.control
	p.brakes = processors.NewBrakes(p.told)
	for _, name := range p.w.roles(p) {
		p.restart(name)
	}
}
