package processors

import (
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/topics"
)

// Brakes hold the stages of this process as the crawl's control says. A stage
// that is held takes no new input and begins no request; what it has begun it
// finishes, and it stays in its group. Nil brakes hold nothing. They are safe
// for concurrent use.
type Brakes struct {
	mu        sync.Mutex
	control   topics.Control
	changed   chan struct{} // closed and renewed at every Set
	followers map[*follower]struct{}
}

// follower is told what holds at the start and at every Set.
type follower struct{ act func(topics.Control) }

// NewBrakes returns brakes that hold what c says.
func NewBrakes(c topics.Control) *Brakes { return &Brakes{control: c, changed: make(chan struct{})} }

// Set holds what c says from now on: when it returns, every client of a stage
// that is held is paused.
func (b *Brakes) Set(c topics.Control) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.control = c
	for f := range b.followers {
		f.act(c)
	}
	close(b.changed)
	b.changed = make(chan struct{})
}

// Control is what they were set to last.
func (b *Brakes) Control() topics.Control {
	c, _ := b.now()
	return c
}

// now returns what holds, and a channel that is closed when that changes.
func (b *Brakes) now() (topics.Control, <-chan struct{}) {
	if b == nil {
		return topics.Control{}, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.control, b.changed
}

// on tells whether a stage is held, and returns a channel that is closed when
// that may have changed.
func (b *Brakes) on(stage topics.Stage) (held bool, changed <-chan struct{}) {
	c, changed := b.now()
	return c.Pauses(stage), changed
}

// held tells whether a stage is held.
func (b *Brakes) held(stage topics.Stage) bool {
	held, _ := b.on(stage)
	return held
}

// follow calls act with what holds now and at every Set, until it is told to end.
// act must neither wait nor ask b.
func (b *Brakes) follow(act func(topics.Control)) (end func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := &follower{act}
	if b.followers == nil {
		b.followers = map[*follower]struct{}{}
	}
	b.followers[f] = struct{}{}
	act(b.control)
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.followers, f)
	}
}

// brake keeps client from taking input while its stage is held. What it had
// read ahead it drops and reads again, so that nothing passes a brake that is
// on. release must be called before the client is closed.
func (e Env) brake(stage topics.Stage, client *kgo.Client) (release func()) {
	if e.Brakes == nil {
		return func() {}
	}
	inputs := e.Names.Inputs(stage)
	return e.Brakes.follow(func(c topics.Control) {
		if c.Pauses(stage) {
			client.PauseFetchTopics(inputs...)
		} else {
			client.ResumeFetchTopics(inputs...)
		}
	})
}
