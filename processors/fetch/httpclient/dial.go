package httpclient

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// attemptDelay is the time between the starts of two connection attempts (RFC 8305 section 5,
// Connection Attempt Delay).
const attemptDelay = 250 * time.Millisecond

// maxAddresses bounds the addresses of a name that are tried.
const maxAddresses = 6

var errConnectTimeout = failure{ClassConnectTimeout, errors.New("no connection in time")}

// dialer makes the connections of the transport: it resolves, refuses
// addresses that are not public, connects, and does TLS.
type dialer struct {
	resolver *resolver
	tls      *tls.Config
	timeout  time.Duration // of all steps together
	reach    reach
	net      net.Dialer
	kept     keptConns
}

// dial connects for http URLs.
func (d *dialer) dial(ctx context.Context, _, hostport string) (net.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, d.timeout, errConnectTimeout)
	defer cancel()
	defer attemptOf(ctx).connected()
	c, err := d.connect(ctx, hostport)
	if err != nil {
		return nil, err
	}
	c.http1 = true
	d.kept.add("http://"+hostport, c)
	return c, nil
}

// dialTLS connects for https URLs. For HTTP/2 it returns a *tls.Conn over a guarded
// connection; the type tells the transport that it is HTTP/2. Otherwise it returns a guarded
// connection over a *tls.Conn; the guarded connection sees plain HTTP/1.1.
func (d *dialer) dialTLS(ctx context.Context, _, hostport string) (net.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, d.timeout, errConnectTimeout)
	defer cancel()
	defer attemptOf(ctx).connected()
	raw, err := d.connect(ctx, hostport)
	if err != nil {
		return nil, err
	}
	host, _, _ := net.SplitHostPort(hostport)
	config := d.tls.Clone()
	config.ServerName = strings.TrimSuffix(host, ".")
	secure := tls.Client(raw, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		return nil, tlsFailure(ctx, host, err)
	}
	if secure.ConnectionState().NegotiatedProtocol == "h2" {
		d.kept.add("https://"+hostport, raw)
		return secure, nil
	}
	c := newConn(secure, raw.remote)
	c.http1 = true
	d.kept.add("https://"+hostport, c)
	return c, nil
}

// tlsFailure names a failed handshake. A reset, which filters by host name send, is a failure of
// TLS just as an alert is.
func tlsFailure(ctx context.Context, host string, err error) error {
	class := ClassTLSError
	if ctx.Err() != nil {
		err = context.Cause(ctx)
		class = Classify(err)
	} else if Classify(err) == ClassTLSCertificate {
		class = ClassTLSCertificate
	}
	return failf(class, "TLS with %s: %w", host, err)
}

// connect resolves a host and connects to one of its addresses.
func (d *dialer) connect(ctx context.Context, hostport string) (*conn, error) {
	host, service, err := net.SplitHostPort(hostport)
	if err != nil {
		return nil, failf(ClassInvalidURL, "address %s: %w", hostport, err)
	}
	port, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		return nil, failf(ClassInvalidURL, "port of %s: %w", hostport, err)
	}
	if forOther(uint16(port)) {
		return nil, failf(ClassPortRefused, "port %d is that of another protocol than HTTP", port)
	}
	started := time.Now()
	name := d.name(host)
	addrs := d.own(host)
	if name != "" {
		addrs, err = d.resolver.lookup(ctx, name)
	}
	attemptOf(ctx).resolved(time.Since(started))
	if err != nil {
		return nil, err
	}
	allowed := d.reach.allowed(addrs)
	if len(allowed) == 0 {
		return nil, failf(ClassAddressRefused, "%s is %s, which is not a public address (%s)", host, addrs[0], d.reach.refusal(addrs[0]))
	}
	attemptOf(ctx).connecting()
	raw, err := d.race(ctx, allowed, uint16(port))
	if err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("connect to %s: %w", host, context.Cause(ctx))
		}
		if name != "" {
			d.resolver.forget(name)
		}
		return nil, err
	}
	return newConn(raw, raw.RemoteAddr().String()), nil
}

// name is what a resolver is asked for; empty: the addresses of host are its own.
func (d *dialer) name(host string) string {
	if _, err := netip.ParseAddr(host); err == nil || isLocalhost(host) {
		return ""
	}
	return d.absolute(host)
}

// own returns the addresses of a host for which no resolver is asked.
func (d *dialer) own(host string) []netip.Addr {
	if literal, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{literal}
	}
	return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}
}

// absolute returns the name to look up. Public names end with a dot. Without it, resolvers
// first try them below each domain of their search list. That costs look-ups and may find a
// host of the crawler's own network.
func (d *dialer) absolute(host string) string {
	if d.reach.all || strings.HasSuffix(host, ".") {
		return host
	}
	return host + "."
}

// race connects to the first of addrs that answers. Each attempt starts attemptDelay after the
// one before, or at once when that fails. If all fail, it returns the error that says most. No
// attempt outlives the call.
func (d *dialer) race(ctx context.Context, addrs []netip.Addr, port uint16) (net.Conn, error) {
	if len(addrs) == 1 {
		return d.net.DialContext(ctx, "tcp", netip.AddrPortFrom(addrs[0], port).String())
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		conn net.Conn
		err  error
	}
	results := make(chan result, len(addrs))
	begun, pending := 0, 0
	begin := func() {
		i := begun
		begun++
		pending++
		go func() {
			c, err := d.net.DialContext(ctx, "tcp", netip.AddrPortFrom(addrs[i], port).String())
			results <- result{c, err}
		}()
	}
	head := time.NewTimer(attemptDelay)
	defer head.Stop()
	begin()
	var winner net.Conn
	var failed error
	for pending > 0 {
		select {
		case <-head.C:
		case r := <-results:
			pending--
			switch {
			case r.err != nil:
				failed = moreTelling(failed, r.err)
			case r.err == nil && winner == nil:
				winner = r.conn
				cancel()
			case r.err == nil:
				r.conn.Close()
			}
		}
		if winner == nil && begun < len(addrs) && ctx.Err() == nil {
			begin()
			head.Reset(attemptDelay)
		}
	}
	if winner != nil {
		return winner, nil
	}
	return nil, failed
}

// moreTelling returns the error that says more about the server. A host of both families cannot
// be reached by IPv6 from a network that has only IPv4. Then the error of IPv4 counts.
func moreTelling(a, b error) error {
	switch Classify(a) {
	case ClassNone, ClassConnectError, ClassLocalError:
		return b
	}
	return a
}
