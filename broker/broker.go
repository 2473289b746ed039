package broker

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/dirlock"
)

// Options of an embedded broker.
type Options struct {
	// Dir holds the logs and the state of consumer groups. It is made if it
	// does not exist, and belongs to one process at a time.
	Dir string
	// Listen is the host:port at which clients reach the broker, and which it
	// advertises to them. Empty, or port 0: a free port on loopback. For an
	// unspecified host (0.0.0.0, ::, or none) it listens everywhere and
	// advertises the machine's name, or loopback where that does not resolve.
	Listen string
	// Logger gets what the broker has to say; nil: nothing is said.
	Logger *slog.Logger
}

// Validate says what is wrong with the options, if anything.
func (o Options) Validate() error {
	if o.Dir == "" {
		return errors.New("the embedded broker has no directory")
	}
	if o.Listen == "" {
		return nil
	}
	_, port, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return fmt.Errorf("listen address %q is not host:port: %w", o.Listen, err)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return fmt.Errorf("listen address %q has no port of 0 to 65535", o.Listen)
	}
	return nil
}

// Broker is a Kafka-protocol broker in this process.
type Broker struct {
	dir       string
	cluster   *kfake.Cluster
	lock      *dirlock.Lock
	door      *door
	log       *logger
	addr      string
	clusterID string
}

// Open starts the broker on what its directory holds.
func Open(o Options) (*Broker, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	lock, err := dirlock.Take(o.Dir, lockFile)
	if err != nil {
		return nil, fmt.Errorf("embedded broker: %w", err)
	}
	b := &Broker{dir: o.Dir, lock: lock, log: &logger{log: o.Logger}}
	if err = retract(o.Dir); err == nil { // of a process that was killed
		err = b.start(o)
	}
	if err == nil {
		err = announce(o.Dir, b.addr)
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func (b *Broker) start(o Options) error {
	logs := filepath.Join(o.Dir, "kafka")
	err := mend(logs)
	if err != nil {
		return fmt.Errorf("recover the broker's logs: %w", err)
	}
	if b.door, err = listen(o.Listen); err != nil {
		return fmt.Errorf("listen for clients of the broker: %w", err)
	}
	b.addr = b.door.Addr().String()
	b.cluster, err = kfake.NewCluster(
		kfake.NumBrokers(1),
		kfake.DataDir(logs),
		kfake.ClusterID(newClusterID()), // kept in the directory from then on
		kfake.DefaultNumPartitions(1),
		kfake.ListenFn(func(string, string) (net.Listener, error) { return b.door, nil }),
		kfake.BrokerConfigs(configs()),
		kfake.WithLogger(b.log),
	)
	if err != nil {
		return fmt.Errorf("start the broker in %s: %w", o.Dir, err)
	}
	if b.clusterID, err = readClusterID(logs); err != nil {
		return fmt.Errorf("read the broker's cluster id: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), rewindTimeout)
	defer cancel()
	if err := rewind(ctx, b.Client(), o.Logger); err != nil {
		return fmt.Errorf("recover the commits of groups: %w", err)
	}
	return nil
}

// rewindTimeout bounds the recovery of commits, which takes milliseconds.
const rewindTimeout = time.Minute

// segmentBytes is the size at which logs roll. A start reads one segment of
// each partition at a time into memory.
const segmentBytes = 4 << 20

// configs are the broker's defaults for what a topic does not say itself.
func configs() map[string]string {
	return map[string]string{
		"message.max.bytes": strconv.Itoa(16 << 20),
		"log.segment.bytes": strconv.Itoa(segmentBytes),
		// Nothing goes by itself: not records, and not the offsets of groups,
		// which Kafka forgets seven days after their last member has left. A
		// crawl may lie still for longer.
		"log.retention.ms":           "-1",
		"offsets.retention.minutes":  strconv.Itoa(100 * 365 * 24 * 60),
		"default.replication.factor": "1",
		// Groups whose process was killed give up its partitions early.
		"group.min.session.timeout.ms": "1000",
	}
}

// Addr is the broker's address as host:port.
func (b *Broker) Addr() string { return b.addr }

// ClusterID names the broker's data: random, and the same as long as its
// directory lives.
func (b *Broker) ClusterID() string { return b.clusterID }

// Client returns the options by which a client in this process reaches the
// broker.
func (b *Broker) Client() []kgo.Opt { return []kgo.Opt{kgo.SeedBrokers(b.addr)} }

// Close saves the state and ends all connections. It returns what could not be
// saved, in which case the next Open replays the logs as after a crash.
func (b *Broker) Close() error {
	var err error
	switch {
	case b.cluster != nil:
		b.log.watch()
		b.cluster.Close()
		err = b.log.watched()
	case b.door != nil:
		if err = b.door.Close(); errors.Is(err, net.ErrClosed) {
			err = nil // kfake closes it when it fails to start
		}
	}
	if b.lock != nil {
		err = errors.Join(err, retract(b.dir), b.lock.Release())
	}
	return err
}

// newClusterID makes a cluster id of the form that Kafka gives: 16 random
// bytes, base64url.
func newClusterID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(id[:])
}

// readClusterID reads the id that kfake keeps beside its logs.
func readClusterID(logs string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(logs, "meta.json"))
	if err != nil {
		return "", err
	}
	var meta struct {
		ClusterID string `json:"cluster_id"`
	}
	if err := json.Unmarshal(raw, &meta); err != nil {
		return "", err
	}
	return meta.ClusterID, nil
}
