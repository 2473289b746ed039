package kafka

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// Access says how to reach a cluster. Only Brokers is required; by default connections are
// plaintext without a user.
type Access struct {
	// Brokers are host:port. One broker that answers is enough.
	Brokers []string
	TLS     TLS
	SASL    SASL
	// Dial connects to an embedded broker; nil: the dialer of TLS.
	Dial func(ctx context.Context, network, address string) (net.Conn, error) `json:"-"`
}

// At reaches brokers in plaintext, without a user.
func At(brokers ...string) Access { return Access{Brokers: brokers} }

// Validate reports options that cannot work. It does not connect, but reads the files of
// certificates and of the password.
func (a Access) Validate() error {
	if len(a.Brokers) == 0 {
		return errors.New("no brokers")
	}
	for _, broker := range a.Brokers {
		if !isAddress(broker) {
			return fmt.Errorf("broker %q is not host:port", broker)
		}
	}
	if err := a.TLS.Validate(); err != nil {
		return err
	}
	return a.SASL.Validate()
}

// isAddress reports whether a text is a host and a port, written as net.JoinHostPort does.
func isAddress(text string) bool {
	host, port, err := net.SplitHostPort(text)
	if err != nil || host == "" || net.JoinHostPort(host, port) != text {
		return false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0 && !strings.ContainsFunc(host, func(r rune) bool {
		return r <= ' ' || r == 0x7f || strings.ContainsRune(`/\?#@[]`, r)
	})
}

// Options returns the options of a franz-go client that reaches the cluster.
func (a Access) Options() []kgo.Opt {
	opts := []kgo.Opt{kgo.SeedBrokers(a.Brokers...), kgo.ClientID("weft"), kgo.MaxVersions(versions())}
	if a.TLS.On || a.SASL.Mechanism != "" {
		// A broker that goes down closes connections like a broker that does not
		// understand TLS or SASL. Ping reports the latter; other clients try again.
		opts = append(opts, kgo.AlwaysRetryEOF())
	}
	switch {
	case a.Dial != nil:
		// An embedded broker would take the client's metrics, every 30 s, and forget them.
		opts = append(opts, kgo.Dialer(a.Dial), kgo.DisableClientMetrics())
	case a.TLS.On:
		opts = append(opts, kgo.Dialer(a.TLS.dial))
	}
	if a.SASL.Mechanism != "" {
		opts = append(opts, kgo.SASL(a.SASL.mechanism()))
	}
	return opts
}

// versions are the versions of requests that a client makes. From version 10 on, brokers name
// topics by their ids in the answer to OffsetFetch. A client looks them up in a cache, which may be
// emptied meanwhile (franz-go 1.22: UNKNOWN_TOPIC_ID, once in some minutes).
func versions() *kversion.Versions {
	v := kversion.Stable()
	v.SetMaxKeyVersion(kmsg.OffsetFetch.Int16(), 9)
	return v
}

// NewClient makes a Kafka client from options that say how to reach the cluster
// (Access.Options), and others. The client connects when it is first used.
func NewClient(opts ...kgo.Opt) (*kgo.Client, error) {
	client, err := kgo.NewClient(opts...)
	if err != nil {
		return nil, fmt.Errorf("make a Kafka client: %w", err)
	}
	return client, nil
}

// NewClient makes a client of the cluster. opts win over what a says.
func (a Access) NewClient(opts ...kgo.Opt) (*kgo.Client, error) {
	return NewClient(append(a.Options(), opts...)...)
}

// pingTimeout bounds the first answer of a cluster, so that a wrong address is an error and not a
// long wait. It is longer than the time for a connection, so that its error is reported.
const pingTimeout = dialTimeout + 5*time.Second

// Ping makes sure that a broker answers and accepts this client. Its error is one sentence about
// the likely cause.
func (a Access) Ping(ctx context.Context) error {
	client, err := a.NewClient()
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	if err = client.Ping(ctx); err == nil {
		return nil
	}
	if why := a.why(err); why != "" {
		return fmt.Errorf("brokers at %v: %w", a.Brokers, &refusal{why, err})
	}
	return fmt.Errorf("no broker answers at %v: %w", a.Brokers, err)
}
