package httpclient

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// What a response may have left on its connection is not read as the next one.
func TestDoubtfulFraming(t *testing.T) {
	poison := ok + "Content-Length: 6\r\n\r\npoison"
	for name, response := range map[string]string{
		"length and chunks":   ok + "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nanswer\r\n0\r\n\r\n",
		"chunks in HTTP/1.0":  "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\nanswer",
		"more than was asked": ok + "Content-Length: 6\r\n\r\nanswer" + poison,
		"body of a 204":       "HTTP/1.1 204 No Content\r\nContent-Length: 100\r\n\r\n" + poison,
	} {
		t.Run(name, func(t *testing.T) {
			s := answerRaw(t, response)
			c := newClient(t, nil)
			for n := range 20 {
				x := get(t, c, s.url)
				if x.Class == ClassStaleConnection {
					c.stale = stale{} // it met the connection's end; the next one may too
					continue
				}
				want(t, x, ClassNone)
				if x.Reused || len(x.Body) > 0 && string(x.Body) != "answer" {
					t.Fatalf("exchange %d: %q, reused %v", n, x.Body, x.Reused)
				}
			}
		})
	}
}

// Whatever servers set, no cookie is ever sent.
func TestNoCookies(t *testing.T) {
	var requests, cookies atomic.Int64
	serve := func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		cookies.Add(int64(len(r.Cookies())))
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b", Path: "/"})
		w.Header().Add("Set-Cookie2", "c=d")
		if r.URL.Path == "/robots.txt" {
			http.Redirect(w, r, "/robots2.txt", http.StatusFound)
		}
	}
	plain := newServer(t, serve)
	secure, pool := newTLSServer(t, serve, true, nil)
	c := newClient(t, func(o *Options) { o.RootCAs = pool })
	for _, url := range []string{plain.URL, secure.URL} {
		for range 5 {
			want(t, get(t, c, url), ClassNone)
		}
		c.Robots(t.Context(), Request{URL: url + "/robots.txt"}, func(string) (time.Duration, bool) { return 0, true })
	}
	if requests.Load() != 14 || cookies.Load() != 0 {
		t.Errorf("%d cookies in %d requests", cookies.Load(), requests.Load())
	}
}

// After thousands of exchanges that ended badly no descriptor and no goroutine is left.
func TestNothingStaysBehind(t *testing.T) {
	var url [3]string
	var n atomic.Int64
	answers := []string{
		"", ok, ok + "Content-Length: 100\r\n\r\nx", ok + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", "noise\r\n\r\n",
		"HTTP/1.1 101 Switching Protocols\r\n\r\n", "HTTP/1.1 304 Not Modified\r\n\r\n", ok + "Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\x1f\x8bx",
		ok + "Content-Length: 3\r\n\r\nabcdef", "HTTP/1.1 206 Partial Content\r\n\r\n" + strings.Repeat("x", 100_000),
	}
	raw := newRawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		readRequest(r)
		i := n.Add(1)
		_, _ = io.WriteString(c, answers[i%int64(len(answers))])
		switch i % 3 {
		case 0:
			_ = c.SetLinger(0)
		case 1:
			untilClosed(r)
		}
	})
	hold, pool := newTLSServer(t, func(w http.ResponseWriter, r *http.Request) {
		switch n.Add(1) % 3 {
		case 0:
			panic(http.ErrAbortHandler)
		case 1:
			<-r.Context().Done()
		}
	}, true, nil)
	url = [3]string{raw.url, hold.URL, "https" + strings.TrimPrefix(raw.url, "http")}
	before, running := descriptors(t), runtime.NumGoroutine()
	c := newClient(t, func(o *Options) {
		o.RootCAs = pool
		o.ConnectTimeout, o.FirstByteTimeout, o.BodyRateWindow, o.TotalTimeout = 5*soon, soon/4, soon/4, 5*soon
	})
	exchanges := 3000
	if testing.Short() {
		exchanges = 300
	}
	var work errgroup.Group
	work.SetLimit(64)
	for i := range exchanges {
		work.Go(func() error {
			if x := get(t, c, url[i%len(url)]); x.Total > time.Minute {
				return fmt.Errorf("%s took %v", x.URL, x.Total)
			}
			return nil
		})
	}
	if err := work.Wait(); err != nil {
		t.Error(err)
	}
	c.Close()
	hold.CloseClientConnections()
	raw.close()
	deadline := time.Now().Add(time.Minute)
	for descriptors(t) > before || runtime.NumGoroutine() > running {
		if time.Now().After(deadline) {
			t.Fatalf("%d descriptors, before %d; %d goroutines, before %d", descriptors(t), before, runtime.NumGoroutine(), running)
		}
		runtime.Gosched()
	}
}

func descriptors(t *testing.T) int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("nothing tells which descriptors are open: ", err)
	}
	return len(list)
}
