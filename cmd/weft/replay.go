package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/progress"
	"github.com/weftcrawl/weft/topics"
)

// replay writes rejected records back to the topics that they came from, with
// the key and in the partition that they had. Nothing remembers it: who replays
// twice writes twice, and the stages make of the second what they make of any
// repeat. A record that is rejected again is a new one in rejected.
func (c *rejectedCmd) replay(ctx context.Context, out io.Writer) error {
	names := topics.Loop(c.Crawl)
	options := topics.DefaultProducerOptions()
	options.Manual = true // the partition that a record had, whatever its key is
	producer, err := topics.NewProducer(names, options, c.client()...)
	if err != nil {
		return err
	}
	defer producer.Close()
	done, refused := tally{}, map[string]int{}
	err = c.each(ctx, func(r refusal) error {
		if why := unreplayable(names, r); why != "" {
			refused[why]++
			return nil
		}
		record := &kgo.Record{Topic: r.Topic, Partition: r.Partition, Key: r.Key, Value: r.Value}
		if err := producer.ProduceSync(ctx, record).FirstErr(); err != nil {
			return fmt.Errorf("write %s back: %w", c.place(r), err)
		}
		done[r.kind()]++
		return nil
	})
	err = errors.Join(err, done.write(out, "replayed"))
	if err != nil || len(refused) == 0 {
		return err
	}
	var reasons []string
	for _, why := range slices.Sorted(maps.Keys(refused)) {
		reasons = append(reasons, fmt.Sprintf("%s of %s", progress.Count(int64(refused[why])), why))
	}
	return fmt.Errorf("not replayed: %s", strings.Join(reasons, "; "))
}

// unreplayable says why a record cannot go back to where it came from; empty:
// it can.
func unreplayable(names topics.Names, r refusal) string {
	topic, ok := names.Topic(r.Topic)
	switch {
	case !ok:
		return r.Topic + ", which is no topic of this crawl"
	case topic.Kept == topics.Whole:
		return topic.Short + ", to which only its owner writes"
	case !r.Whole:
		return topic.Short + ", too large to be kept whole"
	}
	return ""
}
