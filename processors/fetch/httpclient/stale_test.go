package httpclient

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/sync/errgroup"
)

const whole = ok + "Content-Length: 6\r\n\r\nanswer"

// A server that answers only the first request of each connection costs one
// attempt, not one of two.
func TestStaleConnections(t *testing.T) {
	for name, end := range map[string]func(c *net.TCPConn){
		"closed": func(*net.TCPConn) {},
		"reset":  func(c *net.TCPConn) { _ = c.SetLinger(0) },
	} {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int64
			s := newRawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
				readRequest(r)
				requests.Add(1)
				_, _ = io.WriteString(c, whole)
				if readRequest(r) != nil {
					requests.Add(1)
				}
				end(c)
			})
			failsOnce(t, newClient(t, nil), s.url)
			if n := requests.Load(); n != 30 {
				t.Errorf("%d requests, want 30", n)
			}
		})
	}
}

// So does one of HTTP/2 that does not process the second (RFC 9113 sections 6.8
// and 8.7).
func TestStaleConnectionsHTTP2(t *testing.T) {
	for name, refuse := range map[string]func(f *http2.Framer, stream uint32) error{
		"REFUSED_STREAM": func(f *http2.Framer, stream uint32) error {
			return f.WriteRSTStream(stream, http2.ErrCodeRefusedStream)
		},
		"GOAWAY": func(f *http2.Framer, stream uint32) error { return f.WriteGoAway(stream-2, http2.ErrCodeNo, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int64
			url, pool := newStreams(t, func(p peer, n int) {
				requests.Add(1)
				if n%2 == 0 {
					_ = refuse(p.Framer, p.stream)
					return
				}
				p.answer(true, ":status", "200")
			})
			failsOnce(t, newClient(t, func(o *Options) { o.RootCAs = pool }), url)
			if n := requests.Load(); n != 30 {
				t.Errorf("%d requests, want 30", n)
			}
		})
	}
}

// failsOnce makes thirty exchanges. Only the second fails.
func failsOnce(t *testing.T, c *Client, url string) {
	t.Helper()
	for n := range 30 {
		x := get(t, c, fmt.Sprintf("%s/%d", url, n))
		if n == 1 {
			want(t, x, ClassStaleConnection)
			continue
		}
		want(t, x, ClassNone)
		if x.Reused {
			t.Errorf("exchange %d is on a connection that had served before", n)
		}
	}
}

// newStreams runs script for each request on an HTTP/2 connection, with its
// number there from 1.
func newStreams(t *testing.T, script func(p peer, n int)) (url string, pool *x509.CertPool) {
	cert, pool := certificate(t, time.Now().Add(time.Hour))
	config := &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2"}}
	return newSecureServer(t, config, func(c *tls.Conn) {
		if _, err := io.ReadFull(c, make([]byte, len(http2.ClientPreface))); err != nil {
			return
		}
		f := http2.NewFramer(c, c)
		_ = f.WriteSettings()
		for n := 1; ; {
			frame, err := f.ReadFrame()
			if err != nil {
				return
			}
			if _, request := frame.(*http2.HeadersFrame); request {
				script(peer{Framer: f, raw: c, stream: frame.Header().StreamID}, n)
				n++
			}
		}
	}), pool
}

// What a server sent of an answer, or said of one stream, does not speak against
// its connections.
func TestNotStale(t *testing.T) {
	var requests atomic.Int64
	s := newRawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		for readRequest(r) != nil {
			if requests.Add(1) == 2 {
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-")
				return
			}
			_, _ = io.WriteString(c, whole)
		}
	})
	url, pool := newStreams(t, func(p peer, n int) {
		if n == 2 {
			_ = p.WriteRSTStream(p.stream, http2.ErrCodeInternal)
			return
		}
		p.answer(true, ":status", "200")
	})
	c := newClient(t, func(o *Options) { o.RootCAs = pool })
	for _, test := range []struct {
		url    string
		second Class
	}{{s.url, ClassNoResponse}, {url, ClassReset}} {
		want(t, get(t, c, test.url), ClassNone)
		want(t, get(t, c, test.url), test.second)
		want(t, get(t, c, test.url), ClassNone)
		if x := get(t, c, test.url); x.Class != ClassNone || !x.Reused {
			t.Errorf("%s: class %q, reused %v", test.url, x.Class, x.Reused)
		}
	}
}

// 421 says that another connection may do.
func TestMisdirected(t *testing.T) {
	var requests atomic.Int64
	s := newServer(t, func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1) == 2 {
			w.WriteHeader(http.StatusMisdirectedRequest)
		}
	})
	c := newClient(t, nil)
	for n, reused := range []bool{false, true, false, false} {
		if x := get(t, c, s.URL); x.Class != ClassNone || x.Reused != reused {
			t.Errorf("exchange %d: class %q, status %d, reused %v", n, x.Class, x.Status, x.Reused)
		}
	}
}

// Exchanges at the same time, each with its own connection.
func TestFreshAtOnce(t *testing.T) {
	s, pool := newTLSServer(t, func(http.ResponseWriter, *http.Request) {}, true, nil)
	c := newClient(t, func(o *Options) { o.RootCAs = pool })
	c.stale.Add(s.URL, time.Now())
	var work errgroup.Group
	for range 8 {
		work.Go(func() error {
			if x := get(t, c, s.URL); x.Class != ClassNone || x.Proto != "HTTP/2.0" {
				return fmt.Errorf("class %q: %s", x.Class, x.Error)
			}
			return nil
		})
	}
	if err := work.Wait(); err != nil {
		t.Error(err)
	}
}

func TestStaleForgets(t *testing.T) {
	s := newStale()
	at := func(d time.Duration) time.Time { return time.Unix(1_700_000_000, 0).Add(d) }
	holds := func(origin string, d time.Duration, want bool) {
		t.Helper()
		if s.has(origin, at(d)) != want {
			t.Errorf("%s at %v: remembered is not %v", origin, d, want)
		}
	}
	holds("http://a", 0, false)
	s.Add("http://a", at(0))
	s.Add("http://b", at(staleFor-1))
	holds("http://a", staleFor, true)
	holds("http://b", 2*staleFor-1, true)
	holds("http://a", 2*staleFor, false)
	s.Add("http://a", at(2*staleFor))
	holds("http://a", 5*staleFor, false)
	for i := range 10 * staleOrigins {
		s.Add(fmt.Sprint(i), at(5*staleFor))
	}
	if n := s.Len(); n > staleOrigins {
		t.Errorf("%d origins are remembered", n)
	}
	holds(fmt.Sprint(9*staleOrigins), 5*staleFor, true)
}
