package ledger

import (
	"errors"
	"net"
	"sync/atomic"

	"github.com/IBM/sarama"
	"golang.org/x/net/proxy"
)

// dialer is the dialer of a processor's clients of sarama until they are closed.
// sarama opens a connection again when a refresh of metadata begins while its
// client is being closed, and that connection and its goroutine then stay for
// good.
type dialer struct {
	proxy.Dialer
	closed atomic.Bool
}

var errDialerClosed = errors.New("the clients of this processor are closed")

// newDialer takes the place of the dialer that config names.
func newDialer(config *sarama.Config) *dialer {
	d := &dialer{Dialer: config.Net.Proxy.Dialer}
	if !config.Net.Proxy.Enable {
		d.Dialer = &net.Dialer{Timeout: config.Net.DialTimeout, KeepAlive: config.Net.KeepAlive}
	}
	// Proxy is sarama's word for a dialer that is not its own.
	config.Net.Proxy.Enable, config.Net.Proxy.Dialer = true, d
	return d
}

// Dial connects to a broker.
func (d *dialer) Dial(network, address string) (net.Conn, error) {
	if d.closed.Load() {
		return nil, errDialerClosed
	}
	return d.Dialer.Dial(network, address)
}

// close refuses further connections.
func (d *dialer) close() { d.closed.Store(true) }
