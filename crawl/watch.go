package crawl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/inspect/progress"
	"github.com/weftcrawl/weft/inspect/status"
	"github.com/weftcrawl/weft/internal/memory"
	"github.com/weftcrawl/weft/internal/supervise"
	"github.com/weftcrawl/weft/internal/trouble"
	"github.com/weftcrawl/weft/processors/archive"
	"github.com/weftcrawl/weft/topics"
)

// The time between two readings of the crawl's status, while URLs are pending and without pending
// URLs, and between two calls of Options.Watch.
const (
	statusEvery = 250 * time.Millisecond
	endingEvery = 50 * time.Millisecond
	watchEvery  = time.Second
)

// watch waits for the end: drained by the exact test, full, asked to stop, interrupted, or a stage
// that cannot go on (failed ends).
func (s *session) watch(ctx, failed context.Context, sink *archive.PageSink) (string, error) {
	ticker := time.NewTicker(statusEvery)
	defer ticker.Stop()
	var told time.Time
	patience := patience{limit: s.opts.Patience}
	blocked := blockedSince{limit: blockedFor}
	if !s.opts.embedded() {
		blocked.limit = blockedForOnCluster
	}
	for {
		select {
		case <-ctx.Done():
			return EndedInterrupted, nil
		case <-failed.Done():
			return EndedInterrupted, nil
		case <-s.control.stopped:
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
		if status.Drained() && s.ledgersClaimed() {
			return EndedDrained, nil
		}
		if blocked.over(status.Blocked() && s.ledgersClaimed(), time.Now()) {
			return EndedBlocked, nil
		}
		if patience.over(status.Gauges, time.Now()) {
			return EndedHostsDown, nil
		}
	}
}

// patience tells when a crawl ends although URLs are pending. That is when, for the time limit,
// no page was fetched and all pending URLs waited for hosts that are down or for blocked
// domains. With limit 0 it never ends.
type patience struct {
	limit   time.Duration
	fetched int64
	since   time.Time // since then only such URLs are left; zero: there are other URLs
}

func (p *patience) over(g *weftpb.Gauges, now time.Time) bool {
	probing := !p.since.IsZero() && g.GetOut() > 0 // with the last URL of such a host
	waiting := g.GetQueued() <= g.GetDown()+g.GetBlocked() && (g.GetDown() > 0 || probing)
	switch {
	case p.limit == 0:
	case !waiting, g.GetFetched() != p.fetched:
		p.since = time.Time{}
	case p.since.IsZero():
		p.since = now
	}
	p.fetched = g.GetFetched()
	return !p.since.IsZero() && now.Sub(p.since) >= p.limit
}

// blockedSince tells when a crawl ends because only URLs of blocked domains are left. The frontier
// takes a setting of a domain soon after it claims a partition. Until then its gauges are those of
// the last run, in which the domain may have been blocked. So the crawl ends after a time limit.
type blockedSince struct {
	limit time.Duration
	since time.Time
}

func (b *blockedSince) over(blocked bool, now time.Time) bool {
	switch {
	case !blocked:
		b.since = time.Time{}
	case b.since.IsZero():
		b.since = now
	}
	return blocked && now.Sub(b.since) >= b.limit
}

// On a cluster this process does not know when others have claimed their partitions. The time is
// enough to join a group and to recover a table of usual size.
const (
	blockedFor          = time.Second
	blockedForOnCluster = 30 * time.Second
)

const readTimeout = 10 * time.Second

// ledgersClaimed reports whether all partitions of the ledgers are claimed. A crawl with nothing
// to do is drained before that, but claims are records too: a later status would show stages
// that are behind. On a cluster other processes may run the ledgers.
func (s *session) ledgersClaimed() bool {
	const ledgers = 2
	return !s.opts.embedded() || s.meter.claims.Load() >= ledgers*int64(s.env.Definition.Partitions)
}

func (s *session) snapshot(status status.Status, sink *archive.PageSink) progress.Snapshot {
	g := status.Gauges
	return progress.Snapshot{
		Pages: sink.Written(), Bytes: s.meter.bytes.Load(), Errors: g.Failed,
		Waits:  s.waits(status),
		Queued: g.Queued, Out: g.Out, Down: g.Down, Blocked: g.Blocked, DomainsActive: g.DomainsOut, DomainsWaiting: g.Domains - g.DomainsOut,
	}
}

// waits says why the crawl does not go on; it is empty if the crawl goes on.
func (s *session) waits(status status.Status) string {
	reasons := []string{s.control.pauses.Control().String(), s.env.Reserve.Below(), status.Transaction()}
	return strings.Join(slices.DeleteFunc(reasons, func(reason string) bool { return reason == "" }), ", ")
}

func (s *session) result(ended string, sink *archive.PageSink) Result {
	outcomes, down := s.meter.total()
	last := s.meter.gauges()
	return Result{
		Ended: ended, Pages: sink.Written(), Bytes: s.meter.bytes.Load(), Outcomes: outcomes, Pending: last.GetPending(), Down: down, Blocked: last.GetBlocked(),
	}
}

// observe updates the metrics of a process of stages until ctx ends.
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

// account says every accountEvery what the memory of this process is used for, until ctx ends.
func (s *session) account(ctx context.Context) error {
	var reader memory.Reader
	account := func() error {
		usage := reader.Read()
		s.meter.Memory(usage)
		uses := map[string]int64{}
		for use, bytes := range usage {
			uses[string(use)] = bytes
		}
		s.env.Troubles.Memory(ctx, s.stages[0], trouble.Memory{At: time.Now(), Limit: memory.Limit(), Uses: uses})
		return nil
	}
	return errors.Join(account(), supervise.Every(ctx, accountEvery, account))
}

const accountEvery = 15 * time.Second

// settleFiles waits until the files have everything that is parsed and, with an archive, fetched. It
// also ends when ctx ends or a writer fails; the next run writes the rest. If the wait is long,
// it logs which files are not complete.
func (s *session) settleFiles(ctx, failed context.Context, sink *archive.PageSink) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(failed, cancel)()
	told := time.Now()
	_ = supervise.Until(ctx, endingEvery, func() (bool, error) {
		left := s.unsettled(ctx, sink)
		if left != "" && time.Since(told) >= readTimeout {
			told = time.Now()
			s.log.Warn("the crawl ends when the files are complete", "missing", left)
		}
		return left == "", nil
	})
}

