package stage

import (
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/topics"
)

// Pauses are the stages of this process that are paused, as the crawl's control
// says. A paused stage takes no new input and begins no request. It finishes what
// it has begun, and stays in its group. Nil pauses nothing. Pauses are safe for
// concurrent use.
type Pauses struct {
	mu        sync.Mutex
	control   topics.Control
	changed   chan struct{} // closed and renewed at every Set
	followers map[*follower]struct{}
}

// follower is told the control at the start and at every Set.
type follower struct{ act func(topics.Control) }

// NewPauses returns the pauses that c asks for.
func NewPauses(c topics.Control) *Pauses { return &Pauses{control: c, changed: make(chan struct{})} }

// Set changes the pauses to those that c asks for. When it returns, the client of
// every paused stage is paused.
func (p *Pauses) Set(c topics.Control) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.control = c
	for f := range p.followers {
		f.act(c)
	}
	close(p.changed)
	p.changed = make(chan struct{})
}

// Control returns the control that was set last.
func (p *Pauses) Control() topics.Control {
	c, _ := p.now()
	return c
}

// now returns the control, and a channel that is closed when the control changes.
func (p *Pauses) now() (topics.Control, <-chan struct{}) {
	if p == nil {
		return topics.Control{}, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.control, p.changed
}

// follow calls act with the control now and at every Set, until end is called.
// act must neither wait nor call p.
func (p *Pauses) follow(act func(topics.Control)) (end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := &follower{act}
	if p.followers == nil {
		p.followers = map[*follower]struct{}{}
	}
	p.followers[f] = struct{}{}
	act(p.control)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.followers, f)
	}
}

// FollowPauses pauses client while its stage is paused. A paused client drops what
// it has read ahead and reads it again, so that a paused stage gets no record. end
// must be called before the client is closed.
func (e Env) FollowPauses(stage topics.Stage, client *kgo.Client) (end func()) {
	if e.Pauses == nil {
		return func() {}
	}
	inputs := e.Names.Inputs(stage)
	return e.Pauses.follow(func(c topics.Control) {
		if c.Pauses(stage) {
			client.PauseFetchTopics(inputs...)
		} else {
			client.ResumeFetchTopics(inputs...)
		}
	})
}
