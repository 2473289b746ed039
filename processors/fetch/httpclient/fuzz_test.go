package httpclient

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/internal/politeness"
)

// Whatever comes over a connection, the exchange ends with an outcome that a
// record can hold.
func FuzzResponse(f *testing.F) {
	for _, response := range []string{
		ok + "Content-Length: 5\r\n\r\nhello",
		ok + "Transfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\n",
		"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + ok + "\r\nhello",
		"HTTP/1.1 302 Found\r\nLocation: /caf\xe9\r\nSet-Cookie: a=b\r\n\r\n",
		"HTTP/1.1 503 No\r\nRetry-After: Fri, 31 Dec 9999 23:59:59 GMT\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-4/5\r\n\r\nhello",
		"HTTP/1.0 200 OK\nX: a\r\n b\nContent-Encoding: gzip, br\n\n\x1f\x8b\x08",
		"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
		"", "\x00", "SSH-2.0-x\r\n",
	} {
		f.Add([]byte(response))
	}
	var response atomic.Pointer[[]byte]
	s := newRawServer(f, func(c *net.TCPConn, r *bufio.Reader) {
		readRequest(r)
		_, _ = c.Write(*response.Load())
		_ = c.CloseWrite()
		untilClosed(r)
	})
	c := newClient(f, func(o *Options) { o.MaxBodyBytes, o.TotalTimeout = 64<<10, 10*time.Second })
	f.Fuzz(func(t *testing.T, data []byte) {
		response.Store(&data)
		x := c.Do(context.WithoutCancel(t.Context()), Request{URL: s.url})
		switch {
		case x.Class != ClassNone && !slices.Contains(Classes(), x.Class), x.Class == ClassTotalTimeout:
			t.Fatalf("class %q: %s", x.Class, x.Error)
		case (x.Error == "") != (x.Class == ClassNone), x.Class != ClassNone && x.Body != nil:
			t.Fatalf("class %q, error %q, %d bytes of body", x.Class, x.Error, len(x.Body))
		case x.Class == ClassNone && (x.Status < 200 || x.Status > 999), x.Status != 0 && !isStatus(x.Status):
			t.Fatalf("class %q, status %d", x.Class, x.Status)
		case len(x.Body) > 64<<10, x.RetryAfter < 0, x.RetryAfter > politeness.MaxRetryAfter:
			t.Fatalf("%d bytes of body, Retry-After %v", len(x.Body), x.RetryAfter)
		case strings.ContainsAny(x.Error+x.Location, "\r\n"):
			t.Fatalf("error %q, location %q", x.Error, x.Location)
		}
		for _, h := range x.Headers {
			if strings.ContainsAny(h.Name+h.Value, "\r\n\x00") {
				t.Fatalf("header %q: %q", h.Name, h.Value)
			}
		}
		if _, err := proto.Marshal(x.Fetched()); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzContentRange(f *testing.F) {
	for _, value := range []string{"bytes 0-4/5", "bytes 0-4/*", "bytes */5", "bytes 0-0/0", "items 0-4/5", "Bytes 0-4/5", "bytes 0-9223372036854775807/9223372036854775808"} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		var last, size int64
		if whole := wholeSize(value); whole != 0 {
			if _, err := fmt.Sscanf(strings.ToLower(value), "bytes 0-%d/%d", &last, &size); err != nil || last != size-1 || size != whole {
				t.Fatalf("%q is the whole, of %d", value, whole)
			}
		}
	})
}

func FuzzRetryAfter(f *testing.F) {
	for _, value := range []string{"7", "-7", "1e9", "Fri, 31 Dec 9999 23:59:59 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"} {
		f.Add(value, "Sun, 06 Nov 1994 08:49:37 GMT")
	}
	f.Fuzz(func(t *testing.T, value, date string) {
		if wait := retryAfter(value, date, time.Unix(1_700_000_000, 0)); wait < 0 || wait > politeness.MaxRetryAfter {
			t.Fatalf("%q at %q: %v", value, date, wait)
		}
	})
}
