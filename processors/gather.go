package processors

import (
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

// gathering waits for the acknowledgements of everything that one input made.
type gathering struct {
	finish func(error)

	mu   sync.Mutex
	left int
	err  error
}

// gather calls finish once, after n acknowledgements, with the first error.
func gather(n int, finish func(error)) func(*kgo.Record, error) {
	g := &gathering{left: n, finish: finish}
	return g.acknowledge
}

func (g *gathering) acknowledge(_ *kgo.Record, err error) {
	g.mu.Lock()
	if g.err == nil {
		g.err = err
	}
	g.left--
	done, first := g.left == 0, g.err
	g.mu.Unlock()
	if done {
		g.finish(first)
	}
}
