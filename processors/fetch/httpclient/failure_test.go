package httpclient

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestFirstByteTimeout(t *testing.T) {
	for name, response := range map[string]string{
		"silence":     "",
		"slow header": "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n",
		"interim":     "HTTP/1.1 103 Early Hints\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := answerRaw(t, response)
			c := newClient(t, func(o *Options) { o.FirstByteTimeout = soon })
			x := get(t, c, s.url)
			want(t, x, ClassFirstByteTimeout)
			if x.Status != 0 || x.Remote == "" || len(x.RequestHeaders) == 0 {
				t.Errorf("exchange: %+v", x)
			}
		})
	}
}

func TestTotalTimeout(t *testing.T) {
	s := answerRaw(t, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome")
	c := newClient(t, func(o *Options) { o.TotalTimeout = soon })
	x := get(t, c, s.url)
	want(t, x, ClassTotalTimeout)
	if x.Status != 200 || x.WireBytes != 4 {
		t.Errorf("exchange: %+v", x)
	}
}

// A time-out costs an HTTP/2 connection too: its peer may be gone.
func TestHTTP2Timeout(t *testing.T) {
	hold := make(chan struct{})
	s, pool := newTLSServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hold" {
			select {
			case <-hold:
			case <-r.Context().Done():
			}
		}
	}, true, nil)
	t.Cleanup(func() { close(hold) })
	c := newClient(t, func(o *Options) { o.RootCAs, o.FirstByteTimeout = pool, 3*soon })
	if x := get(t, c, s.URL); x.Class != ClassNone || x.Proto != "HTTP/2.0" {
		t.Fatalf("class %q, %s", x.Class, x.Proto)
	}
	want(t, get(t, c, s.URL+"/hold"), ClassFirstByteTimeout)
	x := get(t, c, s.URL)
	for x.Class == ClassStaleConnection { // until the transport has noticed, too
		x = get(t, c, s.URL)
	}
	want(t, x, ClassNone)
	if x.Reused {
		t.Error("the connection was used again")
	}
}

func TestCanceled(t *testing.T) {
	for _, tc := range []struct {
		cause error
		class Class
	}{
		{nil, ClassCanceled},
		{errors.New("shut down"), ClassCanceled},
		{ErrLeaseLost, ClassLeaseLost},
	} {
		for _, response := range []string{"", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n1"} {
			ctx, cancel := context.WithCancelCause(t.Context())
			s := newRawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
				readRequest(r)
				_, _ = io.WriteString(c, response)
				cancel(tc.cause)
				untilClosed(r)
			})
			want(t, newClient(t, nil).Do(ctx, Request{URL: s.url}), tc.class)
		}
	}
}

func TestServerFailures(t *testing.T) {
	big := strings.Repeat("X-Filler: "+strings.Repeat("x", 1000)+"\r\n", 100)
	for _, tc := range []struct {
		name     string
		response string
		reset    bool // at the end, instead of an orderly close
		class    Class
		status   int
	}{
		{"closed at once", "", false, ClassNoResponse, 0},
		{"reset at once", "", true, ClassReset, 0},
		{"closed within the header", "HTTP/1.1 200 OK\r\nContent-Type: te", false, ClassNoResponse, 0},
		{"reset within the header", "HTTP/1.1 200 OK\r\nContent-Type: te", true, ClassReset, 0},
		{"closed within the body", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome", false, ClassBodyTruncated, 200},
		{"closed within a long body", "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nsome", false, ClassBodyTruncated, 200},
		{"reset within the body", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome", true, ClassBodyTruncated, 200},
		{"closed within a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", false, ClassBodyTruncated, 200},
		{"closed before the last chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", false, ClassBodyTruncated, 200},
		{"closed as the end", "HTTP/1.1 200 OK\r\n\r\nall", false, ClassNone, 200},
		{"bad chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", false, ClassBadResponse, 200},
		{"not HTTP", "SSH-2.0-OpenSSH_9.9\r\n", false, ClassBadResponse, 0},
		{"bad header line", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n", false, ClassBadResponse, 0},
		{"bad length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", false, ClassBadResponse, 0},
		{"large header", "HTTP/1.1 200 OK\r\n" + big + "\r\n", false, ClassHeaderTooLarge, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newRawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
				readRequest(r)
				_, _ = io.WriteString(c, tc.response)
				if !tc.reset {
					_ = c.CloseWrite()
					untilClosed(r)
					return
				}
				_ = c.SetLinger(0)
			})
			c := newClient(t, func(o *Options) { o.MaxHeaderBytes = 32 << 10 })
			x := get(t, c, s.url)
			switch {
			case tc.reset && tc.status != 0 && x.Status == 0:
				want(t, x, ClassReset) // it overtook what was sent before it
			case tc.reset && x.Class == ClassNoResponse:
				// net/http met the reset while it looked ahead, and then the end.
			default:
				want(t, x, tc.class)
				if x.Status != tc.status {
					t.Errorf("status %d, want %d", x.Status, tc.status)
				}
			}
			if n := s.accepted.Load(); n != 1 {
				t.Errorf("%d connections", n)
			}
		})
	}
}

func TestHTTP2Failures(t *testing.T) {
	s, pool := newTLSServer(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/header":
			for range 100 {
				w.Header().Add("X-Filler", strings.Repeat("x", 1000))
			}
		case "/body":
			_, _ = io.WriteString(w, "some")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler) // resets the stream
		case "/reset":
			panic(http.ErrAbortHandler)
		}
	}, true, nil)
	c := newClient(t, func(o *Options) { o.RootCAs, o.MaxHeaderBytes = pool, 32<<10 })
	want(t, get(t, c, s.URL+"/header"), ClassHeaderTooLarge)
	want(t, get(t, c, s.URL+"/body"), ClassBodyTruncated)
	want(t, get(t, c, s.URL+"/reset"), ClassReset)
	want(t, get(t, c, s.URL), ClassNone)
}

func TestTLSFailures(t *testing.T) {
	s, pool := newTLSServer(t, func(http.ResponseWriter, *http.Request) {}, true, nil)
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	silent := newRawServer(t, func(_ *net.TCPConn, r *bufio.Reader) { untilClosed(r) })
	abrupt := newRawServer(t, func(c *net.TCPConn, r *bufio.Reader) { _, _ = r.Peek(1); _ = c.SetLinger(0) })

	c := newClient(t, func(o *Options) { o.RootCAs, o.ConnectTimeout = pool, 3*soon })
	stranger := newClient(t, nil)
	want(t, get(t, stranger, s.URL), ClassTLSCertificate)
	want(t, get(t, c, "https://localhost:"+port), ClassTLSCertificate) // not in the certificate
	want(t, get(t, c, "https"+strings.TrimPrefix(plain.URL, "http")), ClassTLSError)
	want(t, get(t, c, "https"+strings.TrimPrefix(abrupt.url, "http")), ClassTLSError)
	want(t, get(t, c, "https"+strings.TrimPrefix(silent.url, "http")), ClassConnectTimeout)
}

func TestInvalidURL(t *testing.T) {
	c := newClient(t, nil)
	for _, url := range []string{
		"", "x", "ftp://a/", "HTTP://a/", "http://", "http:///a", "http://a b/", "http://a/b c", "http://a/\r\nX: y",
		"http://a/é", "http://u@a/", "http://u:p@a/", "http://a:0/", "http://a:99999/", "http://a:x/", "http://[::1/",
		"http://[fe80::1%25eth0]/", "http://[1.2.3.4]/", "http://a%00b/",
	} {
		want(t, get(t, c, url), ClassInvalidURL)
	}
}
