package why

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/drain"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/trouble"
)

// loop is what is the matter around the domains.
type loop struct {
	status drain.Status
	// members of each stage's group: processes that run it.
	members map[topics.Stage]int
	// control is what people ask of the crawl: pauses.
	control topics.Control
	// troubles are what stages tell of themselves.
	troubles []trouble.Trouble
	// freeBytes of disk, -1 if unknown.
	freeBytes int64
}

// disk returns what a scheduler that holds back for want of disk says of it.
func (l loop) disk() (says string, held bool) {
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

// idle tells whether a stage does nothing: no process runs it, or it fails.
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

// look reads what is the matter around the domains.
func (a *Asker) look(ctx context.Context) (loop, error) {
	l := loop{members: map[topics.Stage]int{}, freeBytes: -1}
	var err error
	if l.status, err = a.status.Read(ctx); err != nil {
		return l, err
	}
	var groups []string
	for _, stage := range topics.Stages() {
		groups = append(groups, a.names.Group(stage))
	}
	described, err := a.admin.DescribeGroups(ctx, groups...)
	if err != nil {
		return l, fmt.Errorf("members of the groups of %s: %w", a.names.Crawl, err)
	}
	for _, stage := range topics.Stages() {
		l.members[stage] = len(described[a.names.Group(stage)].Members)
	}
	if l.control, _, err = topics.ReadControl(ctx, a.names, a.opts.Client...); err != nil {
		return l, err
	}
	if l.troubles, err = trouble.Read(ctx, a.names, a.admin, time.Now()); err != nil {
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

// gauges returns those of the last decision of a partition of scheduled.
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
