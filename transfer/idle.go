package transfer

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/weftcrawl/weft/topics"
)

// ErrRunning means that a process runs a stage of the crawl.
var ErrRunning = errors.New("the crawl is running")

// stages are all that read and commit topics of a crawl.
func stages() []topics.Stage { return append(topics.Stages(), topics.WARC) }

// idle makes sure that no process runs a stage of the crawl.
func idle(ctx context.Context, admin *kadm.Client, n topics.Names) error {
	for _, s := range stages() {
		described, err := admin.DescribeGroups(ctx, n.Group(s))
		if err != nil {
			return fmt.Errorf("describe group %s: %w", n.Group(s), err)
		}
		if members := len(described[n.Group(s)].Members); members > 0 {
			return fmt.Errorf("%w: %d processes run %s of %s; end them with weft stop (one that was killed is forgotten after its session)",
				ErrRunning, members, s, n.Crawl)
		}
	}
	return nil
}
