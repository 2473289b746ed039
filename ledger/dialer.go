package ledger

import (
	"errors"
	"net"
	"sync"
	"time"

	"github.com/IBM/sarama"
	"golang.org/x/net/proxy"
)

// dialer is the dialer of a runner's clients of sarama until they are closed.
// sarama opens a connection again when a refresh of metadata begins while its
// client is being closed, and that connection and its goroutine then stay for
// good.
//
// It knows its connections, so that hangUp can close those on which a broker
// does not answer. sarama itself waits Net.ReadTimeout for an answer, 30 s, and
// a reader that is closed waits for its fetch in flight as long.
type dialer struct {
	proxy.Dialer

	mu     sync.Mutex
	closed bool
	open   map[*connection]bool
}

var errDialerClosed = errors.New("the clients of this processor are closed")

// newDialer takes the place of the dialer that config names.
func newDialer(config *sarama.Config) *dialer {
	d := &dialer{Dialer: config.Net.Proxy.Dialer, open: map[*connection]bool{}}
	if !config.Net.Proxy.Enable {
		d.Dialer = &net.Dialer{Timeout: config.Net.DialTimeout, KeepAlive: config.Net.KeepAlive}
	}
	// Proxy is sarama's word for a dialer that is not its own.
	config.Net.Proxy.Enable, config.Net.Proxy.Dialer = true, d
	return d
}

// Dial connects to a broker.
func (d *dialer) Dial(network, address string) (net.Conn, error) {
	d.mu.Lock()
	closed := d.closed
	d.mu.Unlock()
	if closed {
		return nil, errDialerClosed
	}
	conn, err := d.Dialer.Dial(network, address)
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: conn, of: d}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open[c] = true
	return c, nil
}

// close refuses further connections.
func (d *dialer) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
}

// hangUp closes the connections on which an answer has been waited for since
// before the given time, and nothing has come. It returns the addresses of their
// brokers.
func (d *dialer) hangUp(before time.Time) (brokers []string) {
	d.mu.Lock()
	var hung []*connection
	for c := range d.open {
		if !c.reading.IsZero() && c.reading.Before(before) {
			hung = append(hung, c)
		}
	}
	d.mu.Unlock()
	for _, c := range hung {
		brokers = append(brokers, c.RemoteAddr().String())
		_ = c.Close() // which ends the Read
	}
	return brokers
}

// connection is a connection to a broker. sarama reads from it only while a
// request is in flight.
type connection struct {
	net.Conn
	of      *dialer
	reading time.Time // when the Read in progress began; zero: there is none. of.mu guards it
}

func (c *connection) Read(b []byte) (int, error) {
	c.setReading(time.Now())
	defer c.setReading(time.Time{})
	return c.Conn.Read(b)
}

func (c *connection) setReading(since time.Time) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.reading = since
}

func (c *connection) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}
