package ledger

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weftcrawl/weft/internal/kafka"
)

// runner is one life of a stage, from its joining the group to its first error.
type runner struct {
	Processor
	opts     Options
	log      *slog.Logger
	cache    *pebble.Cache
	admin    *kadm.Client
	ledgerID string // topic id: offsets of a recreated topic mean nothing
	stateDir string
	cluster  string          // the name of its folder
	life     context.Context // of once

	strangers *strangerLog // outlives this life

	// rejoin makes the group assign partitions again. Another process has written to
	// one of ours, and may be its owner: two owners would fence each other for ever.
	rejoin func()

	mu   sync.Mutex
	dead error // first error that no new life can mend
}

// judge remembers an error that ends the stage for good, and returns it. goka
// wraps errors by their text, so the supervisor asks the runner instead.
func (r *runner) judge(err error) error {
	if !lasting(err) && !errors.Is(err, kafka.ErrID) {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dead == nil {
		r.dead = err
	}
	return err
}

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
	client, err := r.opts.Cluster.NewClient()
	if err != nil {
		return err
	}
	defer client.Close()
	r.admin = kadm.NewClient(client)
	if r.cluster, r.ledgerID, err = identify(ctx, client, r.Ledger); err != nil {
		return r.judge(err)
	}
	r.life, r.stateDir = ctx, filepath.Join(r.opts.Dir, r.cluster, r.Ledger+"-"+r.ledgerID)
	r.cache = pebble.NewCache(cacheBytes)
	defer r.cache.Unref()
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
	t := &table{
		run: r, life: ctx, member: of, partition: partition,
		dir: filepath.Join(r.stateDir, strconv.Itoa(int(partition))),
	}
	proc, err := t.processor()
	if err != nil {
		return fmt.Errorf("build processor of %s/%d: %w", r.Ledger, partition, err)
	}
	return errors.Join(proc.Run(ctx), t.Close()) // goka leaves it open when a setup failed
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
	folder, err = kafka.Folder(*resp.ClusterID)
	return folder, hex.EncodeToString(resp.Topics[0].TopicID[:]), err
}

// newClient makes the client of one partition, which writes its events and reads its
// inputs. The first error of a writer can end it without touching other partitions.
func (r *runner) newClient() (*kgo.Client, error) {
	opts := []kgo.Opt{
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerLinger(5 * time.Millisecond),
		kgo.RecordDeliveryTimeout(time.Minute),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()),
		kgo.DisableFetchSessions(),
		// Each partition has a client, which keeps as much for each of its inputs. A broker keeps
		// buffers of this size, too.
		kgo.FetchMaxBytes(1 << 20), kgo.FetchMaxPartitionBytes(1 << 18),
	}
	if r.opts.Writer != nil {
		opts = append(opts, r.opts.Writer()...)
	}
	return r.opts.Cluster.NewClient(opts...)
}

// source reads a partition of a topic.
func (r *runner) source(topic string, partition int32) source {
	return source{client: r.opts.Cluster.Options(), topic: topic, partition: partition}
}
