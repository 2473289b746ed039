package drain

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/replay"
	"github.com/weftcrawl/weft/topics"
)

// maxMarkers bounds how many records at the end of an input are looked at.
const maxMarkers = 64

// errUnread ends the search at the first record that a stage has yet to read.
var errUnread = errors.New("a record to read")

// passMarkers takes dedupe and schedule for having read what ends transactions, if
// nothing else is left of an input. They are never given it, so that they cannot
// commit it. It looks while no URL is out only: before that the crawl is not
// drained anyway.
func (r *Reader) passMarkers(ctx context.Context, reading *Reading) error {
	if g := sum(reading.Gauges); g.GetOut() != 0 || g.GetVisits() != 0 {
		return nil
	}
	for _, stage := range []topics.Stage{topics.Dedupe, topics.Schedule} {
		for _, topic := range r.names.Inputs(stage) {
			for p, end := range reading.Ends[topic] {
				from := reading.Starts[topic][p]
				if c, ok := reading.Commits[stage][topic][p]; ok {
					from = max(from, c)
				}
				if from >= end || end-from > maxMarkers {
					continue
				}
				err := r.scan(ctx, topic, p, replay.Bounds{Start: from, End: end}, func(record *kgo.Record) error {
					if !record.Attrs.IsControl() {
						return errUnread
					}
					return nil
				})
				switch {
				case errors.Is(err, errUnread) || errors.Is(err, kerr.OffsetOutOfRange): // trimmed this moment
				case errors.Is(err, kerr.TopicAuthorizationFailed): // who may not look takes it for unread
				case err != nil:
					return fmt.Errorf("read the end of %s/%d: %w", topic, p, err)
				default:
					reading.Commits[stage].set(topic, p, end)
				}
			}
		}
	}
	return nil
}
