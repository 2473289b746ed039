package crawl

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/drain"
	"github.com/weftcrawl/weft/processors"
	"github.com/weftcrawl/weft/progress"
	"github.com/weftcrawl/weft/supervise"
)

// How often the crawl's status is read, while URLs are pending and when none is
// any more, and how often Options.Watch is told.
const (
	statusEvery = 250 * time.Millisecond
	endingEvery = 50 * time.Millisecond
	watchEvery  = time.Second
)

// watch waits for the end: drained by the exact test, full, asked to stop,
// interrupted, or a stage that cannot go on (failed ends).
func (s *session) watch(ctx, failed context.Context, sink *processors.PageSink) (string, error) {
	ticker := time.NewTicker(statusEvery)
	defer ticker.Stop()
	var told time.Time
	for {
		select {
		case <-ctx.Done():
			return EndedInterrupted, nil
		case <-failed.Done():
			return EndedInterrupted, nil
		case <-s.desk.stopped:
			return EndedStopped, nil
		case <-sink.Full():
			return EndedFull, nil
		case <-ticker.C:
		}
		reading, cancel := context.WithTimeout(ctx, readTimeout)
		status, err := s.status.Read(reading)
		cancel()
		if err != nil {
			if ctx.Err() == nil {
				s.log.Warn("reading the crawl's status failed", "error", err)
			}
			continue
		}
		s.meter.Status(status)
		if status.Gauges.GetPending() > 0 {
			ticker.Reset(statusEvery)
		} else {
			ticker.Reset(endingEvery)
		}
		if now := time.Now(); s.opts.Watch != nil && now.Sub(told) >= watchEvery {
			told = now
			s.opts.Watch(s.snapshot(status, sink))
		}
		if status.Drained() && s.claimed() {
			return EndedDrained, nil
		}
	}
}

const readTimeout = 10 * time.Second

// claimed tells whether every partition of the ledgers is claimed. A crawl with
// nothing to do is drained before that, but claims are records too: who looked
// at it later would find stages behind. On a cluster others may run them.
func (s *session) claimed() bool {
	const ledgers = 2
	return !s.opts.embedded() || s.meter.claims.Load() >= ledgers*int64(s.env.Definition.Partitions)
}

func (s *session) snapshot(status drain.Status, sink *processors.PageSink) progress.Snapshot {
	g := status.Gauges
	return progress.Snapshot{
		Pages: sink.Written(), Bytes: s.meter.bytes.Load(), Errors: g.Failed,
		Held:   s.held(status),
		Queued: g.Queued, Out: g.Out, DomainsActive: g.DomainsOut, DomainsWaiting: g.Domains - g.DomainsOut,
	}
}

// held says what keeps the crawl from going on, empty for nothing.
func (s *session) held(status drain.Status) string {
	reasons := []string{s.desk.brakes.Control().String(), s.env.Reserve.Below(), status.Transaction()}
	return strings.Join(slices.DeleteFunc(reasons, func(reason string) bool { return reason == "" }), ", ")
}

func (s *session) result(ended string, sink *processors.PageSink) Result {
	return Result{Ended: ended, Pages: sink.Written(), Bytes: s.meter.bytes.Load(), Outcomes: s.meter.total(), Pending: s.meter.pending()}
}

// observe keeps the metrics of a process of stages up to date until ctx ends.
func (s *session) observe(ctx context.Context) error {
	return supervise.Every(ctx, observeEvery, func() error {
		status, err := s.status.Read(ctx)
		if err == nil {
			s.meter.Status(status)
		} else if ctx.Err() == nil {
			s.log.Warn("reading the crawl's status failed", "error", err)
		}
		return nil
	})
}

const observeEvery = 5 * time.Second
