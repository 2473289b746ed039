package crawl

import (
	"context"
	"time"

	"github.com/weftcrawl/weft/processors"
	"github.com/weftcrawl/weft/topics"
)

// settleFiles waits, until ctx ends or a writer fails, for the files to hold
// everything that is parsed and, with WARC, fetched. What is missed is written
// by the next run.
func (s *session) settleFiles(ctx, failed context.Context, sink *processors.PageSink) {
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