// unsettled says what the files lack; it is empty if the files are complete.
func (s *session) unsettled(ctx context.Context, sink *archive.PageSink) string {
	parsed, err := s.ends(ctx, s.env.Names.Parsed)
	switch {
	case err != nil:
		return err.Error()
	case !sink.Reached(parsed):
		return fmt.Sprintf("pages of %s before the offsets %v", s.env.Names.Parsed, parsed)
	case s.archive.Bucket == nil:
		return ""
	}
	for _, topic := range s.env.Names.Inputs(topics.Archive) {
		if why := s.unarchived(ctx, topic); why != "" {
			return why
		}
	}
	if s.opts.embedded() && s.expiry.pending() {
		return "the erasure of what the archive keeps no longer"
	}
	return ""
}

// unarchived says which records of a topic the archive lacks; it is empty if it has all.
func (s *session) unarchived(ctx context.Context, topic string) string {
	ends, err := s.ends(ctx, topic)
	if err != nil {
		return err.Error()
	}
	starts, err := s.admin.ListStartOffsets(ctx, topic) // records of parsed have an age
	if err := cmp.Or(err, starts.Error()); err != nil {
		return err.Error()
	}
	commits, err := s.admin.FetchOffsetsForTopics(ctx, s.env.Names.Group(topics.Archive), topic)
	if err != nil {
		return err.Error()
	}
	for partition, end := range ends {
		start, _ := starts.Lookup(topic, partition)
		if o, ok := commits.Lookup(topic, partition); end > start.Offset && (!ok || o.At < end) {
			return fmt.Sprintf("records of %s/%d before offset %d; the archive has those before %d", topic, partition, end, o.At)
		}
	}
	return ""
}
