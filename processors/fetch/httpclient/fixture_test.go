package httpclient

import (
	"bufio"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if os.Getenv(benchServerEnv) != "" {
		serveBench()
		return
	}
	goleak.VerifyTestMain(m)
}

// newClient returns a client for loopback; change may alter its options.
func newClient(t testing.TB, change func(*Options)) *Client {
	t.Helper()
	o := DefaultOptions()
	o.Version, o.Contact = "1.0", "https://example.org/bot"
	o.AllowPrivate = true
	if change != nil {
		change(&o)
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// rawServer gives each accepted connection to a script.
type rawServer struct {
	url      string
	accepted atomic.Int64
	listener net.Listener
	loop     sync.WaitGroup
	scripts  sync.WaitGroup
}

// newRawServer runs script for each connection, which is closed after it. The
// test waits for the scripts, so they must end when the client closes.
func newRawServer(t testing.TB, script func(c *net.TCPConn, r *bufio.Reader)) *rawServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &rawServer{url: "http://" + l.Addr().String(), listener: l}
	s.loop.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.accepted.Add(1)
			s.scripts.Go(func() {
				defer c.Close()
				script(c.(*net.TCPConn), bufio.NewReader(c))
			})
		}
	})
	t.Cleanup(s.close)
	return s
}

// close accepts no more and waits for the scripts; it can be called twice.
func (s *rawServer) close() {
	s.listener.Close()
	s.loop.Wait() // no script begins after it
	s.scripts.Wait()
}

// readRequest reads one request from a raw connection; nil at its end.
func readRequest(r *bufio.Reader) *http.Request {
	req, err := http.ReadRequest(r)
	if err != nil {
		return nil
	}
	_, _ = io.Copy(io.Discard, req.Body)
	return req
}

// untilClosed waits for the client to close.
func untilClosed(r *bufio.Reader) { _, _ = io.Copy(io.Discard, r) }

// answerRaw returns a server that gives every request the same raw response and
// keeps the connection open until the client closes it.
func answerRaw(t testing.TB, response string) *rawServer {
	return newRawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		for readRequest(r) != nil {
			_, _ = io.WriteString(c, response)
		}
	})
}

// newTLSServer returns a server with a certificate for 127.0.0.1 and
// example.com, and the pool that trusts it; conns, if not nil, counts its
// connections.
func newTLSServer(t testing.TB, h http.HandlerFunc, http2 bool, conns *atomic.Int64) (*httptest.Server, *x509.CertPool) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.EnableHTTP2 = http2
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	if conns != nil {
		s.Config.ConnState = countNew(conns)
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return s, pool
}

// countNew counts new connections.
func countNew(n *atomic.Int64) func(net.Conn, http.ConnState) {
	return func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			n.Add(1)
		}
	}
}

func newServer(t testing.TB, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// get makes a plain exchange.
func get(t testing.TB, c *Client, url string) *Exchange {
	t.Helper()
	return c.Do(t.Context(), Request{URL: url})
}

// want fails unless the exchange has the class.
func want(t testing.TB, x *Exchange, class Class) {
	t.Helper()
	if x.Class != class {
		t.Fatalf("GET %s: class %q (%s), want %q", x.URL, x.Class, x.Error, class)
	}
	if (x.Error == "") != (class == ClassNone) {
		t.Fatalf("GET %s: class %q with error %q", x.URL, x.Class, x.Error)
	}
	if class != ClassNone && x.Body != nil {
		t.Fatalf("GET %s: class %q with a body", x.URL, x.Class)
	}
}

// soon is a time-out that a test means to run into.
const soon = 200 * time.Millisecond
