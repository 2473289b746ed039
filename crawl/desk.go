package crawl

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/processors"
	"github.com/weftcrawl/weft/topics"
)

// desk is where a process hears what people ask of the crawl (topics.Control).
type desk struct {
	names  topics.Names
	client []kgo.Opt
	next   int64 // offset in config of the first record that concerns us
	brakes *processors.Brakes
	log    *slog.Logger
	// stopped is closed when every stage of this process is asked to end: it
	// then ends as it does when it is interrupted, stage after stage.
	stopped chan struct{}

	mu   sync.Mutex
	ends map[topics.Stage]chan struct{} // closed when that stage alone is to end
}

// openDesk reads what is asked of the crawl at the moment, for a process that
// runs these stages.
func openDesk(ctx context.Context, names topics.Names, log *slog.Logger, stages []topics.Stage, client ...kgo.Opt) (*desk, error) {
	c, next, err := topics.ReadControl(ctx, names, client...)
	if err != nil {
		return nil, err
	}
	d := &desk{
		names: names, client: client, next: next, brakes: processors.NewBrakes(c), log: log,
		stopped: make(chan struct{}), ends: map[topics.Stage]chan struct{}{},
	}
	for _, s := range stages {
		d.ends[s] = make(chan struct{})
	}
	if what := c.String(); what != "" {
		log.Warn("the crawl does not go on as usual; weft resume lets it", "state", what)
	}
	return d, nil
}

// follow hears what is asked until ctx ends.
func (d *desk) follow(ctx context.Context) error {
	for {
		err := topics.FollowControl(ctx, d.names, d.next, d.hear, d.client...)
		if ctx.Err() != nil {
			return nil
		}
		d.log.Warn("hearing what is asked of the crawl failed", "error", err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
	}
}

// hear does what c asks. Hearing it again changes nothing.
func (d *desk) hear(c topics.Control) {
	d.log.Info("asked of the crawl", "state", c.String(), "stop", c.Stop)
	d.brakes.Set(c)
	d.mu.Lock()
	defer d.mu.Unlock()
	var alone []topics.Stage
	left := 0
	for s, end := range d.ends {
		switch {
		case isClosed(end):
		case c.Stops(s):
			alone = append(alone, s)
		default:
			left++
		}
	}
	if left > 0 {
		for _, s := range alone {
			close(d.ends[s])
		}
		return
	}
	if len(alone) > 0 && !isClosed(d.stopped) {
		close(d.stopped)
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// until returns a context that ends with ctx, or when the stage is asked to.
func (d *desk) until(ctx context.Context, stage topics.Stage) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	d.mu.Lock()
	end := d.ends[stage]
	d.mu.Unlock()
	var waiting sync.WaitGroup
	waiting.Go(func() {
		select {
		case <-end:
			cancel()
		case <-ctx.Done():
		}
	})
	return ctx, func() { cancel(); waiting.Wait() }
}

// settles tells whether the scheduler settles what is reported to it.
func (d *desk) settles() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	end, ours := d.ends[topics.Schedule]
	return ours && !isClosed(end) && !slices.Contains(d.brakes.Control().Paused, topics.Schedule)
}
