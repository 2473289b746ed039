package ledger

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/IBM/sarama"
	"github.com/cockroachdb/pebble/v2"
	"github.com/lovoo/goka"
	"github.com/lovoo/goka/codec"
	"github.com/lovoo/goka/storage"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weftcrawl/weft/cluster"
)

// runner is one life of a stage, from its joining the group to its first error.
// It knows the partitions that the process owns.
type runner struct {
	Definition
	opts     Options
	log      *slog.Logger
	cache    *pebble.Cache
	admin    *kadm.Client
	ledgerID string // topic id: offsets of a recreated topic mean nothing
	stateDir string
	cluster  string          // the name of its folder
	life     context.Context // of once

	strangers *complainer // outlives this life

	// rejoin has the group say again which partitions are ours: whoever wrote to one
	// may be its owner, and then two owners would fence each other without end.
	rejoin func()

	topics      sarama.Client // of topicManager
	dialer      *dialer
	recoverFrom sarama.Consumer // of recoveries
	inputsFrom  sarama.Consumer // of inputs

	mu     sync.Mutex
	tables map[int32]*table
	dead   error // first error that no new life can mend
}

// judge remembers an error that ends the stage for good, and returns it. goka
// wraps errors by their text, so the supervisor asks the runner instead.
func (r *runner) judge(err error) error {
	if !lasting(err) && !errors.Is(err, cluster.ErrID) {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dead == nil {
		r.dead = err
	}
	return err
}

// fatal is the first error that no new life can mend; nil: none.
func (r *runner) fatal() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.dead
}

// once runs the processors of the partitions that the group assigns until ctx
// ends or the stage fails.
func (r *runner) once(ctx context.Context) (err error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	client, err := r.client()
	if err != nil {
		return err
	}
	defer client.Close()
	r.admin = kadm.NewClient(client)
	if err := r.identify(ctx, client); err != nil {
		return err
	}
	r.cache = pebble.NewCache(r.opts.CacheBytes)
	defer r.cache.Unref()
	defer func() { err = errors.Join(err, r.disconnect()) }()
	if err := r.connect(); err != nil {
		return err
	}
	m, err := r.join(fail)
	if err != nil {
		return err
	}
	err = m.follow(ctx)
	if failed := context.Cause(ctx); err == nil && !errors.Is(failed, context.Canceled) {
		err = failed
	}
	fail(nil) // which ends all partitions at once
	m.leave()
	return err
}

// live runs one processor of a partition until ctx ends or it fails.
func (r *runner) live(ctx context.Context, of *membership, partition int32) error {
	proc, err := r.processor(of, partition)
	if err != nil {
		return fmt.Errorf("build processor of %s/%d: %w", r.ledger, partition, err)
	}
	err = proc.Run(ctx)
	if t := r.table(partition); t != nil { // goka leaves it open when a setup failed
		err = errors.Join(err, t.Close())
	}
	return err
}

// identify finds the ledger's topic id and with it the state's directory.
func (r *runner) identify(ctx context.Context, client *kgo.Client) (err error) {
	r.life = ctx
	if r.cluster, r.ledgerID, err = identify(ctx, client, r.ledger); err != nil {
		return r.judge(err)
	}
	r.stateDir = filepath.Join(r.opts.Dir, r.cluster, r.ledger+"-"+r.ledgerID)
	return nil
}

// identify returns the name of the cluster's folder and the id of a ledger's
// topic, in hexadecimal.
func identify(ctx context.Context, client *kgo.Client, ledger string) (folder, id string, err error) {
	// Asked for directly, since kadm may answer from a cache that knows no
	// cluster id.
	req := kmsg.NewPtrMetadataRequest()
	topic := kmsg.NewMetadataRequestTopic()
	topic.Topic = kmsg.StringPtr(ledger)
	req.Topics = append(req.Topics, topic)
	resp, err := req.RequestWith(ctx, client)
	if err == nil {
		err = kerr.ErrorForCode(resp.Topics[0].ErrorCode)
	}
	if err != nil {
		return "", "", fmt.Errorf("describe %s: %w", ledger, err)
	}
	if resp.ClusterID == nil {
		return "", "", fmt.Errorf("describe %s: the cluster has no id", ledger)
	}
	folder, err = cluster.Folder(*resp.ClusterID)
	return folder, hex.EncodeToString(resp.Topics[0].TopicID[:]), err
}

// processor builds the goka processor of a partition.
func (r *runner) processor(of *membership, partition int32) (*goka.Processor, error) {
	raw := new(codec.Bytes)
	edges := []goka.Edge{goka.Persist(raw)}
	for _, in := range r.inputs {
		edges = append(edges, goka.Input(goka.Stream(in.topic), raw, func(ctx goka.Context, msg any) {
			value, _ := msg.([]byte)
			if err := r.table(ctx.Partition()).take(ctx, in.topic, value); err != nil {
				ctx.Fail(err)
			}
		}))
	}
	tableSuffix()
	return goka.NewProcessor(r.opts.Cluster.Brokers, goka.DefineGroup(goka.Group(r.ledger), edges...), r.gokaOptions(of, partition)...)
}

// tableSuffix makes a group's table topic the group's own name, once: it is a
// global of goka.
var tableSuffix = sync.OnceFunc(func() { goka.SetTableSuffix("") })

// newTable is goka's storage builder.
func (r *runner) newTable(_ string, partition int32) (storage.Storage, error) {
	t := &table{
		run: r, partition: partition,
		dir: filepath.Join(r.stateDir, strconv.Itoa(int(partition))),
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tables[partition] != nil {
		return nil, fmt.Errorf("partition %d of %s is already open", partition, r.ledger)
	}
	r.tables[partition] = t
	return t, nil
}

func (r *runner) table(partition int32) *table {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tables[partition]
}

func (r *runner) forget(t *table) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tables[t.partition] == t {
		delete(r.tables, t.partition)
	}
}

// client makes a Kafka client with the caller's options and opts.
func (r *runner) client(opts ...kgo.Opt) (*kgo.Client, error) {
	client, err := kgo.NewClient(append(r.opts.Cluster.Client(), opts...)...)
	if err != nil {
		return nil, fmt.Errorf("connect to %v: %w", r.opts.Cluster.Brokers, err)
	}
	return client, nil
}

// newLog makes the producer of one partition: a client of its own, so that its
// first error can end it without touching other partitions.
func (r *runner) newLog() (Log, error) {
	opts := []kgo.Opt{
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerLinger(5 * time.Millisecond),
		kgo.RecordDeliveryTimeout(time.Minute),
	}
	if r.opts.Writer != nil {
		opts = append(opts, r.opts.Writer()...)
	}
	return r.client(opts...)
}

// bounds returns the first offset and the end of the ledger's partition.
func (r *runner) bounds(partition int32) (Bounds, error) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	return boundsOf(ctx, r.admin, r.ledger, partition)
}

// source reads a partition of the ledger.
func (r *runner) source(partition int32) source {
	return source{client: r.opts.Cluster.Client(), topic: r.ledger, partition: partition}
}

// route returns the headers that bring an event to its partition's writer.
func (r *runner) route(partition int32) goka.Headers {
	return goka.Headers{partitionHeader: binary.BigEndian.AppendUint32(nil, uint32(partition))}
}

func partitionOf(headers goka.Headers) int32 {
	return int32(binary.BigEndian.Uint32(headers[partitionHeader]))
}
