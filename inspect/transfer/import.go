package transfer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/internal/kafka"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/topics"
)

// ImportOptions of an import.
type ImportOptions struct {
	// Client reaches the brokers of the new crawl.
	Client []kgo.Opt
	// Crawl is its name; empty: the old name. Partitions is their number; 0: the old
	// number. Replication is the number of copies of its topics.
	Crawl       string
	Partitions  int32
	Replication int16
	// Bodies is the store of large bodies for the new definition; empty: bodies are in
	// records. OpenBodies opens it.
	Bodies     string
	OpenBodies OpenBodies
	// Compression of what is written, see topics.ProducerOptions.
	Compression string
	// Again first deletes the remains of an interrupted import.
	Again bool
	// Logger gets a line for each topic; nil: no lines.
	Logger *slog.Logger
}

// Validate reports an option that cannot work.
func (o ImportOptions) Validate() error {
	switch {
	case o.Partitions < 0:
		return fmt.Errorf("%d partitions are too few", o.Partitions)
	case o.Bodies != "" && o.OpenBodies == nil:
		return errors.New("there is no function that opens the store of large bodies")
	case o.Crawl == "":
		return nil
	}
	return topics.CheckCrawl(o.Crawl)
}

// Imported is the result of an import.
type Imported struct {
	Definition topics.Definition
	// Records that were written, by topic without the crawl's name.
	Records map[string]int64
	// Pending URLs are still to be fetched.
	Pending int64
}

// Import makes a crawl from an export. The crawl cannot be used until the import is done:
// see topics.ErrImporting. The error wraps ErrExists, ErrHalf, ErrRunning, topics.ErrPinned
// if the crawl has another suffix list than this program, or ErrExport if the export is not
// valid.
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

type importer struct {
	Imported
	ImportOptions
	archive    *Archive
	definition topics.Definition // the new one
	from, to   topics.Names
	suffixes   *urls.Suffixes
	out        *output
	history    *history
	bodies     largeBodies
	// read is the position of schedule in each partition of deduped.
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
		ImportOptions: o, archive: a, definition: d, suffixes: urls.BundledSuffixes(),
		from: topics.Loop(a.Definition.Crawl), to: topics.Loop(d.Crawl),
		history: newHistory(d.Partitions), read: make([]position, d.Partitions), commits: map[topics.Stage]kadm.Offsets{},
	}
	im.Imported = Imported{Definition: d, Records: map[string]int64{}}
	return im
}

// moved changes a definition of the old crawl to one of the new crawl. last is the last
// definition of the old crawl.
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
	known.SuffixList = im.suffixes.Version()
	if err := im.archive.Definition.Agrees(known); err != nil {
		return err
	}
	client, err := kafka.NewClient(im.Client...)
	if err != nil {
		return err
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
	return topics.FinishImport(ctx, im.definition, im.archive.Paused, im.archive.Settings, im.Client...)
}

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

// write writes all topics. The ledgers are first: they say which visits are out, and so
// which records of visited and fetched are still of use.
func (im *importer) write(ctx context.Context, to appender) error {
	im.out = newOutput(im.to, to)
	for _, step := range []struct {
		topic string
		write func(context.Context) error
	}{
		{"deduped", im.deduped},
		{"scheduled", im.scheduled},
		{"visited", im.visited},
		{"fetched", im.fetched},
		{"seeds", im.plain("seeds")},
		{"discovered", im.plain("discovered")},
		{"normalized", im.plain("normalized")},
		{"parsed", im.plain("parsed")},
		{"rejected", im.rejected},
	} {
		if err := step.write(ctx); err != nil {
			return err
		}
		// Before the next, so that an error names its topic.
		if err := im.out.flush(ctx); err != nil {
			return err
		}
		for _, end := range im.out.ends[step.topic] {
			im.Records[step.topic] += end
		}
		im.Logger.Info("imported", "topic", fullName(im.to, step.topic), "records", im.Records[step.topic])
	}
	for i := range im.history.parts {
		im.Pending += im.history.parts[i].gauges.Pending
	}
	return nil
}

// partition is the new partition of a record that was in partition old of topic. The key of
// a record is its domain, except in parsed, where it is a URL, and in seeds, where it may be
// anything or nothing.
func (im *importer) partition(topic string, key []byte, old int32) int32 {
	n, domain := im.definition.Partitions, string(key)
	if topic == "parsed" {
		u, refusal := urls.Parse(domain)
		if domain = ""; refusal == urls.Accepted {
			domain = im.suffixes.Domain(u.Hostname())
		}
	}
	if domain == "" {
		return old % n
	}
	return topics.Partition(domain, n)
}
