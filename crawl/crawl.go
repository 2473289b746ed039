package crawl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/weftcrawl/weft/dirlock"
	"github.com/weftcrawl/weft/drain"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/processors"
	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/warc"
)

// Run runs a whole crawl in this process until it is drained, full, asked to
// stop or ctx ends; none of these is an error. Errors that wrap ErrUsage are the user's to
// mend.
func Run(ctx context.Context, o Options) (Result, error) {
	if err := o.Validate(); err != nil {
		return Result{}, err
	}
	s, err := open(ctx, o, topics.Stages())
	if err != nil {
		return Result{}, err
	}
	defer s.close()
	if err := s.seed(ctx); err != nil {
		return Result{}, err
	}
	result, err := s.run(ctx)
	if err == nil && o.Stay != nil && (result.Ended == EndedDrained || result.Ended == EndedFull) {
		if err = o.Stay(result, s.broker.Addr()); err == nil {
			<-ctx.Done()
		}
	}
	return result, err
}

// run runs the stages and waits for the end.
func (s *session) run(ctx context.Context) (Result, error) {
	pages, err := s.openPages(ctx)
	if err != nil {
		return Result{}, err
	}
	sink := processors.NewPageSink(s.env, pages, s.env.Definition.MaxPages)
	s.collectBodies(ctx) // of a run that was killed

	// The stages stop in the order of the loop's flow: first nothing new is
	// fetched, then what is fetched is parsed, then pages are written.
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
	work.Go(func() error { return s.desk.follow(stages) })
	work.Go(func() error { return s.janitor().Run(stages) })
	work.Go(func() error { return sink.Run(files) })
	if s.opts.WARC {
		work.Go(func() error {
			return processors.WARC(files, s.env, warc.Options{Dir: s.opts.warcDir(), Info: s.warcInfo()})
		})
	}
	ended, watchErr := s.watch(ctx, failed, sink)
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	stopFetching(context.Cause(failed))
	<-fetched
	s.settleVisits(ending, failed)
	stopStages(context.Cause(failed))
	if ended != EndedFull {
		if ended == EndedDrained {
			ending = ctx // everything is there to be written: for as long as it takes
		}
		s.settleFiles(ending, failed, sink)
	}
	stopFiles()
	err = errors.Join(work.Wait(), watchErr)
	if closing := pages.Close(); err == nil {
		err = closing // else it only says again why nothing could be written
	}
	if err == nil && ended == EndedDrained {
		s.tidy(ctx)
	}
	return s.result(ended, sink), err
}

// endTimeout bounds what an end waits for, but for a drained one. What it cuts
// off is found again by the next run.
const endTimeout = 6 * time.Second

// RunStages runs some stages of a crawl on a cluster until ctx ends or all of
// them are asked to, which is no error. The crawl must have been created.
func RunStages(ctx context.Context, o Options, stages []topics.Stage) error {
	if err := o.Validate(); err != nil {
		return err
	}
	if o.embedded() {
		return fmt.Errorf("%w: stages run against brokers", ErrUsage)
	}
	s, err := open(ctx, o, stages)
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
		case <-s.desk.stopped:
		case <-ctx.Done():
		}
		return nil
	})
	work.Go(func() error { return s.desk.follow(ctx) })
	for _, stage := range stages {
		work.Go(func() error { return s.stage(ctx, stage) })
		if stage == topics.Normalize {
			// Somebody has to trim, and every crawl has a normalizer; two that
			// trim at once do no harm.
			work.Go(func() error { return s.janitor().Run(ctx) })
		}
	}
	work.Go(func() error { return s.observe(ctx) })
	return work.Wait()
}

// stage runs one stage of the loop until ctx ends or it is asked to.
func (s *session) stage(ctx context.Context, stage topics.Stage) error {
	ctx, cancel := s.desk.until(ctx, stage)
	defer cancel()
	var err error
	switch stage {
	case topics.Normalize:
		err = processors.Normalize(ctx, s.env)
	case topics.Dedupe:
		err = processors.Dedupe(ctx, s.env)
	case topics.Schedule:
		err = processors.Schedule(ctx, s.env)
	case topics.Fetch:
		err = processors.Fetch(ctx, s.env, s.opts.Fetch)
	case topics.Parse:
		err = processors.Parse(ctx, s.env)
	}
	switch {
	case errors.Is(err, dirlock.ErrInUse):
		return fmt.Errorf("%w: %w", ErrUsage, err)
	case errors.Is(err, ledger.ErrCorrupt) && s.opts.embedded():
		return fmt.Errorf("stage %s: %w; weft ledger repair shows what is damaged, and mends it", stage, err)
	case err != nil:
		return fmt.Errorf("stage %s: %w", stage, err)
	}
	return nil
}

// settleVisits waits, until ctx ends or a stage fails, for the scheduler to know
// what fetch has reported, so that the summary counts it and the next run begins
// with nothing left to settle.
func (s *session) settleVisits(ctx, failed context.Context) {
	if !s.desk.settles() {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(failed, cancel)()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		status, err := s.status.Read(ctx)
		behind := slices.ContainsFunc(status.Lags, func(l drain.Lag) bool {
			return l.Stage == topics.Schedule && l.Topic == s.env.Names.Visited && l.Behind() > 0
		})
		if err != nil || !behind {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
