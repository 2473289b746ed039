package stage

import (
	"context"
	"sync"
	"time"

	"github.com/weftcrawl/weft/internal/supervise"
	"github.com/weftcrawl/weft/internal/trouble"
	"github.com/weftcrawl/weft/topics"
)

// overTimeout bounds the report that a stage works again. It may be made when the process
// ends, and must not hold up the end.
const overTimeout = 500 * time.Millisecond

// failures tells the users of the crawl that a stage of this process ended by itself, and
// when it works again. A stage has a supervisor for each of its partitions.
type failures struct {
	env   Env
	stage topics.Stage

	mu      sync.Mutex
	failing int // supervisors whose failures are not over
}

func (f *failures) failed(ctx context.Context, what supervise.Failure) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if what.First {
		f.failing++
	}
	f.env.Troubles.Report(ctx, f.stage, trouble.Trouble{
		Kind: trouble.Fails, Says: what.Err.Error(), Times: what.Times, Since: what.Since, At: time.Now(),
	})
}

func (f *failures) over(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failing--; f.failing > 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, overTimeout)
	defer cancel()
	f.env.Troubles.End(ctx, f.stage, trouble.Fails)
}
