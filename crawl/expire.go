package crawl

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/weftcrawl/weft/inspect/erase"
	"github.com/weftcrawl/weft/internal/supervise"
)

// expiry is the state of the daily erasure of exchanges that are too old.
type expiry struct {
	opened      time.Time // the archive
	begun, done atomic.Bool
}

// pending tells whether this process has an erasure to finish before it ends. A process that does not begin
// with it in ownerTimeout is not the one that erases.
func (e *expiry) pending() bool {
	return !e.done.Load() && (e.begun.Load() || time.Since(e.opened) < ownerTimeout)
}

const ownerTimeout = 5 * time.Second

// expire erases each day the exchanges that are older than the archive keeps them, until ctx ends.
func (s *session) expire(ctx context.Context) {
	s.expiry.begun.Store(true)
	_ = supervise.Until(ctx, time.Hour, func() (bool, error) { // its only error is the end of ctx
		report, due, err := s.expireOnce(ctx)
		switch {
		case ctx.Err() != nil: // the next owner goes on
		case err != nil:
			s.log.Warn("erasing old exchanges from the archive failed; it is tried again in an hour, or by the next run", "archive", s.archive.Bucket, "error", err)
		case due:
			s.log.Info("old exchanges were erased from the archive", "archive", s.archive.Bucket,
				"records", report.Records, "files", report.Files, "deleted_files", report.Deleted)
		}
		s.expiry.done.Store(true)
		return false, nil
	})
}

// expireOnce turns a panic into an error: the crawl goes on if a file of the archive makes the erasure panic.
func (s *session) expireOnce(ctx context.Context) (report erase.Report, due bool, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v", cause)
		}
	}()
	d := s.env.Definition
	keep := erase.Keep{Default: time.Duration(d.KeepMS) * time.Millisecond, Domains: map[string]time.Duration{}}
	for domain, ms := range d.KeepOfMS {
		keep.Domains[domain] = time.Duration(ms) * time.Millisecond
	}
	return erase.Expire(ctx, erase.Options{Archive: s.archive.Bucket, Now: time.Now()}, keep)
}
