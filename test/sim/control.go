package sim

import (
	"errors"
	"time"

	"github.com/weftcrawl/weft/inspect/status"
	"github.com/weftcrawl/weft/topics"
)

// writeControl changes the crawl's control, as weft pause, resume and stop do.
// Each process reads it a moment later.
func (w *world) writeControl(change func(topics.Control) topics.Control) {
	w.control = change(w.control)
	w.trace("control: %s", w.control)
	for _, p := range w.procs {
		w.after(w.latency(), p.readControl)
	}
}

// stagesToPause are the stages that the n-th fault PauseStages pauses: one of
// them, or all.
func stagesToPause(n int) []topics.Stage {
	stages := topics.Stages()
	if n %= len(stages) + 1; n < len(stages) {
		return stages[n : n+1]
	}
	return stages
}

// pauseStages pauses stages for a while.
func (w *world) pauseStages(stages []topics.Stage, length time.Duration) {
	w.writeControl(func(c topics.Control) topics.Control { return c.WithPaused(true, stages...) })
	w.after(length, func() {
		w.writeControl(func(c topics.Control) topics.Control { return c.WithPaused(false, stages...) })
	})
}

// readControl gives the process and its stages the control as it is now.
func (p *process) readControl() {
	w := p.w
	switch {
	case !p.up: // it reads the control when it boots
	case p.frozenUntil > w.now:
		w.at(p.frozenUntil+w.between(0, 3*time.Millisecond), p.readControl)
	default:
		p.control = w.control
		p.pauses.Set(p.control)
		for _, name := range w.stagesOf(p) {
			if s := p.shells[name]; s != nil {
				s.onControl()
			}
		}
	}
}

// paused tells whether a stage of the process is paused.
func (p *process) paused(stage topics.Stage) bool { return p.pauses.Control().Pauses(stage) }

// drain is what weft stop --drain does: nothing new is released, and when nothing
// has been under way for a second, the processes end. If that moment does not
// come, the crawl goes on.
func (w *world) drain(away time.Duration) {
	w.writeControl(func(c topics.Control) topics.Control { c.Draining = true; return c })
	resume := func() { w.writeControl(func(c topics.Control) topics.Control { c.Draining = false; return c }) }
	deadline := w.now + drainPatience
	var quiet status.Quiet
	var look func()
	look = func() {
		read, err := w.status()
		switch {
		case w.now > deadline:
			resume()
		case err != nil && !errors.Is(err, errUnclean):
			w.violate("drain", "%v", err)
		case err == nil && quiet.Ended(read, epoch.Add(w.now)):
			w.trace("nothing is under way any more")
			w.count("drained")
			w.checkNoneOpen()
			resume() // an order to end ends the draining too
			for _, p := range w.procs {
				p.stop(func() { w.after(away, p.boot) })
			}
		default:
			w.after(200*time.Millisecond, look)
		}
	}
	look()
}

// drainPatience is how long people wait for a drain.
const drainPatience = 20 * time.Second
