package crawl

import (
	"context"
	"time"

	"github.com/weftcrawl/weft/processors"
	"github.com/weftcrawl/weft/topics"
)

// settleFiles waits until the files hold everything that is parsed and, with
// WARC, fetched. A drained crawl waits for as long as it takes, unless the user
// interrupts or a writer fails; otherwise not for long: what is missed is
// written by the next run.
func (s *session) settleFiles(interrupted, failed context.Context, ended string, sink *processors.PageSink) {
	ctx := interrupted
	if ended != EndedDrained {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(interrupted), settleTimeout)
		defer cancel()
	}
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for !s.settled(ctx, sink) {
		select {
		case <-ctx.Done():
			return
		case <-failed.Done():
			return
		case <-ticker.C:
		}
	}
}

const settleTimeout = 10 * time.Second

// settled tells whether the files hold everything.
func (s *session) settled(ctx context.Context, sink *processors.PageSink) bool {
	ends, err := s.ends(ctx, s.env.Names.Parsed)
	if err != nil || !sink.Reached(ends) {
		return false
	}
	if !s.opts.WARC {
		return true
	}
	fetched := s.env.Names.Fetched
	ends, err = s.ends(ctx, fetched)
	if err != nil {
		return false
	}
	commits, err := s.admin.FetchOffsetsForTopics(ctx, s.env.Names.Group(topics.WARC), fetched)
	if err != nil {
		return false
	}
	for partition, end := range ends {
		if o, ok := commits.Lookup(fetched, partition); end > 0 && (!ok || o.At < end) {
			return false
		}
	}
	return true
}
