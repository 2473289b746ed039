package stage

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weftcrawl/weft/internal/supervise"
	"github.com/weftcrawl/weft/internal/trouble"
	"github.com/weftcrawl/weft/topics"
)

// reserveEvery is the time between two looks at the free disk.
const reserveEvery = 2 * time.Second

// Reserve is the free disk of Env.Dir below which nothing is released. The stages that
// watch it share what they saw last. It is safe for concurrent use.
type Reserve struct {
	bytes int64
	below atomic.Value // string
}

// NewReserve returns a reserve of a number of bytes.
func NewReserve(bytes int64) *Reserve { return &Reserve{bytes: bytes} }

// Below says in words that less than the reserve was free when a stage last looked. It is
// empty if there was more, or if no stage has looked.
func (r *Reserve) Below() string {
	below, _ := r.below.Load().(string)
	return below
}

// look looks at the disk of dir. A file system that does not answer does not stop the
// crawl.
func (r *Reserve) look(dir string) string {
	below := ""
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err == nil {
		below = belowReserve(fs.Bavail*uint64(fs.Bsize), uint64(r.bytes))
	}
	r.below.Store(below)
	return below
}

// belowReserve is what Reserve.Below says of these numbers of bytes.
func belowReserve(free, reserve uint64) string {
	if free >= reserve {
		return ""
	}
	const mib = 1 << 20
	return fmt.Sprintf("disk: %d MiB free, below --disk-reserve %d MiB", free/mib, reserve/mib)
}

// WatchReserve keeps low up to date until ctx ends or stop is called: whether less than
// env.Reserve is free on the disk of env.Dir. A full disk is the one deadlock of a loop of
// logs, because topics give no backpressure. The first look is made before WatchReserve
// returns. reporter is the stage that reports it to the users; empty: no stage does.
func WatchReserve(ctx context.Context, env Env, reporter topics.Stage) (low *atomic.Bool, stop func()) {
	low = new(atomic.Bool)
	below := env.Reserve.look(env.Dir)
	low.Store(below != "")
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		report := reserveReport{env: env, stage: reporter}
		report.look(ctx, below, time.Now())
		_ = supervise.Every(ctx, reserveEvery, func() error {
			below := env.Reserve.look(env.Dir)
			low.Store(below != "")
			report.look(ctx, below, time.Now())
			return nil
		})
	})
	return low, func() {
		cancel()
		watching.Wait()
	}
}

// reserveReport reports to the users that less than the reserve is free.
type reserveReport struct {
	env         Env
	stage       topics.Stage
	since, told time.Time // zero: it is not below
}

func (r *reserveReport) look(ctx context.Context, below string, now time.Time) {
	switch {
	case r.stage == "":
	case below == "" && r.since.IsZero():
	case below == "":
		r.env.Logger.Warn("the disk has room again: the crawl goes on")
		r.env.Troubles.End(ctx, r.stage, trouble.Disk)
		r.since = time.Time{}
	case r.since.IsZero() || now.Sub(r.told) >= trouble.Again:
		if r.since.IsZero() {
			r.env.Logger.Warn("too little disk is free: nothing is fetched until there is room", "because", below)
			r.since = now
		}
		r.told = now
		r.env.Troubles.Report(ctx, r.stage, trouble.Trouble{
			Kind: trouble.Disk, Says: below + ", in " + r.env.Dir + ": nothing is fetched until there is room", Since: r.since, At: now,
		})
	}
}
