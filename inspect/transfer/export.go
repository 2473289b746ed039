package transfer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/internal/kafka"
	"github.com/weftcrawl/weft/internal/topiclog"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/topics"
)

// ExportOptions of an export.
type ExportOptions struct {
	// Crawl to be exported, and Client, the options that reach its brokers.
	Crawl  string
	Client []kgo.Opt
	// Dir is the folder to write; it must not exist or be empty.
	Dir string
	// WithoutPages leaves out the records of parsed and rejected.
	WithoutPages bool
	// Bodies opens the store of large bodies.
	Bodies OpenBodies
	// Damaged describes the parts of the crawl's logs that cannot be read.
	Damaged []string
	// Logger gets a line for each topic; nil: no lines.
	Logger *slog.Logger
}

// Validate reports an option that cannot work.
func (o ExportOptions) Validate() error {
	switch {
	case o.Dir == "":
		return errors.New("no folder to export to")
	case o.Bodies == nil:
		return errors.New("there is no function that opens the store of large bodies")
	}
	return topics.CheckCrawl(o.Crawl)
}

// Export copies a crawl that does not run to a folder. It does not change the crawl. The
// error wraps ErrRunning, ledger.ErrTrimmed, ErrUnsettled, or the error of
// topics.ReadDefinition for a crawl that does not exist. After an error the folder has no
// valid export.
func Export(ctx context.Context, o ExportOptions) (*Manifest, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	reader, err := topiclog.New(o.Client...)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	client, err := kafka.NewClient(o.Client...)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	e := &exporter{ExportOptions: o, names: topics.Loop(o.Crawl), reader: reader, admin: kadm.NewClient(client)}
	e.Format, e.At, e.Manifest.Damaged = wholeFormat, time.Now().UTC(), o.Damaged
	if err := e.run(ctx); err != nil {
		return nil, fmt.Errorf("export %s: %w", o.Crawl, err)
	}
	if len(e.Manifest.Damaged) > 0 {
		return nil, fmt.Errorf("export %s: %w: %s", o.Crawl, ErrDamaged, strings.Join(e.Manifest.Damaged, "; "))
	}
	return &e.Manifest, nil
}

type exporter struct {
	ExportOptions
	Manifest
	names  topics.Names
	reader *topiclog.Reader
	admin  *kadm.Client
	bounds map[string]map[int32]topiclog.Bounds
	bodies largeBodies
	// next are the offsets at which stages go on.
	next map[partitionOf]map[topics.Stage]int64
}

// partitionOf is a partition of a topic, by its full name.
type partitionOf struct {
	topic     string
	partition int32
}

// exported is what an export has of one topic, which has its short name.
type exported struct {
	topic string
	// owner of a ledger, which is copied whole.
	owner topics.Stage
	// reader is the stage whose consumed records are left out; empty: all records are
	// copied.
	reader topics.Stage
	// pages may be left out.
	pages bool
}

// exportedTopics are in the order of an export. Ledgers are first: they say where their readers go on
// in their inputs. All of fetched is copied, because a takeover looks in it for exchanges that
// were not reported.
var exportedTopics = []exported{
	{topic: "scheduled", owner: topics.Schedule},
	{topic: "deduped", owner: topics.Dedupe},
	{topic: "seeds", reader: topics.Normalize},
	{topic: "discovered", reader: topics.Normalize},
	{topic: "normalized", reader: topics.Dedupe},
	{topic: "visited", reader: topics.Schedule},
	{topic: "fetched"},
	{topic: "parsed", pages: true},
	{topic: "rejected", pages: true},
}

// ErrUnsettled means that the logs do not have the offset that a stage reads next.
var ErrUnsettled = errors.New("a log does not have the record that its stage reads next: start the crawl, which repairs it or says what is wrong, and stop it")

// ErrDamaged means that an export has only the readable part of its crawl.
var ErrDamaged = errors.New("the export is only the readable part of a damaged crawl, and cannot be imported")

// ErrChanged means that a crawl changed while it was read.
var ErrChanged = errors.New("it changed while it was read")

func (e *exporter) run(ctx context.Context) (err error) {
	if err := e.define(ctx); err != nil {
		return err
	}
	if err := idle(ctx, e.admin, e.names); err != nil {
		return err
	}
	if e.bounds, err = e.allBounds(ctx); err != nil {
		return err
	}
	if err := e.workers(ctx); err != nil {
		return err
	}
	e.bodies = largeBodies{open: e.Bodies, location: e.Definition.Bodies, fetched: e.names.Fetched, admin: e.admin, log: e.Logger}
	if err := makeEmpty(e.Dir); err != nil {
		return err
	}
	for _, p := range exportedTopics {
		if e.WithoutPages && p.pages {
			continue
		}
		if err := e.copy(ctx, p); err != nil {
			return err
		}
	}
	if err := e.unchanged(ctx); err != nil {
		return err
	}
	if len(e.Manifest.Damaged) > 0 {
		e.Format = Format
	}
	return e.write(e.Dir)
}

// define reads all definitions of the crawl.
func (e *exporter) define(ctx context.Context) (err error) {
	if e.Definition, err = topics.ReadDefinition(ctx, e.names, e.Client...); err != nil {
		return err
	}
	orders, err := topics.ReadOrders(ctx, e.names, e.Client...)
	if err != nil {
		return err
	}
	e.Paused, e.Settings = orders.Control.Paused, orders.Settings
	return e.reader.Records(ctx, e.names.Config, func(r *kgo.Record) error {
		d, ok := topics.DefinitionIn(r.Value, e.names.Crawl)
		if ok && !slices.ContainsFunc(e.Had, func(h topics.Definition) bool { return reflect.DeepEqual(h, d) }) {
			e.Had = append(e.Had, d)
		}
		return nil
	})
}

