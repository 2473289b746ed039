package httpclient

import (
	"bytes"
	"crypto/tls"
	"net"
	"slices"
	"sync"
	"time"
)

// conn is a connection that asks the grants of its exchanges before it writes,
// and keeps the response header as it came.
type conn struct {
	net.Conn
	remote string // "ip:port" of the peer
	// http1: it carries plain HTTP/1.1, above TLS if there is any, and one
	// exchange at a time. Otherwise it is below TLS, perhaps with HTTP/2 and
	// several exchanges above, and no bytes can be told apart.
	http1 bool

	mu sync.Mutex
	// More than one only with HTTP/2, and for the moment in which an exchange
	// has read its body and not yet returned while the next one begins.
	grants []*grant
	header *headerBlock // being read; nil outside
	asking *headerBlock // of the exchange that began last, with HTTP/1.1; nil outside
	// HTTP/1.1 only. reading: the transport waits for bytes. asked: there was a
	// write since the last exchange began. turn is signalled when reading or
	// closed become true.
	reading, asked, closed bool
	turn                   sync.Cond
	forget                 func() // takes it from those that are kept; nil: it is not among them

	// allowance is how many bytes an HTTP/2 peer may still send, once there was
	// an exchange: its frames need not belong to one, or bring it on.
	allowance int64
	metered   bool
}

// idleAllowance is how much an HTTP/2 peer may send while nothing is asked of
// it. What was on its way when an exchange was cut is at most h2Window.
const idleAllowance = 1 << 20

// goodbye is how long a Close may wait to send TLS's close_notify. It takes microseconds
// unless the peer does not read.
const goodbye = 100 * time.Millisecond

var (
	errFlood   = failf(ClassBadResponse, "the peer sends more than any answer can need")
	errUnasked = failf(ClassBadResponse, "the peer sent something before the request")
)

func newConn(c net.Conn, remote string) *conn {
	guarded := &conn{Conn: c, remote: remote}
	guarded.turn.L = &guarded.mu
	return guarded
}

// guarded returns the conn that carries what the transport calls c, which is a
// *tls.Conn with HTTP/2 and the conn itself otherwise.
func guarded(c net.Conn) *conn {
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	return c.(*conn)
}

// begin makes g responsible for what is written from now on. With HTTP/1.1, header takes
// what is read until the end of the response header. With HTTP/2, the peer may send
// allowance bytes for the exchange.
//
// HTTP/1.1 distinguishes responses by their order alone. So bytes that a peer sent after the
// last response must not be on the connection when the next request is written. begin waits
// until the transport either asks for bytes, because it has read all bytes, or closes the
// connection, because some are left. One of them follows at once, because an exchange gets a
// connection only when its last response was read. Bytes that are read after that, and
// before the request is written, end the connection, and the exchange goes to another one.
// Bytes that come while the request is being written may be an early answer to it.
func (c *conn) begin(g *grant, header *headerBlock, allowance int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.grants = append(c.grants, g)
	if c.http1 {
		for !c.reading && !c.closed {
			c.turn.Wait()
		}
		c.header, c.asking, c.asked = header, header, false
		return
	}
	c.allowance += allowance
	c.metered = true
}

// allow permits an HTTP/2 peer more bytes than begin did, because the response may have a
// larger body than others.
func (c *conn) allow(more int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.allowance += max(more, 0)
}

// end releases g and header. Then the caller may use the header.
func (c *conn) end(g *grant, header *headerBlock) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.Index(c.grants, g); i >= 0 {
		c.grants = slices.Delete(c.grants, i, i+1)
		if len(c.grants) == 0 {
			c.allowance = idleAllowance
		}
	}
	c.release(header)
	if c.asking == header {
		c.asking = nil
	}
}

// release takes header back from the reader. The caller holds mu.
func (c *conn) release(header *headerBlock) {
	if c.header == header {
		c.header = nil
	}
}

func (c *conn) Write(b []byte) (int, error) {
	first, err := c.admit()
	if err != nil {
		return 0, err
	}
	left := 0
	if first && c.http1 {
		b, left = originForm(b)
	}
	if !c.http1 {
		return c.Conn.Write(b)
	}
	c.keep(b)
	g := c.markSent()
	n, err := c.Conn.Write(b)
	switch {
	case n > 0:
		n += left
	case g != nil:
		g.sent.Store(false)
	}
	return n, err
}

