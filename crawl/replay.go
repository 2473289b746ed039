package crawl

import (
	"context"
	"fmt"
	"slices"

	"github.com/weftcrawl/weft/inspect/replay"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/topics"
)

// checkReplay refuses a new crawl whose archive is not there. It is called before the definition is written, in which
// the location never changes: a misspelt one would stay in the data directory.
func (s *session) checkReplay(ctx context.Context, want topics.Definition) error {
	if !s.replays(want) {
		return nil
	}
	bucket, err := blob.Open(ctx, want.Replay)
	if err == nil {
		err = replay.Check(ctx, bucket)
	}
	if err != nil {
		return fmt.Errorf("%w: replay: %w", ErrUsage, err)
	}
	return nil
}

// openReplay prepares the stage fetch for a crawl that replays an archive, if this process runs the
// stage.
func (s *session) openReplay(ctx context.Context) error {
	if !s.replays(s.env.Definition) {
		return nil
	}
	bucket, err := blob.Open(ctx, s.env.Definition.Replay)
	if err != nil {
		return fmt.Errorf("%w: replay: %w", ErrUsage, err)
	}
	exchanges, err := replay.Open(ctx, bucket, s.opts.Fetch.Client)
	if err != nil {
		return fmt.Errorf("%w: replay: %w", ErrUsage, err)
	}
	s.log.Info("the crawl replays an archive", "archive", bucket, "responses", exchanges.Len())
	s.opts.Fetch.Exchanges = exchanges
	return nil
}

// replays tells whether this process reads the responses of a crawl from an archive.
func (s *session) replays(d topics.Definition) bool {
	return d.Replay != "" && slices.Contains(s.stages, topics.Fetch)
}
