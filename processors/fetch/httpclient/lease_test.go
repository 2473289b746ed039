package httpclient

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// permitFor returns a permit that says yes n times.
func permitFor(n int64) func() bool {
	var asked atomic.Int64
	return func() bool { return asked.Add(1) <= n }
}

// The permit is checked by Do, before the transport looks for a connection, when it has one, and
// in the write.
const asksBeforeWrite = 3

func TestLeaseLostBeforeWrite(t *testing.T) {
	var bytesSeen atomic.Int64
	met := make(chan struct{}, asksBeforeWrite+1)
	s := newRawServer(t, func(_ *net.TCPConn, r *bufio.Reader) {
		met <- struct{}{}
		n, _ := io.Copy(io.Discard, r)
		bytesSeen.Add(n)
	})
	for n := range int64(asksBeforeWrite + 1) {
		c := newClient(t, nil)
		want(t, c.Do(t.Context(), Request{URL: s.url, Permit: permitFor(n)}), ClassLeaseLost)
		c.Close() // a connection that came too late to be refused
	}
	select {
	case <-met:
	case <-time.After(10 * time.Second):
		t.Error("no connection: the test tests nothing")
	}
	s.close()
	if n := bytesSeen.Load(); n != 0 {
		t.Errorf("%d bytes reached the server", n)
	}
}

// On kept connections net/http would try each of them, and then a new one.
func TestLeaseLostOnKeptConnection(t *testing.T) {
	var requests atomic.Int64
	s := newRawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		for readRequest(r) != nil {
			requests.Add(1)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
	})
	c := newClient(t, nil)
	want(t, get(t, c, s.url), ClassNone)
	want(t, c.Do(t.Context(), Request{URL: s.url, Permit: permitFor(asksBeforeWrite)}), ClassLeaseLost)
	want(t, get(t, c, s.url), ClassNone)
	if n := requests.Load(); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
	if n := s.accepted.Load(); n > 2 {
		t.Errorf("%d connections", n)
	}
}

func TestLeaseLostTLS(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		var requests atomic.Int64
		s, pool := newTLSServer(t, func(http.ResponseWriter, *http.Request) { requests.Add(1) }, http2, nil)
		// Each has a client of its own: the connection of one that was refused is
		// closed, and may not yet be known to be so.
		for n := range int64(asksBeforeWrite + 1) {
			c := newClient(t, func(o *Options) { o.RootCAs = pool })
			want(t, c.Do(t.Context(), Request{URL: s.URL, Permit: permitFor(n)}), ClassLeaseLost)
		}
		if n := requests.Load(); n != 0 {
			t.Errorf("HTTP/2 %v: %d requests", http2, n)
		}
		c := newClient(t, func(o *Options) { o.RootCAs = pool })
		want(t, c.Do(t.Context(), Request{URL: s.URL, Permit: func() bool { return true }}), ClassNone)
		want(t, c.Do(t.Context(), Request{URL: s.URL, Permit: permitFor(asksBeforeWrite)}), ClassLeaseLost)
		if n := requests.Load(); n != 1 {
			t.Errorf("HTTP/2 %v: %d requests, want 1", http2, n)
		}
	}
}

// A server that takes a request on a kept connection and hangs up has perhaps
// acted on it. net/http would repeat it at once.
func TestNoRepeat(t *testing.T) {
	var requests atomic.Int64
	s := newRawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		for readRequest(r) != nil {
			if requests.Add(1) == 2 {
				return
			}
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
	})
	c := newClient(t, nil)
	want(t, get(t, c, s.url), ClassNone)
	x := get(t, c, s.url)
	want(t, x, ClassStaleConnection)
	if !x.Reused || !strings.Contains(x.Error, "not repeated") {
		t.Errorf("exchange: %+v", x)
	}
	if n := requests.Load(); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
	want(t, get(t, c, s.url), ClassNone)
}

// The transport may learn that the server closed the connection, and begin anew,
// before the write that the server read has returned.
func TestNoRepeatWhileWriting(t *testing.T) {
	for accepted := range 2 {
		g := &grant{}
		c := newConn(writer{write: func([]byte) (int, error) {
			if !g.sent.Load() {
				t.Error("a repeat may begin while the request is written")
			}
			return accepted, nil
		}}, "")
		c.http1, c.grants = true, []*grant{g}
		_, _ = c.Write([]byte("G"))
		if g.sent.Load() != (accepted > 0) {
			t.Errorf("%d bytes are written: sent is %v", accepted, g.sent.Load())
		}
	}
}

type writer struct {
	net.Conn
	write func([]byte) (int, error)
}

func (w writer) Write(b []byte) (int, error) { return w.write(b) }

func TestNoRepeatHTTP2(t *testing.T) {
	var requests atomic.Int64
	s, pool := newTLSServer(t, func(_ http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 2 {
			panic(http.ErrAbortHandler)
		}
	}, true, nil)
	c := newClient(t, func(o *Options) { o.RootCAs = pool })
	want(t, get(t, c, s.URL), ClassNone)
	if x := get(t, c, s.URL); x.Class != ClassReset {
		t.Errorf("class %q", x.Class)
	}
	if n := requests.Load(); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
}
