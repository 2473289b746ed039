package httpclient

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weftcrawl/weft/internal/politeness"
)

var update = flag.Bool("update", false, "rewrite testdata")

// hostile is a server that does one thing wrong, at the other end of a real
// socket, and the options under which a test need not wait for long.
type hostile struct {
	name  string
	serve func(t *testing.T) (url string)
	// options changes the options of the client, once it serves; nil: it does not.
	options func(*Options)
}

// TestHostileServers compares the result of an exchange with each server, and what the
// frontier makes of it, with a table that docs/conformance.md shows.
func TestHostileServers(t *testing.T) {
	table := "| server | outcome | status | body | the frontier |\n|---|---|---|---|---|\n"
	for _, group := range [][]hostile{
		slowServers(), endlessServers(), framingServers(), headerServers(), statusServers(), codingServers(),
		redirectServers(), patienceServers(), brokenServers(), http2Servers(), tlsServers(),
	} {
		for _, h := range group {
			t.Run(h.name, func(t *testing.T) { table += line(h.name, h.exchange(t)) })
		}
	}
	if t.Failed() {
		return
	}
	golden := filepath.Join("testdata", "hostile.md")
	if *update {
		if err := os.WriteFile(golden, []byte(table), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), table); diff != "" {
		t.Errorf("%s (-want +got):\n%s", golden, diff)
	}
	shown, err := os.ReadFile("../../../docs/conformance.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(shown), table) {
		t.Errorf("docs/conformance.md does not show %s", golden)
	}
}

// exchange makes an exchange. Afterwards only an idle connection remains. It ends long before
// its test does.
func (h hostile) exchange(t *testing.T) *Exchange {
	url := h.serve(t)
	c := newClient(t, func(o *Options) {
		o.TotalTimeout = 20 * time.Second // a bound of the test, met by none
		if h.options != nil {
			h.options(o)
		}
	})
	x := get(t, c, url)
	want(t, x, x.Class) // that an error has its text and no body
	return x
}

func line(name string, x *Exchange) string {
	outcome, status, body := "read", "-", "-"
	if x.Class != ClassNone {
		outcome = "`" + string(x.Class) + "`"
	}
	if x.Status != 0 {
		status = fmt.Sprint(x.Status)
	}
	switch {
	case x.Class != ClassNone:
	case x.Truncated:
		body = "cut"
	case len(x.Body) == 0:
		body = "none"
	default:
		body = "whole"
	}
	if x.Location != "" {
		body = "to `" + x.Location[strings.Index(x.Location, "/to"):] + "`"
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s |\n", name, outcome, status, body, means(x))
}

// means says what the frontier makes of an exchange.
func means(x *Exchange) string {
	v := politeness.Judge(uint32(x.Status), string(x.Class))
	text := "ends it as `" + v.Reason + "`"
	if v.Retry {
		text = "tries again, then `" + politeness.GaveUp(v.Reason) + "`"
	}
	if v.Health == politeness.Failed {
		unit := map[politeness.Unit]string{politeness.Host: "; its host waits", politeness.Origin: "; its origin waits"}[v.Unit]
		if v.Page && x.RetryAfter == 0 {
			unit = "; its host waits if more pages fail"
		}
		text += unit
		if x.RetryAfter > 0 {
			text += fmt.Sprintf(" for %v", x.RetryAfter)
		}
	}
	return text
}

// says serves a response, as it is, and closes.
func says(response string) func(t *testing.T) string {
	return func(t *testing.T) string {
		return newRawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
			readRequest(r)
			_, _ = io.WriteString(c, response)
			_ = c.CloseWrite()
			untilClosed(r)
		}).url
	}
}

// holds serves a response, as it is, and keeps the connection open.
func holds(response string) func(t *testing.T) string {
	return func(t *testing.T) string { return answerRaw(t, response).url }
}

