package crawl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/weftcrawl/weft/inspect/status"
	"github.com/weftcrawl/weft/internal/dirlock"
	"github.com/weftcrawl/weft/internal/supervise"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/processors"
	"github.com/weftcrawl/weft/processors/archive"
	"github.com/weftcrawl/weft/topics"
)

// Run runs a whole crawl in this process. It ends when the crawl is drained, full or asked to
// stop, when ctx ends, or when all pending URLs wait for hosts that are down or are of blocked
// domains. None of these ends is an error. The user can fix errors that wrap ErrUsage.
func Run(ctx context.Context, o Options) (Result, error) {
	if err := o.Validate(); err != nil {
		return Result{}, err
	}
	s, err := open(ctx, o, topics.Groups(), true)
	if err != nil {
		return Result{}, err
	}
	defer s.close()
	if err := s.seed(ctx); err != nil {
		return Result{}, err
	}
	result, err := s.run(ctx)
	if err == nil && o.Stay != nil && slices.Contains([]string{EndedDrained, EndedFull, EndedHostsDown, EndedBlocked}, result.Ended) {
		if err = o.Stay(result, s.broker.Addr()); err == nil {
			<-ctx.Done()
		}
	}
	return result, err
}

func (s *session) run(ctx context.Context) (Result, error) {
	pages, err := s.openPages(ctx)
	if err != nil {
		return Result{}, err
	}
	sink := archive.NewPageSink(s.env, pages, s.env.Definition.MaxPages)
	s.collectBodies(ctx) // of a run that was killed

	// The stages stop in the order of the flow: first fetch, then the other stages finish
	// what is fetched, then the pages are written.
	fetching, stopFetching := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stopFetching(nil)
	stages, stopStages := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stopStages(nil)
	files, stopFiles := context.WithCancel(context.WithoutCancel(ctx))
	defer stopFiles()
	work, failed := errgroup.WithContext(context.WithoutCancel(ctx))
	fetched := make(chan struct{})
	for _, stage := range topics.Stages() {
		if stage != topics.Fetch {
			work.Go(func() error { return s.stage(stages, stage) })
		}
	}
	work.Go(func() error {
		defer close(fetched)
		return s.stage(fetching, topics.Fetch)
	})
	work.Go(func() error { return s.control.follow(stages) })
	work.Go(func() error { return s.janitor().Run(stages) })
	work.Go(func() error { return s.account(stages) })
	work.Go(func() error { return sink.Run(files) })
	if s.archive.Bucket != nil {
		work.Go(func() error { return s.stage(files, topics.Archive) })
	}
	ended, watchErr := s.watch(ctx, failed, sink)
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	stopFetching(context.Cause(failed))
	<-fetched
	s.settleVisits(ending, failed)
	stopStages(context.Cause(failed))
	close(s.settle)
	if ended != EndedFull {
		if ended == EndedDrained || ended == EndedHostsDown || ended == EndedBlocked {
			ending = ctx // nothing is cut off, however long the writing takes
		}
		s.settleFiles(ending, failed, sink)
	}
	stopFiles()
	err = errors.Join(work.Wait(), watchErr)
	if closing := pages.Close(); err == nil {
		err = closing // after another error it would only repeat it
	}
	if err == nil && ended == EndedDrained {
		s.tidy(ctx)
	}
	return s.result(ended, sink), err
}

// endTimeout bounds the waits at an end, except the wait for files if the crawl has ended by
// itself. The next run repeats requests that are cut off.
const endTimeout = 6 * time.Second

// RunStages runs some stages of a crawl on a cluster until ctx ends or all of them are asked to
// stop, which is not an error. The crawl must exist.
func RunStages(ctx context.Context, o Options, stages []topics.Stage) error {
	if err := o.Validate(); err != nil {
		return err
	}
	if o.embedded() {
		return fmt.Errorf("%w: stages need the brokers of a cluster", ErrUsage)
	}
	s, err := open(ctx, o, stages, false)
	if err != nil {
		return err
	}
	defer s.close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	work, ctx := errgroup.WithContext(ctx)
	work.Go(func() error {
		defer stop()
		select {
		case <-s.control.stopped:
		case <-ctx.Done():
		}
		return nil
	})
	work.Go(func() error { return s.control.follow(ctx) })
	for _, stage := range stages {
		work.Go(func() error { return s.stage(ctx, stage) })
		if stage == topics.Normalize {
			// Every crawl has a normalizer, so it trims. Two janitors do no harm.
			work.Go(func() error { return s.janitor().Run(ctx) })
		}
	}
	work.Go(func() error { return s.observe(ctx) })
	work.Go(func() error { return s.account(ctx) })
	return work.Wait()
}

// stage runs one stage of the loop until ctx ends or it is asked to stop.
func (s *session) stage(ctx context.Context, stage topics.Stage) error {
	ctx, cancel := s.control.until(ctx, stage)
	defer cancel()
	err := processors.Find(s.env.Names, stage).Run(ctx, s.env, processors.Options{Fetch: s.opts.Fetch, Archive: s.archive})
	switch {
	case errors.Is(err, dirlock.ErrInUse):
		return fmt.Errorf("%w: %w", ErrUsage, err)
	case errors.Is(err, ledger.ErrCorrupt) && s.opts.embedded():
		return fmt.Errorf("stage %s: %w; weft ledger repair shows what is damaged, and repairs it", stage, err)
	case err != nil:
		return fmt.Errorf("stage %s: %w", stage, err)
	}
	return nil
}

// settleVisits waits until the scheduler has read all reports of fetch, so that the summary
// counts them and the next run has nothing to settle. It also ends when ctx ends or a stage
// fails.
func (s *session) settleVisits(ctx, failed context.Context) {
	if !s.control.settles() {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(failed, cancel)()
	_ = supervise.Until(ctx, endingEvery, func() (bool, error) {
		now, err := s.status.Read(ctx)
		behind := slices.ContainsFunc(now.Lags, func(l status.Lag) bool {
			return l.Stage == topics.Schedule && l.Topic == s.env.Names.Visited && l.Behind() > 0
		})
		return !behind, err
	})
}
