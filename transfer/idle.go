package transfer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/weftcrawl/weft/topics"
)

// ErrRunning means that a process runs a stage of the crawl.
var ErrRunning = errors.New("the crawl is running")

// stages are all that read and commit topics of a crawl.
func stages() []topics.Stage { return append(topics.Stages(), topics.WARC) }

// idle makes sure that no process runs a stage of the crawl.
func idle(ctx context.Context, admin *kadm.Client, n topics.Names) error {
	for _, s := range stages() {
		var described kadm.DescribedGroups
		err := patiently(ctx, func() (err error) {
			described, err = admin.DescribeGroups(ctx, n.Group(s))
			return err
		})
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

// patiently asks the coordinator of a group again while it is not ready: a
// cluster makes the topic of commits when it is asked for the first time.
func patiently(ctx context.Context, ask func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := ask()
		switch {
		case errors.Is(err, kerr.CoordinatorNotAvailable), errors.Is(err, kerr.CoordinatorLoadInProgress), errors.Is(err, kerr.NotCoordinator):
		default:
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-ticker.C:
		}
	}
}

// patience is how long a coordinator may take to be ready.
const patience = 30 * time.Second
