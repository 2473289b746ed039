package stage

import (
	"cmp"
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
	bytes  int64
	below  atomic.Value // string
	behind atomic.Value // string: what the archive lacks
}

// NewReserve returns a reserve of a number of bytes.
func NewReserve(bytes int64) *Reserve { return &Reserve{bytes: bytes} }

// Below says in words that less than the reserve was free when a stage last looked, or that the
// archive was behind. It is empty if neither was so, or if no stage has looked.
func (r *Reserve) Below() string {
	below, _ := r.below.Load().(string)
	behind, _ := r.behind.Load().(string)
	return cmp.Or(below, behind)
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
// env.Reserve is free on the disk of env.Dir, or the archive of the crawl is behind. A full disk
// is the one deadlock of a loop of logs, because topics give no backpressure. The first look at
// the disk is made before WatchReserve returns. reporter is the stage that looks at the archive
// and reports to the users; empty: it does not.
func WatchReserve(ctx context.Context, env Env, reporter topics.Stage) (low *atomic.Bool, stop func()) {
	low = new(atomic.Bool)
	below := env.Reserve.look(env.Dir)
	low.Store(below != "")
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		disk := holdReport{env: env, stage: reporter, kind: trouble.Disk, until: "there is room", log: "too little disk is free"}
		disk.look(ctx, below, time.Now())
		backlog := newBacklog(env, reporter)
		defer backlog.close()
		_ = supervise.Every(ctx, reserveEvery, func() error {
			below := env.Reserve.look(env.Dir)
			behind := backlog.look(ctx, time.Now())
			low.Store(below+behind != "")
			disk.look(ctx, below, time.Now())
			return nil
		})
	})
	return low, func() {
		cancel()
		watching.Wait()
	}
}

// holdReport reports to the users that nothing is released.
type holdReport struct {
	env         Env
	stage       topics.Stage
	kind        trouble.Kind
	until, log  string    // what ends it, and what it is
	since, told time.Time // zero: it does not hold
}

func (r *holdReport) look(ctx context.Context, because string, now time.Time) {
	switch {
	case r.stage == "":
	case because == "" && r.since.IsZero():
	case because == "":
		r.env.Logger.Warn("the crawl goes on", "because", r.until)
		r.env.Troubles.End(ctx, r.stage, r.kind)
		r.since = time.Time{}
	case r.since.IsZero() || now.Sub(r.told) >= trouble.Again:
		if r.since.IsZero() {
			r.env.Logger.Warn("nothing is fetched", "problem", r.log, "because", because, "until", r.until)
			r.since = now
		}
		r.told = now
		says := because
		if r.kind == trouble.Disk {
			says += ", in " + r.env.Dir
		}
		r.env.Troubles.Report(ctx, r.stage, trouble.Trouble{
			Kind: r.kind, Says: says + ": nothing is fetched until " + r.until, Since: r.since, At: now,
		})
	}
}
