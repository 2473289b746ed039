package crawl

import (
	"log/slog"
	"testing"

	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/topics"
)

// A process is told when all of its stages are to stop, once.
func TestOrderToStopIsTold(t *testing.T) {
	told := 0
	d := &controlListener{
		pauses: stage.NewPauses(topics.Control{}), log: slog.New(slog.DiscardHandler), stopped: make(chan struct{}), ordered: func() { told++ },
		ends: map[topics.Stage]chan struct{}{topics.Fetch: make(chan struct{}), topics.Parse: make(chan struct{})},
	}
	for _, c := range []struct {
		stop []topics.Stage
		told int
	}{{nil, 0}, {[]topics.Stage{topics.Fetch}, 0}, {topics.Stages(), 1}, {topics.Stages(), 1}} {
		if d.apply(topics.Control{Stop: c.stop}); told != c.told || isClosed(d.stopped) != (c.told > 0) {
			t.Errorf("stop %v: told %d times", c.stop, told)
		}
	}
}
