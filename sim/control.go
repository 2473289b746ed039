package sim

import (
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/topics"
)

// ask is what people ask of the crawl: each process hears of it in a while.
func (w *world) ask(change func(topics.Control) topics.Control) {
	w.control = change(w.control)
	w.trace("asked of the crawl: %s", w.control)
	for _, p := range w.procs {
		w.after(w.latency(), p.hear)
	}
}

// holdStages are the stages that a Hold pauses: one of them, or all.
func holdStages(place int) []topics.Stage {
	stages := topics.Stages()
	if n := place % (len(stages) + 1); n < len(stages) {
		return stages[n : n+1]
	}
	return stages
}

// hold pauses stages for a while.
func (w *world) hold(stages []topics.Stage, length time.Duration) {
	w.ask(func(c topics.Control) topics.Control { return c.WithPaused(true, stages...) })
	w.after(length, func() {
		w.ask(func(c topics.Control) topics.Control { return c.WithPaused(false, stages...) })
	})
}

// hear tells a process what is asked of the crawl at the moment.
func (p *process) hear() {
	w := p.w
	switch {
	case !p.up: // it reads that when it boots
	case p.until > w.now:
		w.at(p.until+w.between(0, 3*time.Millisecond), p.hear)
	default:
		p.told = w.control
		p.brakes.Set(p.told)
		for _, name := range w.roles(p) {
			if s := p.stages[name]; s != nil {
				s.hear()
			}
		}
	}
}

// paused tells whether a stage of the process is held.
func (p *process) paused(stage topics.Stage) bool { return p.brakes.Control().Pauses(stage) }

// judgeHold looks at an event that is decided: while people hold releases, or
// the disk is nearly full, there must be none.
func (t *table) judgeHold(event []byte) {
	p := t.life.proc
	if t.stage != topics.Schedule || !p.told.Holds() && !p.hold.Load() {
		return
	}
	var ev weftpb.Event
	var body weftpb.Scheduled
	if err := proto.Unmarshal(event, &ev); err == nil {
		err = proto.Unmarshal(ev.Body, &body)
		if err != nil {
			t.w.violate("ledger", "%s: %v", t.life.name, err)
		}
	}
	if len(body.Released) > 0 {
		t.w.violate("released", "%s releases a visit while that is held (%v)", t.life.name, p.told)
	}
}
