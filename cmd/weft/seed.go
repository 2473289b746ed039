package main

import (
	"context"
	"fmt"
	"io"
	"iter"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/weftcrawl/weft/topics"
)

type seedCmd struct {
	URLs []string `arg:"" optional:"" name:"file|url" help:"A file of seeds, or - for standard input, or URLs. A seed is a URL or a JSON object a line."`

	reachFlags
}

// Run is called by kong.
func (c *seedCmd) Run(ctx context.Context, std streams) error {
	seeds, err := c.seeds(std.in)
	if err != nil {
		return err
	}
	release, err := c.reach(ctx)
	if err != nil {
		return err
	}
	defer release()
	names := topics.Loop(c.Crawl)
	if err := c.exists(ctx, names.Seeds); err != nil {
		return err
	}
	producer, err := topics.NewProducer(names, topics.DefaultProducerOptions(), c.client()...)
	if err != nil {
		return err
	}
	defer producer.Close()
	produced, err := produce(ctx, producer, names.Seeds, seeds)
	if err != nil && produced > 0 {
		return fmt.Errorf("%w (%d seeds before it are produced)", err, produced)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(std.out, "%d seeds\n", produced)
	return err
}

// seeds are those of the arguments, of which the first may name a file.
func (c *seedCmd) seeds(in io.Reader) (iter.Seq2[[]byte, error], error) {
	if len(c.URLs) == 0 {
		return seedLines("-", in), nil
	}
	file, urls := "", c.URLs
	if checkSeed([]byte(c.URLs[0])) != nil && isFile(c.URLs[0]) {
		file, urls = c.URLs[0], c.URLs[1:]
	}
	seeds, err := argumentSeeds(urls)
	if err != nil {
		return nil, err
	}
	return func(yield func([]byte, error) bool) {
		for _, seed := range seeds {
			if !yield(seed, nil) {
				return
			}
		}
		if file != "" {
			seedLines(file, in)(yield)
		}
	}, nil
}

// produce returns how many seeds are acknowledged; it ends with the first error.
func produce(ctx context.Context, producer *kgo.Client, topic string, seeds iter.Seq2[[]byte, error]) (produced int, err error) {
	const batch = 1000
	records := make([]*kgo.Record, 0, batch)
	send := func() error {
		err := producer.ProduceSync(ctx, records...).FirstErr()
		if err != nil {
			return fmt.Errorf("produce to %s: %w", topic, err)
		}
		produced += len(records)
		records = records[:0]
		return nil
	}
	for seed, wrong := range seeds {
		if wrong != nil {
			err = wrong
			break
		}
		if records = append(records, &kgo.Record{Topic: topic, Value: seed}); len(records) == batch {
			if err := send(); err != nil {
				return produced, err
			}
		}
	}
	if failed := send(); failed != nil {
		return produced, failed
	}
	return produced, err
}
