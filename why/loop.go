package why

import (
	"context"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/drain"
	"github.com/weftcrawl/weft/topics"
)

// loop is what is the matter around the domains.
type loop struct {
	status drain.Status
	// members of each stage's group: processes that run it.
	members map[topics.Stage]int
	// control is what people ask of the crawl: pauses.
	control topics.Control
	// freeBytes of disk, -1 if unknown; below the reserve nothing is released.
	freeBytes, reserve int64
}

// held tells whether the disk is so full that nothing is released.
func (l loop) held() bool { return l.freeBytes >= 0 && l.freeBytes < l.reserve }

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
	l := loop{members: map[topics.Stage]int{}, freeBytes: -1, reserve: a.opts.Reserve}
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
	return last.GetGauges(), err
}
