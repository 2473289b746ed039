package stage

import (
	"slices"
	"sync"

	"github.com/weftcrawl/weft/topics"
)

// Position is how far a worker is in a partition: it has begun all records before Next, and of
// these it has still the ones at the offsets Slow in its [Lane].
type Position struct {
	Next int64
	Slow []int64 // in order
}

// Positions knows how far the workers of a process are. That is further than their commits say if
// a slow record holds back the commit of those behind it. It is safe for concurrent use. nil knows
// no worker.
type Positions struct {
	mu      sync.Mutex
	workers map[topics.Stage]*worker
}

// NewPositions returns the positions of a process without workers.
func NewPositions() *Positions { return &Positions{workers: map[topics.Stage]*worker{}} }

// Of returns the positions of a stage in the partitions of a topic that this process has read.
func (p *Positions) Of(s topics.Stage, topic string) map[int32]Position {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	w := p.workers[s]
	p.mu.Unlock()
	if w == nil {
		return nil
	}
	return w.positions(topic)
}

// enter adds a worker, until leave.
func (p *Positions) enter(w *worker) (leave func()) {
	if p == nil {
		return func() {}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.workers[w.Stage] = w
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.workers, w.Stage)
	}
}

func (w *worker) positions(topic string) map[int32]Position {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make(map[int32]Position, len(w.progress))
	for of, progress := range w.progress {
		if of.topic == topic {
			all[of.partition] = Position{Next: progress.next, Slow: slices.Clone(progress.slow)}
		}
	}
	return all
}
