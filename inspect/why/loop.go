package why

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/inspect/status"
	"github.com/weftcrawl/weft/internal/trouble"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/topics"
)

// loop is the state of the stages.
type loop struct {
	status status.Status
	// members of each stage's group: processes that run it.
	members map[topics.Stage]int
	// control is the control record of the crawl: pauses.
	control topics.Control
	// troubles are reports of the stages about themselves.
	troubles []trouble.Trouble
	// memory are reports of the processes about their memory.
	memory []trouble.Memory
	// freeBytes of disk, -1 if unknown.
	freeBytes int64
}

// disk returns what a scheduler says that releases nothing because of the free disk.
func (l loop) disk() (says string, full bool) {
	for _, t := range l.troubles {
		if t.Kind == trouble.Disk {
			return t.Says, true
		}
	}
	return "", false
}

// failing returns the last failure of a stage that ends again and again.
func (l loop) failing(stage topics.Stage) (failure trouble.Trouble, fails bool) {
	for _, t := range l.troubles {
		if t.Kind == trouble.Fails && t.Stage == stage {
			return t, true
		}
	}
	return trouble.Trouble{}, false
}

// idle reports whether a stage does nothing: no process runs it, or it fails.
func (l loop) idle(stage topics.Stage) bool {
	_, fails := l.failing(stage)
	return fails || l.members[stage] == 0
}

// lag of a stage in one partition of all its inputs, in records.
func (l loop) lag(stage topics.Stage, partition int32) (records int64) {
	for _, lag := range l.status.Lags {
		if lag.Stage == stage && lag.Partition == partition {
			records += lag.Behind()
		}
	}
	return records
}

// behind says why a stage has not read its inputs in a partition, as the rest of a
// sentence.
func (l loop) behind(stage topics.Stage, partition int32) string {
	failure, fails := l.failing(stage)
	switch lag := l.lag(stage, partition); {
	case fails:
		return fmt.Sprintf("; %s fails: %s", stage, failure.Says)
	case l.members[stage] == 0:
		return fmt.Sprintf("; no process runs %s", stage)
	case lag > 0:
		return fmt.Sprintf("; it is %s behind", plural(lag, "record"))
	}
	return ""
}

// look reads the state of the stages.
func (a *Asker) look(ctx context.Context) (loop, error) {
	l := loop{freeBytes: -1}
	var err error
	if l.status, err = a.status.Read(ctx); err != nil {
		return l, err
	}
	if l.members, err = status.Members(ctx, a.names, a.admin, topics.Stages()...); err != nil {
		return l, err
	}
	orders, err := topics.ReadOrders(ctx, a.names, a.opts.Client...)
	if err != nil {
		return l, err
	}
	l.control = orders.Control
	if l.troubles, err = trouble.Read(ctx, a.names, a.admin, time.Now()); err != nil {
		return l, err
	}
	if l.memory, err = trouble.ReadMemory(ctx, a.names, a.admin, time.Now()); err != nil {
		return l, err
	}
	if a.opts.Dir != "" {
		var disk unix.Statfs_t
		if err := unix.Statfs(a.opts.Dir, &disk); err != nil {
			return l, fmt.Errorf("free disk of %s: %w", a.opts.Dir, err)
		}
		l.freeBytes = int64(disk.Bavail) * disk.Bsize
	}
	return l, nil
}

// gauges returns the gauges of the last decision in a partition of scheduled.
func (a *Asker) gauges(ctx context.Context, partition int32) (*weftpb.Gauges, error) {
	bounds, err := a.logs.Bounds(ctx, a.names.Scheduled, partition)
	if err != nil {
		return nil, err
	}
	last, err := a.logs.LastDecision(ctx, a.names.Scheduled, partition, bounds[partition])
	if errors.Is(err, ledger.ErrCorrupt) && a.opts.Damaged != nil {
		a.opts.Damaged(partition, err)
		return nil, nil
	}
	return last.GetGauges(), err
}
