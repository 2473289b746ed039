package broker

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weftcrawl/weft/internal/dirlock"
	"github.com/weftcrawl/weft/internal/kafka"
)

// Options of an embedded broker.
type Options struct {
	// Dir holds the logs and the state of consumer groups. It is made if it
	// does not exist, and belongs to one process at a time.
	Dir string
	// Listen is the host:port at which clients that are not members reach the broker,
	// and which it advertises to them. Empty: there is no listener. Port 0 is a free
	// port. For an unspecified host (0.0.0.0, ::, or none) it listens on all addresses
	// and advertises the machine's name, or loopback if the name does not resolve.
	Listen string
	// Listener says what those clients may do.
	Listener Listener
	// Logger gets the broker's log; nil: there is no log.
	Logger *slog.Logger
	// Damaged is for readers: it is called with the damage of the logs, and the broker
	// then serves the rest from a copy, which Close removes. nil: damaged logs are
	// ErrDamaged.
	Damaged func([]Damage)
}

// Listener says what clients that are not members may do. By the zero value they may read
// everything, and have groups of their own.
type Listener struct {
	// Trusted clients may do everything.
	Trusted bool
	// Writable reports the topics that clients may write; nil: no topic.
	Writable func(topic string) bool
	// Reserved reports the groups that clients may not use; nil: no group.
	Reserved func(group string) bool
	// CertFile and KeyFile are the listener's certificate and key in PEM; empty: it
	// speaks plaintext. ClientCAFile has the authorities for the certificates of
	// clients; empty: clients need no certificate.
	CertFile, KeyFile, ClientCAFile string
	// UsersFile has a line name:password for each user. Clients have to log in as one of
	// them by SASL; empty: there is no SASL.
	UsersFile string
}

func (d Listener) writable(topic string) bool { return d.Writable != nil && d.Writable(topic) }
func (d Listener) reserved(group string) bool { return d.Reserved != nil && d.Reserved(group) }

// Given reports whether there is an option of a user, which needs a listener.
func (d Listener) Given() bool {
	return d.Trusted || d.CertFile != "" || d.KeyFile != "" || d.ClientCAFile != "" || d.UsersFile != ""
}

// Validate reports an option that cannot work.
func (o Options) Validate() error {
	if o.Dir == "" {
		return errors.New("the embedded broker has no directory")
	}
	switch {
	case o.Listen == "" && o.Listener.Given():
		return errors.New("there are options of a listener, but no address to listen at")
	case o.Listen == "":
		return nil
	case (o.Listener.CertFile == "") != (o.Listener.KeyFile == ""):
		return errors.New("the listener's certificate and its key come together")
	case o.Listener.ClientCAFile != "" && o.Listener.CertFile == "":
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
	dir      string
	cluster  *kfake.Cluster
	lock     *dirlock.Lock
	members  *members
	listener *clientListener // nil: there is no listener
	log      *logger
	view     string // folder with the readable part of damaged logs; empty: they are intact
}

// Open starts the broker with the logs of its directory.
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
			return fmt.Errorf("make a copy of the readable logs: %w", err)
		}
		if err := view(logs, b.view, found); err != nil {
			return fmt.Errorf("make a copy of the readable logs: %w", err)
		}
		o.Damaged(found)
		logs = b.view
	}
	if err = rebuildSnapshots(logs); err != nil {
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
		if b.listener, err = listen(o.Listen, o.Listener, o.Logger); err != nil {
			return fmt.Errorf("listen for clients of the broker: %w", err)
		}
		b.members.advertised = b.listener.advertised
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
	ctx, cancel := context.WithTimeout(context.Background(), rewindTimeout)
	defer cancel()
	if err := rewind(ctx, b.Client(), o.Logger); err != nil {
		return fmt.Errorf("recover the commits of groups: %w", err)
	}
	if b.listener == nil {
		return nil
	}
	client, err := kafka.NewClient(b.Client()...)
	if err != nil {
		return err
	}
	defer client.Close()
	versions, err := kmsg.NewPtrApiVersionsRequest().RequestWith(ctx, client)
	if err == nil {
		err = kerr.ErrorForCode(versions.ErrorCode)
	}
	if err != nil {
		return fmt.Errorf("read the broker's API versions: %w", err)
	}
	b.listener.open(b.Member(), *versions)
	return nil
}

// rewindTimeout bounds the recovery of commits, which takes milliseconds.
const rewindTimeout = time.Minute

// segmentBytes is the size at which logs roll. A start reads one segment of
// each partition at a time into memory.
const segmentBytes = 4 << 20

// configs are the broker's defaults for topics.
func configs() map[string]string {
	return map[string]string{
		"message.max.bytes": strconv.Itoa(16 << 20),
		"log.segment.bytes": strconv.Itoa(segmentBytes),
		// Nothing expires: not records, and not the offsets of groups, which Kafka
		// forgets seven days after their last member has left. A crawl may stand
		// still for longer.
		"log.retention.ms":           "-1",
		"offsets.retention.minutes":  strconv.Itoa(100 * 365 * 24 * 60),
		"default.replication.factor": "1",
		// Groups release the partitions of a killed process early.
		"group.min.session.timeout.ms": "1000",
	}
}

// Addr is the address of the listener as host:port; empty without a listener.
func (b *Broker) Addr() string {
	if b.listener == nil {
		return ""
	}
	return b.listener.advertised.String()
}

// Member says how members reach the broker.
func (b *Broker) Member() Member { return Member{Addr: b.members.Listener.Addr().String(), dir: b.dir} }

// Client returns the options of a franz-go client that is a member.
func (b *Broker) Client() []kgo.Opt { return b.Member().Client() }

// Close saves the state and ends all connections. If it returns an error, the next Open
// replays the logs as after a crash.
func (b *Broker) Close() error {
	var err error
	if b.listener != nil {
		err = b.listener.Close()
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

// logger writes kfake's log to slog. kfake reports a failure to save its state at the end only
// in its log, so while logger watches, it also keeps errors.
type logger struct {
	log *slog.Logger

	mu       sync.Mutex
	watching bool
	errs     []error
}

// Logf implements kfake.Logger. Only warnings and errors count: on lower levels kfake logs each
// request.
func (l *logger) Logf(level kfake.LogLevel, format string, args ...any) {
	if level > kfake.LogLevelWarn {
		return
	}
	said := fmt.Sprintf(format, args...)
	at := slog.LevelWarn
	if level == kfake.LogLevelError {
		at = slog.LevelError
	}
	l.mu.Lock()
	if l.watching && level == kfake.LogLevelError {
		l.errs = append(l.errs, errors.New(said))
	}
	l.mu.Unlock()
	l.log.Log(context.Background(), at, "embedded broker", "said", said)
}

func (l *logger) watch() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watching = true
}

func (l *logger) watched() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := errors.Join(l.errs...); err != nil {
		return fmt.Errorf("save the broker's state: %w", err)
	}
	return nil
}
