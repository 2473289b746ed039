package crawl

import (
	"context"
	"fmt"
	"slices"

	"github.com/weftcrawl/weft/inspect/replay"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/topics"
)

// openReplay prepares the stage fetch for a crawl that replays an archive, if this process runs the
// stage.
func (s *session) openReplay(ctx context.Context) error {
	location := s.env.Definition.Replay
	if location == "" || !slices.Contains(s.stages, topics.Fetch) {
		return nil
	}
	bucket, err := blob.Open(ctx, location)
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
