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

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weftcrawl/weft/dirlock"
)

// Options of an embedded broker.
type Options struct {
	// Dir holds the logs and the state of consumer groups. It is made if it
	// does not exist, and belongs to one process at a time.
	Dir string
	// Listen is the host:port of the door, at which clients that are no members
	// reach the broker, and which it advertises to them. Empty: there is no
	// door. Port 0 is a free one. For an unspecified host (0.0.0.0, ::, or none)
	// it listens everywhere and advertises the machine's name, or loopback where
	// that does not resolve.
	Listen string
	// Door says who may do what there.
	Door Door
	// Logger gets what the broker has to say; nil: nothing is said.
	Logger *slog.Logger
	// Damaged is for those who only read: it is told what of the logs is damaged,
	// and the broker then serves the rest, from a copy that is gone when it is
	// closed. nil: damaged logs are ErrDamaged.
	Damaged func([]Damage)
}

// Door says what clients may do that are no members. By the zero value they may
// read everything, and have groups of their own.
type Door struct {
	// Trusted clients may do everything.
	Trusted bool
	// Writable are the topics that others may write; nil: none.
	Writable func(topic string) bool
	// Reserved are the groups that others may not use; nil: none.
	Reserved func(group string) bool
	// CertFile and KeyFile are the door's certificate and key in PEM; empty: it
	// speaks plaintext. ClientCAFile has the authorities of which one must have
	// signed a client's certificate; empty: clients need none.
	CertFile, KeyFile, ClientCAFile string
	// UsersFile has a line name:password for each user, of whom clients have to
	// be one by SASL; empty: there is no SASL.
	UsersFile string
}

func (d Door) writable(topic string) bool { return d.Writable != nil && d.Writable(topic) }
func (d Door) reserved(group string) bool { return d.Reserved != nil && d.Reserved(group) }

// given tells whether there is an option that only a door needs.
func (d Door) given() bool {
	return d.Trusted || d.CertFile != "" || d.KeyFile != "" || d.ClientCAFile != "" || d.UsersFile != ""
}

// Validate says what is wrong with the options, if anything.
func (o Options) Validate() error {
	if o.Dir == "" {
		return errors.New("the embedded broker has no directory")
	}
	switch {
	case o.Listen == "" && o.Door.given():
		return errors.New("there are options of a listener, but no address to listen at")
	case o.Listen == "":
		return nil
	case (o.Door.CertFile == "") != (o.Door.KeyFile == ""):
		return errors.New("the listener's certificate and its key come together")
	case o.Door.ClientCAFile != "" && o.Door.CertFile == "":
		return errors.New("there are authorities of clients, but the listener has no certificate")
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
	members   *members
	door      *door // nil: there is none
	log       *logger
	clusterID string
	view      string // folder of what can be read of damaged logs; empty: they are sound
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
		err = announce(o.Dir, b.Member().Addr)
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func (b *Broker) start(o Options) error {
	logs := filepath.Join(o.Dir, "kafka")
	found, err := FindDamage(o.Dir)
	if err != nil {
		return fmt.Errorf("look through the broker's logs: %w", err)
	}
	if len(found) > 0 && o.Damaged == nil {
		return damaged(found)
	}
	if len(found) > 0 {
		if b.view, err = os.MkdirTemp(o.Dir, "readable-"); err != nil {
			return fmt.Errorf("make a copy of what can be read: %w", err)
		}
		if err := view(logs, b.view, found); err != nil {
			return fmt.Errorf("make a copy of what can be read: %w", err)
		}
		o.Damaged(found)
		logs = b.view
	}
	if err = mend(logs); err != nil {
		return fmt.Errorf("recover the broker's logs: %w", err)
	}
	secret, err := makeSecret(o.Dir)
	if err != nil {
		return fmt.Errorf("make the broker's secret: %w", err)
	}
	if b.members, err = listenForMembers(secret); err != nil {
		return fmt.Errorf("listen for members: %w", err)
	}
	if o.Listen != "" {
		if b.door, err = listen(o.Listen, o.Door, o.Logger); err != nil {
			return fmt.Errorf("listen for clients of the broker: %w", err)
		}
		b.members.advertised = b.door.advertised
	}
	b.cluster, err = kfake.NewCluster(
		kfake.NumBrokers(1),
		kfake.DataDir(logs),
		kfake.ClusterID(newClusterID()), // kept in the directory from then on
		kfake.DefaultNumPartitions(1),
		kfake.ListenFn(func(string, string) (net.Listener, error) { return b.members, nil }),
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
	if b.door == nil {
		return nil
	}
	versions, err := b.versions(ctx)
	if err != nil {
		return fmt.Errorf("ask the broker what it speaks: %w", err)
	}
	b.door.open(b.Member(), versions)
	return nil
}

// versions asks which requests the broker knows.
func (b *Broker) versions(ctx context.Context) (kmsg.ApiVersionsResponse, error) {
	client, err := kgo.NewClient(b.Client()...)
	if err != nil {
		return kmsg.ApiVersionsResponse{}, err
	}
	defer client.Close()
	resp, err := kmsg.NewPtrApiVersionsRequest().RequestWith(ctx, client)
	if err == nil {
		err = kerr.ErrorForCode(resp.ErrorCode)
	}
	if err != nil {
		return kmsg.ApiVersionsResponse{}, err
	}
	return *resp, nil
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

// Addr is the address of the door as host:port, for clients that are no members;
// empty without a door.
func (b *Broker) Addr() string {
	if b.door == nil {
		return ""
	}
	return b.door.advertised.String()
}

// Member says how members reach the broker.
func (b *Broker) Member() Member { return Member{Addr: b.members.Listener.Addr().String(), dir: b.dir} }

// ClusterID names the broker's data: random, and the same as long as its
// directory lives.
func (b *Broker) ClusterID() string { return b.clusterID }

// Client returns the options of a franz-go client that is a member.
func (b *Broker) Client() []kgo.Opt { return b.Member().Client() }

// Close saves the state and ends all connections. It returns what could not be
// saved, in which case the next Open replays the logs as after a crash.
func (b *Broker) Close() error {
	var err error
	if b.door != nil {
		err = b.door.Close()
	}
	if b.cluster != nil {
		b.log.watch()
		b.cluster.Close()
		err = errors.Join(err, b.log.watched())
	}
	if b.members != nil {
		if closing := b.members.Close(); !errors.Is(closing, net.ErrClosed) { // kfake closes it, too
			err = errors.Join(err, closing)
		}
	}
	if b.lock != nil {
		err = errors.Join(err, retract(b.dir))
		if b.view != "" {
			err = errors.Join(err, os.RemoveAll(b.view))
		}
		err = errors.Join(err, b.lock.Release())
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
