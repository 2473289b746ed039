package processors

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/replay"
	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/traps"
)

// Traps lists the traps of a crawl, as far as its ledgers go back; on request with
// how many of their URLs are withdrawn, which takes reading what was scheduled.
// damaged is that of replay.Part.
func Traps(ctx context.Context, names topics.Names, withdrawn bool, damaged func(int32, error), client ...kgo.Opt) ([]*traps.Trap, error) {
	reader, err := replay.New(client...)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	var listing traps.Listing
	err = reader.DedupedPart(ctx, names.Deduped, replay.Part{Trimmed: true, Damaged: damaged}, func(e replay.Event[*weftpb.Deduped]) error {
		listing.Apply(e.Domain, e.Body)
		return nil
	})
	if err == nil && withdrawn {
		err = reader.ScheduledPart(ctx, names.Scheduled, replay.Part{Trimmed: true, Damaged: damaged}, func(e replay.Event[*weftpb.Scheduled]) error {
			listing.ApplyScheduled(e.Domain, e.Body)
			return nil
		})
	}
	return listing.Traps(), err
}

// mostUnread bounds how many records that dedupe has still to read are reckoned
// with. Each may hold back as many URLs as one lift brings.
const mostUnread = 10_000

// LiftTrap asks dedupe, by records of normalized, to let the URLs of a trap into
// the crawl. It reads them like any others, now or when it next runs, and nothing
// of them is lost. There are as many as it takes to bring back all URLs that the
// trap holds, and those that it will hold once dedupe has read what lies before.
func LiftTrap(ctx context.Context, names topics.Names, t *traps.Trap, client ...kgo.Opt) error {
	definition, err := topics.ReadDefinition(ctx, names, client...)
	if err != nil {
		return err
	}
	partition := topics.Partition(t.Domain, definition.Partitions)
	unread, err := unreadByDedupe(ctx, names, partition, client)
	if err != nil {
		return err
	}
	opts := topics.DefaultProducerOptions()
	opts.Manual = true
	producer, err := topics.NewProducer(names, opts, client...)
	if err != nil {
		return err
	}
	defer producer.Close()
	value := encode(&weftpb.Normalized{Lift: &weftpb.Lift{Host: t.Host, Template: t.Template}})
	records := make([]*kgo.Record, t.Lifts()+int(min(unread, mostUnread))+1)
	for i := range records {
		records[i] = &kgo.Record{Topic: names.Normalized, Partition: partition, Key: []byte(t.Domain), Value: value}
	}
	if err := producer.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return fmt.Errorf("lift trap %s %s: %w", t.Host, t.Template, err)
	}
	return nil
}

// unreadByDedupe is how many records of a partition of normalized dedupe has not
// committed.
func unreadByDedupe(ctx context.Context, names topics.Names, partition int32, client []kgo.Opt) (int64, error) {
	reader, err := replay.New(client...)
	if err != nil {
		return 0, err
	}
	defer reader.Close()
	all, err := reader.Bounds(ctx, names.Normalized)
	if err != nil {
		return 0, err
	}
	read, err := reader.Commits(ctx, names.Group(topics.Dedupe), names.Normalized)
	return all[partition].End - max(read[partition], all[partition].Start), err
}
