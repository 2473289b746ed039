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

// position is how far a new partition of deduped is read: before next, with the
// claim of epoch.
type position struct{ next, epoch int64 }

// event is a valid event of an old ledger that says something.
type event struct {
	entry
	epoch int64
	body  []byte
}

// events calls visit with the valid events of a ledger, by its short name, that
// say something. Records of one partition come in order.
func (im *importer) events(topic string, visit func(event) error) error {
	readers := map[int32]*ledger.Reader{}
	return im.archive.each(topic, func(e entry) error {
		reader := readers[e.log.Partition]
		if reader == nil {
			reader = new(ledger.Reader)
			readers[e.log.Partition] = reader
		}
		ev, err := reader.Read(e.Value, topic, e.log.Partition, e.Offset)
		if err != nil || ev == nil || len(ev.Body) == 0 {
			return err
		}
		return visit(event{e, ev.Epoch, ev.Body})
	})
}

// owner is what a claim says that stands for one of an old partition.
func (im *importer) owner(old int32) string {
	return fmt.Sprintf("import of %s, partition %d of %d", im.from.Crawl, old, im.archive.Definition.Partitions)
}

// deduped writes the ledger of dedupe. What schedule has read comes first in
// each partition, so that one position tells what it has not read.
func (im *importer) deduped(ctx context.Context) error {
	chains := make([]chain, im.definition.Partitions)
	write := func(wanted func(event) bool) error {
		return im.events("deduped", func(e event) error {
			if !wanted(e) {
				return nil
			}
			partition := im.places.of(im.from.Deduped, e.Key, e.log.Partition)
			l, err := chains[partition].add(e.log.Partition, e.epoch, im.owner(e.log.Partition), e.body)
			if err != nil {
				return err
			}
			return im.append(ctx, im.to.Deduped, partition, e.entry, l)
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

// scheduled writes the ledger of schedule, and last in each partition where it
// goes on and what it holds.
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
		partition := im.places.of(im.from.Scheduled, e.Key, e.log.Partition)
		c := &chains[partition]
		if err := im.history.translate(ev, e.log.Partition, partition, c.offset(e.log.Partition, e.epoch)); err != nil {
			return fmt.Errorf("scheduled/%d at %d: %w", e.log.Partition, e.Offset, err)
		}
		body, err := proto.Marshal(ev)
		if err != nil {
			return fmt.Errorf("encode event: %w", err)
		}
		l, err := c.add(e.log.Partition, e.epoch, im.owner(e.log.Partition), body)
		if err != nil {
			return err
		}
		return im.append(ctx, im.to.Scheduled, partition, e.entry, l)
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

// report writes the last event of a partition of scheduled, unless it has none.
func (im *importer) report(ctx context.Context, partition int32, c *chain) error {
	read := im.read[partition]
	if c.next == 0 && read.next == 0 {
		return nil
	}
	var positions []*weftpb.Position
	if read.next > 0 {
		positions = append(positions, &weftpb.Position{Topic: im.to.Deduped, Offset: read.next - 1, Epoch: read.epoch})
	}
	body, err := proto.Marshal(im.history.report(partition, c.offset(nobody, c.epoch)))
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	l, err := c.add(nobody, c.epoch, "import of "+im.from.Crawl, body, positions...)
	if err != nil {
		return err
	}
	now := entry{Archived: &weftpb.Archived{TimestampMs: im.out.now.UnixMilli()}}
	return im.append(ctx, im.to.Scheduled, partition, now, l)
}

// nobody stands for the old partition of an event that comes from none.
const nobody = -1

// append writes the records of one step of a ledger.
func (im *importer) append(ctx context.Context, topic string, partition int32, e entry, l links) error {
	if l.claim != nil {
		claim := &weftpb.Archived{TimestampMs: e.TimestampMs}
		if err := im.out.copyOf(ctx, topic, partition, claim, l.claim); err != nil {
			return err
		}
	}
	if at := im.out.end(topic, partition); at != l.at {
		panic(fmt.Sprintf("transfer: event of %s/%d made for offset %d and written at %d", topic, partition, l.at, at))
	}
	return im.out.copyOf(ctx, topic, partition, e.Archived, l.event)
}
