package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/internal/kafka"
	"github.com/weftcrawl/weft/topics"
)

type consumeCmd struct {
	Topic string `arg:"" help:"Topic of the loop, such as parsed, with or without the crawl's name."`

	reachFlags
	Offset string `enum:"start,end" default:"start" help:"Begin at the start of the log, or follow from its end."`
	Follow bool   `short:"f" help:"At the end of the log, wait for further records."`
	Count  int64  `short:"n" placeholder:"N" help:"End after N records; 0: no limit."`
}

func (c *consumeCmd) Run(ctx context.Context, root *cli, std streams) error {
	if c.Count < 0 {
		return usagef("--count %d is negative", c.Count)
	}
	topic, err := c.topic()
	if err != nil {
		return err
	}
	open, err := c.open(ctx, std, crawl.ToRead, topic.Name)
	if err != nil {
		return err
	}
	defer open.close()
	from := kgo.NewOffset().AtStart()
	if c.Offset == "end" {
		from = kgo.NewOffset().AtEnd()
	}
	client, err := open.access().NewClient(kgo.ConsumeTopics(topic.Name), kgo.ConsumeResetOffset(from), kgo.KeepControlRecords())
	if err != nil {
		return err
	}
	defer client.Close()
	left, err := c.left(ctx, open.admin, topic.Name)
	if err != nil {
		return err
	}
	loadBody, err := bodyLoader(ctx, open, topic, root.logger(std.err))
	if err != nil {
		return err
	}
	out := bufio.NewWriter(std.out)
	return errors.Join(c.print(ctx, client, topic, left, loadBody, out), out.Flush())
}

// bodyLoader returns a function that loads the body of a record of fetched from the
// store. It leaves the records of other topics as they are.
func bodyLoader(ctx context.Context, open *openCrawl, topic topics.Topic, log *slog.Logger) (func(context.Context, []byte) []byte, error) {
	if topic.Name != open.names.Fetched {
		return func(_ context.Context, value []byte) []byte { return value }, nil
	}
	definition, err := topics.ReadDefinition(ctx, open.names, open.client()...)
	if err != nil && !errors.Is(err, topics.ErrUndefined) {
		return nil, err
	}
	return crawl.BodyLoader(ctx, definition, open.dir, log)
}

// topic finds the topic by its short or its full name.
func (c *consumeCmd) topic() (topics.Topic, error) {
	var known []string
	for _, topic := range topics.Loop(c.Crawl).Topics() {
		if c.Topic == topic.Short || c.Topic == topic.Name {
			return topic, nil
		}
		known = append(known, topic.Short)
	}
	return topics.Topic{}, usagef("%q is not a topic of the loop: %s", c.Topic, strings.Join(known, ", "))
}

// ends says, by partition, where to stop; nil when there is no end.
type ends map[int32]int64

// left returns the partitions that have records to print, with their ends.
func (c *consumeCmd) left(ctx context.Context, admin *kadm.Client, topic string) (ends, error) {
	if c.Follow || c.Offset == "end" {
		return nil, nil
	}
	bounds, err := kafka.BoundsOf(ctx, admin, topic)
	if err != nil {
		return nil, err
	}
	left := ends{}
	for partition, b := range bounds {
		if b.Start < b.End {
			left[partition] = b.End
		}
	}
	return left, nil
}

// print prints records until the ends are reached, the count is, or ctx ends.
func (c *consumeCmd) print(ctx context.Context, client *kgo.Client, topic topics.Topic, left ends, loadBody func(context.Context, []byte) []byte, out *bufio.Writer) error {
	printed, line := int64(0), []byte(nil)
	for left == nil || len(left) > 0 {
		fetches := client.PollFetches(ctx)
		if ctx.Err() != nil {
			return nil // interrupted, which is how --follow ends
		}
		if err := fetches.Err(); err != nil {
			return fmt.Errorf("consume %s: %w", topic.Name, err)
		}
		for it := fetches.RecordIter(); !it.Done(); {
			record := it.Next()
			if record.Attrs.IsControl() {
				continue // it ends a transaction, and may be the last record of the log
			}
			if left != nil && record.Offset >= left[record.Partition] {
				continue // it was written after the ends were read
			}
			line = append(codecs.AppendText(line[:0], codecs.LogRecord{
				Topic: topic.Short, Partition: record.Partition, Offset: record.Offset, Timestamp: record.Timestamp,
				Key: record.Key, Headers: headers(record), Value: loadBody(ctx, record.Value),
			}), '\n')
			if _, err := out.Write(line); err != nil {
				return fmt.Errorf("write record: %w", err)
			}
			if printed++; printed == c.Count {
				return nil
			}
		}
		fetches.EachPartition(func(p kgo.FetchTopicPartition) {
			if n := len(p.Records); n > 0 && p.Records[n-1].Offset+1 >= left[p.Partition] {
				delete(left, p.Partition)
			}
		})
		if err := out.Flush(); err != nil {
			return fmt.Errorf("write records: %w", err)
		}
	}
	return nil
}

func headers(r *kgo.Record) []codecs.Header {
	all := make([]codecs.Header, len(r.Headers))
	for i, h := range r.Headers {
		all[i] = codecs.Header{Name: h.Key, Value: h.Value}
	}
	return all
}
