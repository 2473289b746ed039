package crawl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/inspect/status"
	"github.com/weftcrawl/weft/internal/broker"
	"github.com/weftcrawl/weft/internal/dirlock"
	"github.com/weftcrawl/weft/internal/settings"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/internal/trouble"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/processors/archive"
	"github.com/weftcrawl/weft/processors/archive/jsonl"
	"github.com/weftcrawl/weft/topics"
)

// session is an open crawl: a connection to its brokers and its definition in force.
type session struct {
	opts    Options
	broker  *broker.Broker // nil on a cluster
	env     stage.Env
	admin   *kadm.Client
	client  *kgo.Client
	status  *status.Monitor
	meter   *meter
	stages  []topics.Stage // that this process runs
	remote  *ledger.Remote // nil: checkpoints are only local
	whole   bool           // it runs all stages, and writes files
	archive archive.Options
	settle  chan struct{} // closed when files are to be completed
	expiry  expiry
	names   *instances
	control *controlListener
	log     *slog.Logger
}

// open opens the data directory or connects to the cluster, for a process that runs these stages,
// and puts the crawl's topics and definition in force.
func open(ctx context.Context, o Options, stages []topics.Stage, whole bool) (*session, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &session{opts: o, stages: stages, whole: whole, meter: newMeter(o.Registry), names: new(instances), settle: make(chan struct{}), log: o.Logger}
	err := s.openCheckpoints(ctx)
	if err == nil {
		err = s.connect(ctx)
	}
	if err == nil {
		err = s.define(ctx)
	}
	if err == nil {
		s.control, err = newControlListener(ctx, s.env.Names, s.log, stages, s.connection()...)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	if o.Ordered != nil {
		s.control.ordered = o.Ordered
	}
	s.env.Pauses, s.env.Settings, s.env.Known = s.control.pauses, s.control.settings, s.meter.known
	s.env.Troubles = trouble.NewReporter(s.env.Names, s.admin, s.env.Member, s.env.Definition.Partitions)
	return s, nil
}

// openCheckpoints makes sure that checkpoints can be sent to their store.
func (s *session) openCheckpoints(ctx context.Context) error {
	if s.opts.Checkpoints == "" {
		return nil
	}
	bucket, err := OpenStore(ctx, "checkpoints", s.opts.Checkpoints)
	if err != nil {
		return err
	}
	s.remote = ledger.NewRemote(bucket, s.log)
	return nil
}

func (s *session) connect(ctx context.Context) error {
	o := s.opts
	access, compression := o.Cluster, "lz4"
	if o.embedded() {
		if err := existing(o); err != nil {
			return err
		}
		b, err := o.openBroker(ctx)
		if err != nil {
			return err
		}
		s.broker, access, compression = b, memberAccess(b.Member()), "none"
	} else if err := access.Ping(ctx); err != nil {
		return err
	}
	// The reserve of free disk is checked there before anything is stored.
	if err := os.MkdirAll(o.stateDir(), 0o755); err != nil {
		return fmt.Errorf("%w: %w", ErrUsage, err)
	}
	member, err := memberName(o)
	if err != nil {
		return err
	}
	if !o.embedded() { // an embedded broker ends with its only member
		names, err := takeInstances(o.Dir, o.Definition.Crawl, member, dirlock.Boot(), s.stages)
		if err != nil {
			return err
		}
		s.names = names
	}
	s.env = stage.Env{
		Cluster: access, Embedded: o.embedded(), Compression: compression,
		Names: topics.Loop(o.Definition.Crawl), Dir: o.stateDir(), Member: member, Instances: s.names.ids,
		SessionTimeout: o.Fetch.SessionTimeout, Heartbeat: o.Fetch.Heartbeat, Reserve: stage.NewReserve(o.reserve()),
		Positions: stage.NewPositions(),
		Clock:     o.Clock, Checkpoints: s.remote,
		Meter: s.meter, Logger: o.Logger,
	}
	if s.client, err = access.NewClient(); err != nil {
		return err
	}
	s.admin = kadm.NewClient(s.client)
	s.status, err = status.NewMonitor(s.env.Names, access.Options()...)
	return err
}

// existing refuses to resume a crawl that does not exist.
func existing(o Options) error {
	if len(o.Seeds) > 0 {
		return nil
	}
	if _, err := os.Stat(o.brokerDir()); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: there is no crawl in %s to resume, and no URL to begin with", ErrUsage, o.Dir)
	}
	return nil
}