// keep keeps the bytes of a request before they are written: after the write the answer may
// be read already.
func (c *conn) keep(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asking != nil {
		c.asking.request = append(c.asking.request, b...)
	}
}

// originForm returns the beginning of a request with its target in origin form (RFC 9112
// section 3.2.1), and how many bytes it left out. The transport writes a request line at
// once. It writes the absolute form when the path begins with "//"; see target.
func originForm(request []byte) ([]byte, int) {
	const method = "GET "
	uri, ok := bytes.CutPrefix(request, []byte(method))
	if !ok || bytes.HasPrefix(uri, []byte("/")) {
		return request, 0
	}
	_, authority, _ := bytes.Cut(uri, []byte("://"))
	path := bytes.IndexByte(authority, '/')
	if path < 0 {
		return request, 0
	}
	short := append([]byte(method), authority[path:]...)
	return short, len(request) - len(short)
}

// admit asks every grant, and notes that the peer will have something to answer. first tells
// that it had nothing to answer before.
func (c *conn) admit() (first bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, g := range c.grants {
		if err := g.admit(); err != nil {
			return false, err
		}
	}
	first, c.asked = !c.asked, true
	return first, nil
}

// Close sends TLS's close_notify if the peer reads it in time. TLS waits until a writer is
// done, and the transport calls Close with its locks held.
func (c *conn) Close() error {
	c.mu.Lock()
	c.closed = true
	c.turn.Broadcast()
	forget := c.forget
	c.mu.Unlock()
	if forget != nil {
		forget()
	}
	if _, ok := c.Conn.(*tls.Conn); ok {
		defer time.AfterFunc(goodbye, func() { _ = c.socket().Close() }).Stop()
	}
	return c.Conn.Close()
}

// abort resets the connection for the exchange of g. It sends no close_notify of TLS, which
// would wait for a writer, and so for a peer that does not read. The kernel drops what that
// peer has not taken. abort does nothing once the exchange has released the connection, or,
// with HTTP/1.1, when the next exchange has begun on it.
func (c *conn) abort(g *grant) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.grants, g) || c.http1 && len(c.grants) > 1 {
		return
	}
	c.closed = true
	c.turn.Broadcast()
	socket := c.socket()
	if tcp, ok := socket.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = socket.Close()
}

// socket returns the connection below TLS.
func (c *conn) socket() net.Conn {
	if secure, ok := c.Conn.(*tls.Conn); ok {
		return guarded(secure).Conn
	}
	return c.Conn
}

// markSent marks the grants before the first bytes of a request are written. It returns the
// grant that was not marked yet, or nil. After the write it would be too late. A server may
// answer by closing before write(2) returns; the transport reads that, and would repeat the
// request.
func (c *conn) markSent() (first *grant) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, g := range c.grants {
		if g.sent.CompareAndSwap(false, true) {
			first = g
		}
	}
	return first
}

func (c *conn) Read(b []byte) (int, error) {
	c.setReading()
	n, err := c.Conn.Read(b)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reading = false
	if c.http1 {
		if n > 0 && !c.asked {
			return 0, errUnasked
		}
		if c.header != nil && c.header.feed(b[:n]) {
			c.header = nil
		}
		if c.header != nil {
			c.header.end = err
		}
	} else if c.allowance -= int64(n); c.allowance < 0 && c.metered {
		return 0, errFlood
	}
	return n, err
}

func (c *conn) setReading() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reading = true
	c.turn.Signal()
}

// cut returns the error that ended the connection within header; nil if there is no such
// error or no header.
func (c *conn) cut(header *headerBlock) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.release(header)
	if !header.isHTTP() {
		return nil
	}
	return header.end
}

// heads returns the heads of an exchange with HTTP/1.1, as they were written and read, and
// the fields of the response; see [headerBlock.headers]. All are nil with another protocol,
// or if there is no response.
func (c *conn) heads(header *headerBlock) (request, response []byte, fields []Header, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.release(header)
	if !header.complete {
		return nil, nil, nil, nil
	}
	fields, err = header.headers()
	return kept(slices.Clip(header.request)), kept(slices.Clip(header.text)), fields, err
}
