package httpclient

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// readHead reads the head of a request as it is; empty at the end of a connection.
func readHead(r *bufio.Reader) (head string) {
	for !strings.HasSuffix(head, "\r\n\r\n") {
		line, err := r.ReadString('\n')
		if err != nil {
			return ""
		}
		head += line
	}
	return head
}

// An exchange has the heads of both messages as they went over the wire, whatever the
// connection carried before.
func TestHeads(t *testing.T) {
	const interim = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"
	answers := []string{
		"HTTP/1.1 200 Fine by me: yes\r\nX-b:1\r\nconTent-type:\t text/html  \r\nx-A: caf\xe9\r\nX-Fold: one\r\n  two\r\nContent-Length: 2\r\n\r\n",
		"HTTP/1.0 404\r\nConnection: keep-alive\r\nContent-Length: 02\r\n\r\n",
		"HTTP/1.1 200 OK\nContent-Length: 2\n\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\n",
		"HTTP/1.1 200 \r\nTransfer-Encoding: chunked\r\n\r\n",
	}
	asked := make(chan string, 1)
	s := newRawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		for _, answer := range answers {
			head := readHead(r)
			if head == "" {
				return
			}
			asked <- head
			body := "ab"
			if strings.Contains(answer, "chunked") {
				body = "1\r\na\r\n1\r\nb\r\n0\r\n\r\n"
			}
			_, _ = io.WriteString(c, interim+answer+body)
		}
		untilClosed(r)
	})
	c := newClient(t, nil)
	for i, answer := range answers {
		path := fmt.Sprintf("//a|b/%d?%s", i, strings.Repeat("x", 3000*i))
		x := get(t, c, s.url+path)
		want(t, x, ClassNone)
		if string(x.Body) != "ab" || x.Reused != (i > 0) {
			t.Fatalf("exchange %d: body %q, reused %v", i, x.Body, x.Reused)
		}
		if request := <-asked; string(x.RequestHead) != request || !strings.HasPrefix(request, "GET "+path+" HTTP/1.1\r\n") {
			t.Errorf("request %d: %.60q, the server read %.60q", i, x.RequestHead, request)
		}
		if string(x.ResponseHead) != answer {
			t.Errorf("response %d: %q, want %q", i, x.ResponseHead, answer)
		}
		if f := x.Fetched(); string(f.RequestHead) != string(x.RequestHead) || string(f.ResponseHead) != answer {
			t.Errorf("record %d: %q and %q", i, f.RequestHead, f.ResponseHead)
		}
	}
}

// TestHeadsOfTLS has HTTP/1.1 and HTTP/2 above TLS: the latter has no heads.
func TestHeadsOfTLS(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		s, pool := newTLSServer(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ab") }, http2, nil)
		c := newClient(t, func(o *Options) { o.RootCAs = pool })
		for range 2 {
			x := get(t, c, s.URL+"/a")
			want(t, x, ClassNone)
			if http2 {
				if x.RequestHead != nil || x.ResponseHead != nil {
					t.Errorf("HTTP/2: %q and %q", x.RequestHead, x.ResponseHead)
				}
				continue
			}
			request, response := string(x.RequestHead), string(x.ResponseHead)
			if !strings.HasPrefix(request, "GET /a HTTP/1.1\r\nHost: ") || strings.Index(request, "\r\n\r\n") != len(request)-4 {
				t.Errorf("request %q", request)
			}
			if !strings.HasPrefix(response, "HTTP/1.1 200 OK\r\n") || strings.Index(response, "\r\n\r\n") != len(response)-4 {
				t.Errorf("response %q", response)
			}
		}
	}
}

// TestLongHeads keeps the fields of a head that is too long for its bytes to be kept.
func TestLongHeads(t *testing.T) {
	s := answerRaw(t, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Long: "+strings.Repeat("x", maxHeadBytes)+"\r\n\r\n")
	x := get(t, newClient(t, nil), s.url)
	want(t, x, ClassNone)
	if x.ResponseHead != nil || len(x.Headers) != 2 || x.RequestHead == nil {
		t.Errorf("%d bytes of the response, %d fields, %d bytes of the request", len(x.ResponseHead), len(x.Headers), len(x.RequestHead))
	}
}