// define creates or checks the topics, and writes the definition if it is new.
func (s *session) define(ctx context.Context) error {
	have, err := topics.ReadDefinition(ctx, s.env.Names, s.connection()...)
	fresh := errors.Is(err, topics.ErrUndefined)
	if err != nil && !fresh {
		return err
	}
	want := have
	if fresh {
		if err := neverBegan(ctx, s.env.Names, s.admin, s.connection()); err != nil {
			return err
		}
		want = s.opts.Definition
		want.Version, want.SuffixList = topics.DefinitionVersion, urls.BundledSuffixes().Version()
	}
	if s.opts.Redefine != nil {
		want = s.opts.Redefine(want)
	}
	if s.opts.WARC && want.Archive == "" {
		want.Archive = topics.InData
	}
	if want.Partitions == 0 {
		want.Partitions = DefaultPartitions
	}
	if s.opts.embedded() && want.Bodies == "" {
		want.Bodies = topics.InData
	}
	if err := settings.CheckDefinition(want); err != nil {
		return fmt.Errorf("%w: %w", ErrUsage, err)
	}
	place := want.Bodies
	bucket, err := s.openBodies(ctx, want) // before the location is written, which never changes
	if err == nil {
		err = s.tryArchive(ctx, have, want)
	}
	if err != nil {
		return err
	}
	if fresh {
		if s.opts.embedded() && want.Partitions > MostPartitions {
			return fmt.Errorf("%w: %d partitions are too many for one process: it takes at most %d", ErrUsage, want.Partitions, MostPartitions)
		}
		if err := s.checkReplay(ctx, want); err != nil {
			return err
		}
		spec := topics.Spec{Crawl: want.Crawl, Partitions: want.Partitions, Replication: max(s.opts.Replication, 1)}
		if _, err := topics.Create(ctx, s.admin, spec); err != nil {
			return err
		}
	} else if err := have.Agrees(want); err != nil {
		return fmt.Errorf("%w: %w", ErrUsage, err)
	}
	if err := topics.Check(ctx, s.admin, s.env.Names, want.Partitions); err != nil {
		return err
	}
	switch {
	case fresh:
		// Another process may begin the crawl at the same time.
		if want, err = topics.Pin(ctx, want, s.connection()...); errors.Is(err, topics.ErrPinned) {
			err = fmt.Errorf("%w: %w", ErrUsage, err)
		}
	case !reflect.DeepEqual(want, have):
		want = want.After(have, time.Now())
		err = topics.WriteDefinition(ctx, want, s.connection()...)
	}
	if err == nil && want.Bodies != place { // another process's definition was first
		bucket, err = s.openBodies(ctx, want)
	}
	if err == nil {
		err = s.useBodies(ctx, bucket)
	}
	if err != nil {
		return err
	}
	s.env.Definition = want
	s.opts.Fetch = s.opts.Fetch.For(want)
	if err := s.openReplay(ctx); err != nil {
		return err
	}
	return s.openArchive(ctx)
}

// DefaultPartitions is the number of partitions of a new crawl if nothing else is said. It is for one machine: enough
// for its cores, few enough for large batches.
const DefaultPartitions = 4

// MostPartitions is the largest number of partitions of a crawl with the embedded broker. Each takes some 7 MB of memory
// when all stages begin: with 1,024 a crawl had not begun after two minutes.
const MostPartitions = 256

func (s *session) seed(ctx context.Context) error {
	if len(s.opts.Seeds) == 0 {
		return nil
	}
	producer, err := topics.NewProducer(s.env.Names, topics.DefaultProducerOptions(), s.connection()...)
	if err != nil {
		return err
	}
	defer producer.Close()
	records := make([]*kgo.Record, len(s.opts.Seeds))
	for i, seed := range s.opts.Seeds {
		records[i] = &kgo.Record{Topic: s.env.Names.Seeds, Value: seed}
	}
	if err := producer.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return fmt.Errorf("write seeds: %w", err)
	}
	return nil
}

func (s *session) connection() []kgo.Opt { return s.env.Cluster.Options() }

// openPages opens the files of pages at their end, or before it if a crash has cut the log of
// parsed.
func (s *session) openPages(ctx context.Context) (*jsonl.Pages, error) {
	o := s.opts.Pages
	if o.Dir == "" && o.File == "" && o.Stream == nil {
		o.Dir = s.opts.pagesDir()
	}
	if o.Stream != nil && o.StateFile == "" {
		// With it a crawl that goes on does not print everything again.
		o.StateFile = filepath.Join(s.opts.Dir, "stream.state")
	}
	id, err := s.topicID(ctx, s.env.Names.Parsed)
	if err != nil {
		return nil, err
	}
	o.Topic = id.String()
	pages, err := jsonl.Open(o)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	ends, err := s.ends(ctx, s.env.Names.Parsed)
	if err != nil {
		return nil, errors.Join(err, pages.Close())
	}
	for partition, next := range pages.Offsets() {
		if end := ends[partition]; next > end {
			if err := pages.Rewind(partition, end); err != nil {
				return nil, errors.Join(err, pages.Close())
			}
		}
	}
	return pages, nil
}

func (s *session) ends(ctx context.Context, topic string) (map[int32]int64, error) {
	listed, err := s.admin.ListEndOffsets(ctx, topic)
	if err := cmp.Or(err, listed.Error()); err != nil {
		return nil, fmt.Errorf("end of %s: %w", topic, err)
	}
	ends := map[int32]int64{}
	listed.Each(func(o kadm.ListedOffset) { ends[o.Partition] = o.Offset })
	return ends, nil
}

// janitor trims records that the stages have consumed.
func (s *session) janitor() broker.Janitor {
	readers := map[string][]string{}
	for _, stage := range s.env.Definition.Stages() {
		for _, topic := range s.env.Names.Inputs(stage) {
			if t, _ := s.env.Names.Topic(topic); t.Kept == topics.UntilConsumed {
				readers[topic] = append(readers[topic], s.env.Names.Group(stage))
			}
		}
	}
	return broker.Janitor{
		Admin: s.admin, Readers: readers, Every: 5 * time.Second, Logger: s.log,
		// A takeover looks in fetched for exchanges that were not reported.
		Keep: map[string]time.Duration{s.env.Names.Fetched: 2 * s.opts.Fetch.SessionTimeout},
	}
}

func (s *session) close() {
	if s.remote != nil {
		s.remote.Close()
	}
	if s.status != nil {
		s.status.Close()
	}
	if s.client != nil {
		s.client.Close()
	}
	if err := s.names.release(); err != nil {
		s.log.Warn("releasing instance ids failed", "error", err)
	}
	if s.broker != nil {
		if err := s.broker.Close(); err != nil {
			s.log.Warn("closing the broker failed", "error", err)
		}
	}
}