func (e *exporter) allBounds(ctx context.Context) (map[string]map[int32]topiclog.Bounds, error) {
	all := map[string]map[int32]topiclog.Bounds{}
	for _, t := range e.names.Topics() {
		b, err := e.reader.Bounds(ctx, t.Name)
		if err != nil {
			return nil, err
		}
		all[t.Name] = b
	}
	return all, nil
}

// unchanged makes sure that the copy is of one moment of the crawl.
func (e *exporter) unchanged(ctx context.Context) error {
	if err := idle(ctx, e.admin, e.names); err != nil {
		return err
	}
	now, err := e.allBounds(ctx)
	if err != nil {
		return err
	}
	for topic, bounds := range now {
		if !maps.Equal(bounds, e.bounds[topic]) {
			return fmt.Errorf("%w: %s grew or was trimmed", ErrChanged, topic)
		}
	}
	return nil
}

// workers notes where the stages go on whose position is a commit.
func (e *exporter) workers(ctx context.Context) error {
	e.next = map[partitionOf]map[topics.Stage]int64{}
	for _, stage := range topics.StagesOf(topics.Worker, topics.Archiver) {
		for _, topic := range e.names.Inputs(stage) {
			commits, err := e.reader.Commits(ctx, e.names.Group(stage), topic)
			if err != nil {
				return err
			}
			if len(commits) == 0 && topics.KindOf(stage) == topics.Archiver {
				continue // the crawl has no archive
			}
			for partition, log := range e.bounds[topic] {
				if err := e.goOn(topic, partition, stage, max(commits[partition], log.Start)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (e *exporter) goOn(topic string, partition int32, stage topics.Stage, offset int64) error {
	if log := e.bounds[topic][partition]; offset < log.Start || offset > log.End {
		return fmt.Errorf("%w: %s/%d has %d to %d, and %s goes on at %d", ErrUnsettled, topic, partition, log.Start, log.End, stage, offset)
	}
	at := partitionOf{topic, partition}
	if e.next[at] == nil {
		e.next[at] = map[topics.Stage]int64{}
	}
	e.next[at][stage] = offset
	return nil
}

func (e *exporter) copy(ctx context.Context, p exported) error {
	if err := os.Mkdir(filepath.Join(e.Dir, p.topic), 0o755); err != nil {
		return fmt.Errorf("make folder of export: %w", err)
	}
	topic := fullName(e.names, p.topic)
	for _, partition := range slices.Sorted(maps.Keys(e.bounds[topic])) {
		l := Log{Topic: p.topic, Partition: partition, Next: e.next[partitionOf{topic, partition}]}
		if err := e.segment(ctx, p, topic, &l); err != nil {
			return err
		}
		e.Logs = append(e.Logs, l)
	}
	e.Logger.Info("exported", "topic", topic, "records", e.Records(p.topic))
	return nil
}

// fullName is the name of a topic on its brokers.
func fullName(n topics.Names, short string) string { return n.Crawl + "." + short }

// segment copies one partition.
func (e *exporter) segment(ctx context.Context, p exported, topic string, l *Log) error {
	log := e.bounds[topic][l.Partition]
	if p.reader != "" {
		log.Start = l.Next[p.reader]
	}
	if p.owner != "" && log.Start > 0 {
		return fmt.Errorf("%w: %s/%d begins at %d, and only a crawl whose ledgers are whole can be moved",
			ledger.ErrTrimmed, topic, l.Partition, log.Start)
	}
	l.Start, l.End = log.Start, log.End
	positions := map[string]int64{} // up to which the owner of a ledger has folded its inputs
	if log.Start < log.End {
		l.File = filepath.Join(l.Topic, fmt.Sprintf("%05d.zst", l.Partition))
		out, err := createSegment(filepath.Join(e.Dir, l.File))
		if err != nil {
			return err
		}
		var reader ledger.EventReader
		read := e.reader.Range
		if p.topic == "seeds" {
			read = e.reader.CommittedRange // an import writes no transactions
		}
		err = read(ctx, topic, map[int32]topiclog.Bounds{l.Partition: log}, func(r *kgo.Record) error {
			if p.owner != "" {
				ev, err := reader.Read(r.Value, r.Topic, r.Partition, r.Offset)
				if errors.Is(err, ledger.ErrCorrupt) {
					e.Manifest.Damaged = append(e.Manifest.Damaged, err.Error())
					p.owner = "" // its position after the damage is not known
				} else if err != nil {
					return err
				}
				for _, at := range ev.GetPositions() {
					positions[at.Topic] = at.Offset
				}
			}
			if p.topic == "fetched" && classOf(*l, r.Offset) != doneByAll {
				var err error
				if r.Value, err = e.bodies.load(ctx, r.Value); err != nil {
					return err
				}
			}
			return out.write(r)
		})
		if err != nil {
			out.abandon()
			return err
		}
		if err := out.finish(l); err != nil {
			return err
		}
	}
	if p.owner == "" {
		return nil
	}
	for _, input := range e.names.Inputs(p.owner) {
		next := e.bounds[input][l.Partition].Start
		if at, known := positions[input]; known {
			next = at + 1
		}
		if err := e.goOn(input, l.Partition, p.owner, next); err != nil {
			return err
		}
	}
	return nil
}

// ErrFolder means that the folder for an export is not empty.
var ErrFolder = errors.New("an export needs an empty folder; the remains of an interrupted export can be deleted")

func makeEmpty(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make folder of export: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("read folder of export: %w", err)
	}
	if len(entries) > 0 {
		return fmt.Errorf("%w: %s is not empty", ErrFolder, dir)
	}
	return nil
}
