package crawl

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/topics"
)

// controlListener follows the control records of the crawl (topics.Control) and the settings of
// domains for a process.
type controlListener struct {
	names    topics.Names
	client   []kgo.Opt
	next     int64 // offset in config of the first record to follow
	pauses   *stage.Pauses
	settings *stage.Settings
	log      *slog.Logger
	// stopped is closed when all stages of this process are asked to stop. The process
	// then ends as after an interrupt, stage after stage.
	stopped chan struct{}
	ordered func() // is called at that moment

	mu   sync.Mutex
	ends map[topics.Stage]chan struct{} // closed when only that stage is to stop
}

// newControlListener reads the present records, for a process that runs these stages.
func newControlListener(ctx context.Context, names topics.Names, log *slog.Logger, stages []topics.Stage, client ...kgo.Opt) (*controlListener, error) {
	orders, err := topics.ReadOrders(ctx, names, client...)
	if err != nil {
		return nil, err
	}
	d := &controlListener{
		names: names, client: client, next: orders.Next, log: log,
		pauses: stage.NewPauses(orders.Control), settings: stage.NewSettings(orders.Settings),
		stopped: make(chan struct{}), ordered: func() {}, ends: map[topics.Stage]chan struct{}{},
	}
	for _, s := range stages {
		d.ends[s] = make(chan struct{})
	}
	if what := orders.Control.String(); what != "" {
		log.Warn("the crawl is paused or draining; weft resume ends that", "state", what)
	}
	return d, nil
}

func (d *controlListener) follow(ctx context.Context) error {
	for {
		err := topics.FollowOrders(ctx, d.names, d.next, topics.OrderFollower{Control: d.apply, Setting: d.set}, d.client...)
		if ctx.Err() != nil {
			return nil
		}
		d.log.Warn("reading control records failed", "error", err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
	}
}

func (d *controlListener) set(s topics.Setting) {
	d.log.Info("new setting of a domain", "domain", s.Domain, "blocked", s.Blocked, "reason", s.Reason)
	d.settings.Set(s)
}

// apply applies a control record. Applying it again changes nothing.
func (d *controlListener) apply(c topics.Control) {
	d.log.Info("control record", "state", c.String(), "stop", c.Stop)
	d.pauses.Set(c)
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
		d.ordered()
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

// until returns a context that ends with ctx, or when the stage is asked to stop.
func (d *controlListener) until(ctx context.Context, stage topics.Stage) (context.Context, context.CancelFunc) {
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

// settles reports whether the scheduler settles reported outcomes.
func (d *controlListener) settles() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	end, ours := d.ends[topics.Schedule]
	return ours && !isClosed(end) && !slices.Contains(d.pauses.Control().Paused, topics.Schedule)
}
