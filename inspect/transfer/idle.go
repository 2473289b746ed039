package transfer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/weftcrawl/weft/inspect/status"
	"github.com/weftcrawl/weft/internal/supervise"
	"github.com/weftcrawl/weft/topics"
)

// ErrRunning means that a process runs a stage of the crawl.
var ErrRunning = errors.New("the crawl is running")

// stages are all readers of a crawl's topics that commit.
func stages() []topics.Stage { return topics.Groups() }

// idle makes sure that no process runs a stage of the crawl.
func idle(ctx context.Context, admin *kadm.Client, n topics.Names) error {
	var members map[topics.Stage]int
	err := retryCoordinator(ctx, func() (err error) {
		members, err = status.Members(ctx, n, admin, stages()...)
		return err
	})
	if err != nil {
		return err
	}
	for _, s := range stages() {
		if members[s] > 0 {
			return fmt.Errorf("%w: %d processes run %s of %s; end them with weft stop (a killed process counts until its session ends)",
				ErrRunning, members[s], s, n.Crawl)
		}
	}
	return nil
}

// retryCoordinator repeats a request to the coordinator of a group until it is ready: a
// cluster creates the topic of commits at the first request.
func retryCoordinator(ctx context.Context, ask func() error) error {
	ctx, cancel := context.WithTimeout(ctx, coordinatorTimeout)
	defer cancel()
	var err error
	_ = supervise.Until(ctx, 100*time.Millisecond, func() (bool, error) {
		err = ask()
		notReady := errors.Is(err, kerr.CoordinatorNotAvailable) || errors.Is(err, kerr.CoordinatorLoadInProgress) || errors.Is(err, kerr.NotCoordinator)
		return !notReady, nil
	})
	return err
}

// coordinatorTimeout is how long a coordinator may take to be ready.
const coordinatorTimeout = 30 * time.Second
