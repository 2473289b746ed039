package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Access says how to reach a cluster. Begin with its Brokers: the rest is
// plaintext without a user.
type Access struct {
	// Brokers are host:port, of which one that answers is enough.
	Brokers []string
	TLS     TLS
	SASL    SASL
	// Dial connects to brokers; nil: as TLS says.
	Dial func(ctx context.Context, network, address string) (net.Conn, error) `json:"-"`
}

// At reaches brokers in plaintext, without a user.
func At(brokers ...string) Access { return Access{Brokers: brokers} }

// Validate reports what cannot work, without connecting. It reads the files of
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

// isAddress tells whether both clients, kgo and sarama, take a text for the same
// host and port.
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

// Client returns the options of a franz-go client that reaches the cluster.
func (a Access) Client() []kgo.Opt {
	opts := []kgo.Opt{kgo.SeedBrokers(a.Brokers...), kgo.ClientID("weft")}
	if a.TLS.On || a.SASL.Mechanism != "" {
		// A broker that goes down hangs up on greetings, as one does that does
		// not understand them: Ping tells the latter, and others try again.
		opts = append(opts, kgo.AlwaysRetryEOF())
	}
	if dial := a.dial(); dial != nil {
		opts = append(opts, kgo.Dialer(dial))
	}
	if a.SASL.Mechanism != "" {
		opts = append(opts, kgo.SASL(a.SASL.mechanism()))
	}
	return opts
}

// dial is how clients connect; nil: as they do by themselves.
func (a Access) dial() func(ctx context.Context, network, address string) (net.Conn, error) {
	if a.Dial == nil && a.TLS.On {
		return a.TLS.dial
	}
	return a.Dial
}

// pingTimeout bounds the first answer of a cluster, so that a mistyped address
// is an error and not a wait. It is longer than a connection may take, so that
// what became of that is told.
const pingTimeout = dialTimeout + 5*time.Second

// Ping makes sure that a broker answers and lets us in. Its error says in one
// sentence what may be wrong.
func (a Access) Ping(ctx context.Context) error {
	client, err := kgo.NewClient(a.Client()...)
	if err != nil {
		return fmt.Errorf("connect to %v: %w", a.Brokers, err)
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