// goesOn serves a beginning, and then the same again and again as often as the
// client takes it, with a pause in between.
func goesOn(beginning, again string, pause time.Duration) func(t *testing.T) string {
	return func(t *testing.T) string {
		return newRawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
			readRequest(r)
			closed := make(chan struct{})
			go func() { defer close(closed); untilClosed(r) }()
			_, err := io.WriteString(c, beginning)
			for err == nil {
				select {
				case <-closed:
					return
				case <-time.After(pause):
				}
				_, err = io.WriteString(c, again)
			}
			c.Close()
			<-closed
		}).url
	}
}

const (
	ok   = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
	text = "<p>Some text, of which there is enough to be a page.</p>"
)

func hastyHeader(o *Options) { o.FirstByteTimeout = soon }

func hastyBody(o *Options) { o.MinBodyRate, o.BodyRateWindow = 1<<20, soon }

func slowServers() []hostile {
	const pause = 10 * time.Millisecond
	return []hostile{
		{"sends no answer", holds(""), hastyHeader},
		{"sends the header very slowly", goesOn("HTTP/1.1 200 OK\r\nX: ", "x", pause), hastyHeader},
		{"stops inside the header", holds(ok), hastyHeader},
		{"sends the body very slowly", goesOn(ok+"Content-Length: 100000\r\n\r\n", "x", pause), hastyBody},
		{"sends the chunks very slowly", goesOn(ok+"Transfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n", pause), hastyBody},
		{"sends a body without length very slowly", goesOn(ok+"\r\n", "x", pause), hastyBody},
		{"stops inside the body", holds(ok + "Content-Length: 100000\r\n\r\n" + text), hastyBody},
		{"sends the header and no body", holds(ok + "Content-Length: 100000\r\n\r\n"), hastyBody},
		{"stops inside a compressed body", holds(ok + "Content-Encoding: gzip\r\nContent-Length: 100000\r\n\r\n\x1f\x8b\x08"), hastyBody},
		{"stops inside the body of a redirect", holds("HTTP/1.1 302 Found\r\nLocation: /to\r\nContent-Length: 100000\r\n\r\n"), hastyBody},
		{"sends at a good rate, but for too long", goesOn(ok+"Content-Length: 100000000\r\n\r\n", strings.Repeat("x", 1000), time.Millisecond),
			func(o *Options) { o.TotalTimeout = 5 * soon }},
	}
}

func small(o *Options) { o.MaxBodyBytes, o.MaxHeaderBytes = 64<<10, 16<<10 }

func endlessServers() []hostile {
	filler := strings.Repeat("x", 1000)
	return []hostile{
		{"endless body", goesOn(ok+"\r\n", filler, 0), small},
		{"endless body in chunks", goesOn(ok+"Transfer-Encoding: chunked\r\n\r\n", "3e8\r\n"+filler+"\r\n", 0), small},
		{"body of 2^62 bytes", goesOn(ok+"Content-Length: 4611686018427387904\r\n\r\n", filler, 0), small},
		{"endless header", goesOn("HTTP/1.1 200 OK\r\n", "X-Filler: "+filler+"\r\n", 0), small},
		{"endless header line", goesOn("HTTP/1.1 200 OK\r\nX: ", filler, 0), small},
		{"endless status line", goesOn("HTTP/1.1 200 ", filler, 0), small},
		{"endless header name", goesOn("HTTP/1.1 200 OK\r\n", filler, 0), small},
		{"huge header", says(ok + "X: " + strings.Repeat("x", 300<<10) + "\r\n\r\n" + text), nil},
		{"header of 5,001 fields", says(ok + strings.Repeat("a:\r\n", 5000) + "\r\n" + text), nil},
		{"header of 5,001 folded lines", says(ok + "a:\r\n" + strings.Repeat(" b\r\n", 4999) + "\r\n" + text), nil},
		{"endless interim responses", goesOn("", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", 0), small},
		{"100 interim responses", says(strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 100) + ok + "\r\n" + text), nil},
		{"endless trailer", goesOn(ok+"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n", "X-Filler: "+filler+"\r\n", 0), small},
		{"endless chunk extension", goesOn(ok+"Transfer-Encoding: chunked\r\n\r\n1;", filler, 0), small},
		{"endless characters without a line end", goesOn("", filler, 0), small},
		{"endless empty lines", goesOn("", "\r\n", 0), small},
	}
}
