package httpclient

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// answers are responses that are cut at every byte, and where their headers end
// and their bodies do, as far as HTTP/1.1 can tell.
func answers(t *testing.T) map[string]string {
	gz := string(compress(t, "gzip", []byte(text)))
	two := gz + gz
	zstd := string(compress(t, "zstd", []byte(text)))
	return map[string]string{
		"length":     ok + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(text), text),
		"chunks":     ok + "Transfer-Encoding: chunked\r\n\r\n18\r\n" + text[:24] + "\r\n20\r\n" + text[24:] + "\r\n0\r\n\r\n",
		"compressed": ok + fmt.Sprintf("Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", len(gz), gz),
		"members":    ok + fmt.Sprintf("Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", len(two), two),
		"frames":     ok + fmt.Sprintf("Content-Encoding: zstd\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", 2*len(zstd), zstd+zstd),
	}
}

// A response that ends too early is never taken for a whole one, and says
// whether its header was there.
func TestCutAtEveryByte(t *testing.T) {
	for name, answer := range answers(t) {
		var cut atomic.Int64
		s := newRawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
			readRequest(r)
			_, _ = io.WriteString(c, answer[:cut.Load()])
			_ = c.CloseWrite()
			untilClosed(r)
		})
		c := newClient(t, nil)
		header := strings.Index(answer, "\r\n\r\n") + 4
		for n := range len(answer) + 1 {
			cut.Store(int64(n))
			x := get(t, c, s.url)
			class := ClassBodyTruncated
			switch {
			case n == len(answer):
				class = ClassNone
			case n < header:
				class = ClassNoResponse
			}
			if x.Class != class || (x.Status == 200) != (n >= header) {
				t.Errorf("%s, cut after %d of %d bytes, %q: class %q (%s), status %d; want %q",
					name, n, len(answer), answer[max(0, n-10):n], x.Class, x.Error, x.Status, class)
			}
			want(t, x, x.Class)
		}
	}
}

// breaker passes a connection on, up to a number of bytes that the server
// sends, and then resets it.
type breaker struct {
	net.Conn
	left int64
}

func (b *breaker) Write(p []byte) (int, error) {
	if b.left >= int64(len(p)) {
		b.left -= int64(len(p))
		return b.Conn.Write(p)
	}
	n, _ := b.Conn.Write(p[:b.left])
	b.left = 0
	_ = b.Conn.(*net.TCPConn).SetLinger(0)
	b.Close()
	return n, net.ErrClosed
}

// A reset at whichever byte, of plain HTTP, of TLS and of HTTP/2, has one of few
// names, depending on how far it overtook what was sent before it, and no part
// of a page is taken for the page.
func TestResetAtEveryByte(t *testing.T) {
	cert, pool := certificate(t, time.Now().Add(time.Hour))
	answer := answers(t)["chunks"]
	plain := func(c net.Conn) {
		if readRequest(bufio.NewReader(c)) != nil {
			_, _ = io.WriteString(c, answer)
		}
	}
	secure := func(proto string, serve func(c net.Conn)) func(c net.Conn) {
		config := &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{proto}}
		return func(c net.Conn) {
			s := tls.Server(c, config)
			if s.Handshake() == nil {
				serve(s)
			}
		}
	}
	for _, tc := range []struct {
		name, scheme string
		serve        func(c net.Conn)
		step         int64
	}{
		{"HTTP", "http", plain, 1},
		{"HTTPS", "https", secure("http/1.1", plain), 1},
		{"HTTP/2", "https", secure("h2", serveHTTP2), 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var left atomic.Int64
			s := newRawServer(t, func(c *net.TCPConn, _ *bufio.Reader) {
				tc.serve(&breaker{c, left.Load()})
				_, _ = io.Copy(io.Discard, c)
			})
			c := newClient(t, func(o *Options) { o.RootCAs, o.TotalTimeout = pool, time.Minute })
			step := tc.step
			if testing.Short() && tc.scheme == "https" {
				step = 37
			}
			for n := int64(0); ; n += step {
				left.Store(n)
				x := get(t, c, tc.scheme+strings.TrimPrefix(s.url, "http"))
				want(t, x, x.Class)
				switch x.Class {
				case ClassNone:
					if string(x.Body) != text {
						t.Fatalf("after %d bytes a body of %q", n, x.Body)
					}
					if n < int64(len(text)) {
						t.Fatalf("a page of %d bytes out of %d", len(text), n)
					}
					return
				case ClassReset, ClassNoResponse, ClassBodyTruncated, ClassTLSError:
				default:
					t.Errorf("after %d bytes: class %q: %s", n, x.Class, x.Error)
				}
				if n > 1<<16 {
					t.Fatal("the page never came whole")
				}
			}
		})
	}
}

// serveHTTP2 answers one request with a page in two frames.
func serveHTTP2(c net.Conn) {
	if _, err := io.CopyN(io.Discard, c, int64(len(http2.ClientPreface))); err != nil {
		return
	}
	f := http2.NewFramer(c, c)
	if f.WriteSettings() != nil {
		return
	}
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return
		}
		if _, request := frame.(*http2.HeadersFrame); request {
			p := peer{Framer: f, stream: frame.Header().StreamID}
			p.answer(false, ":status", "200", "content-type", "text/html")
			_ = p.WriteData(p.stream, false, []byte(text[:20]))
			_ = p.WriteData(p.stream, true, []byte(text[20:]))
			return
		}
	}
}
