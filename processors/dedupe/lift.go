package dedupe

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/internal/topiclog"
	"github.com/weftcrawl/weft/processors/dedupe/traps"
	"github.com/weftcrawl/weft/topics"
)

// Traps lists the traps of a crawl, as far back as its ledgers go. If withdrawn, it also reads
// scheduled and counts the withdrawn URLs of each trap. damaged has the same meaning as in
// topiclog.Part.
func Traps(ctx context.Context, names topics.Names, withdrawn bool, damaged func(int32, error), client ...kgo.Opt) ([]*traps.Trap, error) {
	reader, err := topiclog.New(client...)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	var listing traps.Listing
	err = reader.Deduped(ctx, names.Deduped, topiclog.Part{Trimmed: true, Damaged: damaged}, func(e topiclog.Event[*weftpb.Deduped]) error {
		listing.Apply(e.Domain, e.Body)
		return nil
	})
	if err == nil && withdrawn {
		err = reader.Scheduled(ctx, names.Scheduled, topiclog.Part{Trimmed: true, Damaged: damaged}, func(e topiclog.Event[*weftpb.Scheduled]) error {
			listing.ApplyScheduled(e.Domain, e.Body)
			return nil
		})
	}
	return listing.Traps(), err
}

// mostUnread bounds how many unread records of dedupe LiftTrap counts. Each may hold back
// as many URLs as one lift brings back.
const mostUnread = 10_000

// LiftTrap asks dedupe, with records of normalized, to let the URLs of a trap into the
// crawl. dedupe reads these records like any others, now or when it runs again. LiftTrap
// writes as many as it takes to bring back all URLs that the trap holds, and those that
// it will hold once dedupe has read the records before.
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
	value := stage.Encode(&weftpb.Normalized{Lift: &weftpb.Lift{Host: t.Host, Template: t.Template}})
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
	reader, err := topiclog.New(client...)
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
