package transfer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/urls"
)

// ImportOptions of an import.
type ImportOptions struct {
	// Client reaches the brokers of the new crawl.
	Client []kgo.Opt
	// Crawl is its name; empty: the one that it had. Partitions is their
	// number; 0: as before. Replication is the number of copies of its topics.
	Crawl       string
	Partitions  int32
	Replication int16
	// Bodies is the place of large bodies, as its definition is to name it;
	// empty: in records. OpenBodies opens it.
	Bodies     string
	OpenBodies OpenBodies
	// Compression of what is written, see topics.ProducerOptions.
	Compression string
	// Again deletes first what an import that did not come to its end left.
	Again bool
	// Logger is told of each topic; nil: nobody.
	Logger *slog.Logger
}

// Validate says what is wrong with the options, if anything.
func (o ImportOptions) Validate() error {
	switch {
	case o.Partitions < 0:
		return fmt.Errorf("%d partitions are too few", o.Partitions)
	case o.Bodies != "" && o.OpenBodies == nil:
		return errors.New("nothing opens the place of large bodies")
	case o.Crawl == "":
		return nil
	}
	return topics.CheckCrawl(o.Crawl)
}

// Imported says what an import made.
type Imported struct {
	Definition topics.Definition
	// Records that were written, by topic without the crawl's name.
	Records map[string]int64
	// Pending URLs are left to be fetched.
	Pending int64
}

// Import makes a crawl of an export. Until it is done, the crawl cannot be used:
// see topics.ErrImporting. The error wraps ErrExists, ErrHalf, ErrRunning, or
// topics.ErrPinned when the crawl's domains are not those of this program's
// suffix list; ErrExport if the export is not what a crawl writes.
func Import(ctx context.Context, a *Archive, o ImportOptions) (*Imported, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	im := newImporter(a, o)
	if err := im.run(ctx); err != nil {
		return nil, fmt.Errorf("import %s: %w", im.definition.Crawl, err)
	}
	return &im.Imported, nil
}

// importer makes one crawl.
type importer struct {
	Imported
	ImportOptions
	archive    *Archive
	definition topics.Definition // the new one
	from, to   topics.Names
	places     places
	out        *output
	history    *history
	bodies     largeBodies
	// read says how far schedule has read each partition of deduped.
	read []position
	// commits of workers, by stage, topic and partition.
	commits map[topics.Stage]kadm.Offsets
}

func newImporter(a *Archive, o ImportOptions) *importer {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	d := o.moved(a.Definition, a.Definition)
	im := &importer{
		ImportOptions: o, archive: a, definition: d,
		from: topics.Loop(a.Definition.Crawl), to: topics.Loop(d.Crawl),
		history: newHistory(d.Partitions), read: make([]position, d.Partitions), commits: map[topics.Stage]kadm.Offsets{},
	}
	im.places = places{im.from, d.Partitions, urls.BundledSuffixes()}
	im.Imported = Imported{Definition: d, Records: map[string]int64{}}
	return im
}

// moved is a definition of the old crawl as one of the new one; last is the old
// crawl's last.
func (o ImportOptions) moved(d, last topics.Definition) topics.Definition {
	if o.Crawl != "" {
		d.Crawl = o.Crawl
	}
	d.Bodies = o.Bodies
	d.Partitions, d.FormerPartitions = last.Partitions, last.FormerPartitions
	if o.Partitions > 0 && o.Partitions != last.Partitions {
		d.Partitions, d.FormerPartitions = o.Partitions, max(last.Partitions, last.FormerPartitions)
	}
	return d
}

func (im *importer) run(ctx context.Context) error {
	if im.definition.Bodies == "" && im.definition.MaxBody > topics.LargestInRecord {
		return fmt.Errorf("%w: the crawl takes up to %d bytes", ErrBodies, im.definition.MaxBody)
	}
	known := im.archive.Definition
	known.SuffixList = im.places.suffixes.Version()
	if err := im.archive.Definition.Agrees(known); err != nil {
		return err
	}
	client, err := kgo.NewClient(im.Client...)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer client.Close()
	t := target{names: im.to, admin: kadm.NewClient(client), client: im.Client}
	im.bodies = largeBodies{open: im.OpenBodies, location: im.Bodies, fetched: im.to.Fetched, admin: t.admin, log: im.Logger}
	if err := t.prepare(ctx, im.definition, im.Replication, im.Again); err != nil {
		return err
	}
	var had []topics.Definition
	for _, d := range append(im.archive.Had, im.archive.Definition) {
		had = append(had, im.moved(d, im.archive.Definition))
	}
	if err := topics.BeginImport(ctx, had, im.Client...); err != nil {
		return err
	}
	if err := im.produce(ctx); err != nil {
		return err
	}
	for _, stage := range stages() {
		if err := t.commit(ctx, stage, im.commits[stage]); err != nil {
			return err
		}
	}
	return topics.FinishImport(ctx, im.definition, im.archive.Paused, im.Client...)
}

// produce writes all topics.
func (im *importer) produce(ctx context.Context) error {
	options := topics.DefaultProducerOptions()
	options.Manual = true
	if im.Compression != "" {
		options.Compression = im.Compression
	}
	producer, err := topics.NewProducer(im.to, options, im.Client...)
	if err != nil {
		return err
	}
	defer producer.Close()
	return im.write(ctx, producer)
}

// write writes all topics. The ledgers come first: they say which visits are
// out, and so what of visited and fetched still means anything.
func (im *importer) write(ctx context.Context, to appender) error {
	im.out = newOutput(to)
	for _, step := range []struct {
		topic string
		write func(context.Context) error
	}{
		{"deduped", im.deduped},
		{"scheduled", im.scheduled},
		{"visited", im.visited},
		{"fetched", im.fetched},
		{"seeds", im.plain(im.from.Seeds, im.to.Seeds, "seeds")},
		{"discovered", im.plain(im.from.Discovered, im.to.Discovered, "discovered")},
		{"normalized", im.plain(im.from.Normalized, im.to.Normalized, "normalized")},
		{"parsed", im.plain(im.from.Parsed, im.to.Parsed, "parsed")},
		{"rejected", im.rejected},
	} {
		if err := step.write(ctx); err != nil {
			return err
		}
		// Before the next, so that an error names its topic.
		if err := im.out.flush(ctx); err != nil {
			return err
		}
		for _, end := range im.out.ends[im.to.Crawl+"."+step.topic] {
			im.Records[step.topic] += end
		}
		im.Logger.Info("imported", "topic", im.to.Crawl+"."+step.topic, "records", im.Records[step.topic])
	}
	for i := range im.history.parts {
		im.Pending += im.history.parts[i].gauges.Pending
	}
	return nil
}
