package transfer

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/topics"
)

// position is a position in a new partition of deduped: everything before next is read, with
// the claim of epoch.
type position struct{ next, epoch int64 }

// event is a valid event of an old ledger with a body.
type event struct {
	entry
	epoch int64
	body  []byte
}

// events calls visit with the valid events of a ledger, by its short name, that have a body.
// Records of one partition come in order.
func (im *importer) events(topic string, visit func(event) error) error {
	readers := map[int32]*ledger.EventReader{}
	return im.archive.each(topic, func(e entry) error {
		reader := readers[e.log.Partition]
		if reader == nil {
			reader = new(ledger.EventReader)
			readers[e.log.Partition] = reader
		}
		ev, err := reader.Read(e.Value, topic, e.log.Partition, e.Offset)
		if err != nil || ev == nil || len(ev.Body) == 0 {
			return err
		}
		return visit(event{e, ev.Epoch, ev.Body})
	})
}

// deduped writes the ledger of dedupe. The events that schedule has read come first in each
// partition, so that one position separates them from the others.
func (im *importer) deduped(ctx context.Context) error {
	chains := make([]chain, im.definition.Partitions)
	write := func(wanted func(event) bool) error {
		return im.events("deduped", func(e event) error {
			if !wanted(e) {
				return nil
			}
			partition := im.partition("deduped", e.Key, e.log.Partition)
			return im.append(ctx, "deduped", partition, &chains[partition], e, func(int64) ([]byte, error) { return e.body, nil })
		})
	}
	read := func(e event) bool { return e.Offset < e.log.Next[topics.Schedule] }
	if err := write(read); err != nil {
		return err
	}
	var offsets kadm.Offsets
	for i, c := range chains {
		if im.read[i] = (position{c.next, c.epoch}); c.next > 0 {
			offsets.AddOffset(im.to.Deduped, int32(i), c.next, -1)
		}
	}
	im.commits[topics.Schedule] = offsets
	for _, l := range im.archive.logs("deduped") {
		if l.Next[topics.Schedule] < l.End {
			return write(func(e event) bool { return !read(e) })
		}
	}
	return nil
}

// scheduled writes the ledger of schedule. The last event of each partition has its position
// and its gauges.
func (im *importer) scheduled(ctx context.Context) error {
	chains := make([]chain, im.definition.Partitions)
	err := im.events("scheduled", func(e event) error {
		if len(e.Key) == 0 {
			return nil // gauges only
		}
		ev := new(weftpb.Scheduled)
		if err := proto.Unmarshal(e.body, ev); err != nil {
			return fmt.Errorf("%w: scheduled/%d at %d: %w", ledger.ErrCorrupt, e.log.Partition, e.Offset, err)
		}
		partition := im.partition("scheduled", e.Key, e.log.Partition)
		return im.append(ctx, "scheduled", partition, &chains[partition], e, func(offset int64) ([]byte, error) {
			if err := im.history.translate(ev, e.log.Partition, partition, offset); err != nil {
				return nil, fmt.Errorf("scheduled/%d at %d: %w", e.log.Partition, e.Offset, err)
			}
			return proto.Marshal(ev)
		})
	})
	if err != nil {
		return err
	}
	for i := range chains {
		if err := im.report(ctx, int32(i), &chains[i]); err != nil {
			return err
		}
	}
	return nil
}

// report writes the last event of a partition of scheduled, unless the partition is empty.
func (im *importer) report(ctx context.Context, partition int32, c *chain) error {
	read := im.read[partition]
	if c.next == 0 && read.next == 0 {
		return nil
	}
	var positions []*weftpb.Position
	if read.next > 0 {
		positions = append(positions, &weftpb.Position{Topic: im.to.Deduped, Offset: read.next - 1, Epoch: read.epoch})
	}
	now := entry{Archived: &weftpb.Archived{TimestampMs: im.out.now.UnixMilli()}, log: Log{Partition: noPartition}}
	return im.append(ctx, "scheduled", partition, c, event{entry: now, epoch: c.epoch}, func(offset int64) ([]byte, error) {
		return proto.Marshal(im.history.report(partition, offset))
	}, positions...)
}

// noPartition is the old partition of an event that was not in any.
const noPartition = -1

// append writes the records for an event of an old ledger: a claim, if it needs one, and the
// event with the body that it has at its new offset.
func (im *importer) append(
	ctx context.Context, topic string, partition int32, c *chain, e event,
	body func(offset int64) ([]byte, error), positions ...*weftpb.Position,
) error {
	if c.follow(e.log.Partition, e.epoch) {
		owner := "import of " + im.from.Crawl
		if e.log.Partition != noPartition {
			owner += fmt.Sprintf(", partition %d of %d", e.log.Partition, im.archive.Definition.Partitions)
		}
		claim := &weftpb.Archived{TimestampMs: e.TimestampMs}
		if err := im.out.copyOf(ctx, topic, partition, claim, ledger.ClaimOf(owner)); err != nil {
			return err
		}
	}
	if at := im.out.ends[topic][partition]; at != c.next {
		panic(fmt.Sprintf("transfer: event of %s/%d made for offset %d and written at %d", topic, partition, c.next, at))
	}
	translated, err := body(c.next)
	if err != nil {
		return err
	}
	raw, err := c.event(translated, positions...)
	if err != nil {
		return err
	}
	return im.out.copyOf(ctx, topic, partition, e.Archived, raw)
}
