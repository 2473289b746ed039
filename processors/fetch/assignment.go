package fetch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/internal/topiclog"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/processors/fetch/hostqueue"
	"github.com/weftcrawl/weft/processors/fetch/lease"
)

// assignment is the partitions of scheduled that the group has assigned to this
// process.
type assignment struct {
	env        stage.Env
	margin     time.Duration // see Takeover.Margin
	logs       *topiclog.Reader
	lease      *lease.Lease
	beats      *lease.Heartbeats
	partitions *partitions
	backlog    *backpressure
	reporter   *reporter
	fetched    *stage.Outbox
	queues     *hostqueue.Queues
	life       context.Context
}

// onAssigned takes over partitions that the group assigned. It says from which
// offset each is read: what the last record calls oldest. Their work starts later,
// see completeTakeovers.
func (a *assignment) onAssigned(ctx context.Context, offsets map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
	a.beats.Assigned()
	topic := a.env.Names.Scheduled
	assigned := slices.Collect(maps.Keys(offsets[topic]))
	decided, err := a.logs.Bounds(ctx, topic, assigned...)
	if err != nil {
		return nil, err
	}
	reported, err := a.logs.Bounds(ctx, a.env.Names.Visited, assigned...)
	if err != nil {
		return nil, err
	}
	for _, number := range assigned {
		log := decided[number]
		last, err := a.logs.LastDecision(ctx, topic, number, log)
		if errors.Is(err, ledger.ErrCorrupt) {
			err = fmt.Errorf("%w: %w", stage.ErrFatal, err)
		}
		if err != nil {
			return nil, err
		}
		visits := TakeOver(a.life, Takeover{
			Topic: topic, Start: log.Start, End: log.End, Last: last, Reported: reported[number].End,
			At: time.Now(), Margin: a.margin, Alone: a.env.Embedded,
		})
		a.partitions.put(number, &partition{visits: visits, inFlight: newInFlight()})
		offsets[topic][number] = kgo.NewOffset().At(visits.Next())
	}
	return offsets, nil
}

// onRevoked ends what is begun in partitions that are about to go to another
// fetcher, and then all their work. No request begins in them any more. Requests in
// flight have landTimeout. What they brought is acknowledged, and what is
// acknowledged is reported. A request that takes longer is cut off and reported as
// cut off; only such a request is made again.
func (a *assignment) onRevoked(lost map[string][]int32) {
	leaving := map[int32]bool{}
	var flying []*inFlight
	for _, number := range lost[a.env.Names.Scheduled] {
		if p := a.partitions.get(number); p != nil && p.visits.ctx.Err() == nil {
			leaving[number] = true
			flying = append(flying, p.inFlight)
			p.inFlight.close()
		}
	}
	// Without a lease the partitions may be another fetcher's already.
	if len(flying) > 0 && a.lease.Holds() {
		a.land(flying, func(partition int32) bool { return leaving[partition] })
	}
	a.onLost(lost)
}

// land waits for requests in flight, and for the acknowledgements of their exchanges and of the
// reports of the partitions that leave.
func (a *assignment) land(flying []*inFlight, leaving func(partition int32) bool) {
	landing, cancel := context.WithTimeout(a.life, landTimeout)
	defer cancel()
	for _, each := range flying {
		select {
		case <-each.landed:
		case <-landing.Done():
			each.cut()
		}
	}
	reporting, cancel := context.WithTimeout(a.life, reportTimeout)
	defer cancel()
	for _, each := range flying {
		select {
		case <-each.landed:
		case <-reporting.Done():
		}
	}
	// The next owner makes again what is not acknowledged in time.
	_ = a.fetched.Flush(reporting)
	a.reporter.flush(leaving)
	_ = a.reporter.visited.Flush(reporting)
}

const (
	// landTimeout is how long requests in flight may take to end. Meanwhile other
	// fetchers wait for the partition.
	landTimeout = 2 * time.Second
	// reportTimeout is how long acknowledgements may take after that.
	reportTimeout = 2 * time.Second
)

// onLost ends the work on partitions that belong to another fetcher now. Requests in
// flight are cancelled. The next owner reports what they would have reported.
func (a *assignment) onLost(lost map[string][]int32) {
	for _, number := range lost[a.env.Names.Scheduled] {
		a.partitions.remove(number)
		a.backlog.update(func(b *Backlog) { b.Forget(number) })
	}
}
