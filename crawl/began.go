package crawl

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/internal/topiclog"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/topics"
)

// neverBegan returns an error if schedule has decided something in a crawl without a
// definition: the definition was lost. The crawl would go on with the defaults, and refuse what
// it should fetch. Records of other programs do not count as decisions.
func neverBegan(ctx context.Context, names topics.Names, admin *kadm.Client, client []kgo.Opt) error {
	listed, err := admin.ListTopics(ctx, names.Scheduled)
	if err != nil {
		return fmt.Errorf("look for %s: %w", names.Scheduled, err)
	}
	if err := listed[names.Scheduled].Err; errors.Is(err, kerr.UnknownTopicOrPartition) {
		return nil
	}
	logs, err := topiclog.New(client...)
	if err != nil {
		return err
	}
	defer logs.Close()
	bounds, err := logs.Bounds(ctx, names.Scheduled)
	if err != nil {
		return err
	}
	for partition, log := range bounds {
		last, err := logs.LastDecision(ctx, names.Scheduled, partition, log)
		switch {
		case err == nil && last == nil:
		case err == nil, errors.Is(err, ledger.ErrCorrupt):
			return fmt.Errorf("the definition of crawl %s is lost: %s has no record of it, although %s has events; "+
				"define the crawl again with weft topics create and the flags that it had, in a data directory "+
				"through weft serve --listen 127.0.0.1:9092 --listen-trusted", names.Crawl, names.Config, names.Scheduled)
		default:
			return err
		}
	}
	return nil
}
