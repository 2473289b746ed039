package httpclient

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
)

func TestExchangeHTTP1(t *testing.T) {
	s := answerRaw(t, "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"+
		"HTTP/1.1 200 OK\r\nX-b: 1\r\nconTent-type: text/html; charset=utf-8\r\nx-A: caf\xe9\r\n"+
		"Set-Cookie: a=1\r\nX-Fold: one\r\n  two\r\nSet-Cookie: b=2\r\nContent-Length: 5\r\n\r\nhello")
	c := newClient(t, nil)
	x := get(t, c, s.url+"/a|b?q=%#frag")
	want(t, x, ClassNone)
	if x.Status != 200 || x.Proto != "HTTP/1.1" || string(x.Body) != "hello" || x.WireBytes != 5 || x.Truncated {
		t.Errorf("exchange: %+v", x)
	}
	if diff := cmp.Diff([]Header{
		{"X-b", "1"}, {"conTent-type", "text/html; charset=utf-8"}, {"x-A", "café"}, {"Set-Cookie", "a=1"},
		{"X-Fold", "one two"}, {"Set-Cookie", "b=2"}, {"Content-Length", "5"},
	}, x.Headers); diff != "" {
		t.Errorf("response headers (-want +got):\n%s", diff)
	}
	host := strings.TrimPrefix(s.url, "http://")
	if diff := cmp.Diff([]Header{
		{"Host", host}, {"User-Agent", "weft/1.0 (+https://example.org/bot)"},
		{"Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"},
		{"Accept-Encoding", "gzip, deflate, br, zstd"},
	}, x.RequestHeaders); diff != "" {
		t.Errorf("request headers (-want +got):\n%s", diff)
	}
	if x.Remote != host {
		t.Errorf("remote %q, want %q", x.Remote, host)
	}
	if x.Connect <= 0 || x.FirstByte <= 0 || x.Total < x.Connect+x.FirstByte || x.Started.IsZero() || x.Reused {
		t.Errorf("timing: %+v", x)
	}
	if again := get(t, c, s.url); !again.Reused || again.Connect != 0 || again.DNS != 0 || again.Remote != host {
		t.Errorf("kept connection: %+v", again)
	}
}

// What the server sees in the request line is the URL's own spelling.
func TestRequestLine(t *testing.T) {
	lines := make(chan string, 1)
	s := newRawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			if path, ok := strings.CutSuffix(strings.TrimPrefix(line, "GET "), " HTTP/1.1\r\n"); ok {
				lines <- path
			}
			if line == "\r\n" {
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			}
		}
	})
	c := newClient(t, nil)
	for _, path := range []string{
		"/", "/a|b", "/100%?q=%", "/a?", "/%7Eme/~me", "/a;b=1?x=[1]&y='", "/a%2Fb", "/?u=http://b//c",
		"//", "//?", "///", "//double//slash?x", "//a|b", "//100%/x", "//%zz", "//a%2Fb|c", "//a%2e%2e%2f|x?u=http://b//c", "//b|" + strings.Repeat("/long", 2000),
	} {
		x := get(t, c, s.url+path)
		want(t, x, ClassNone)
		if got := <-lines; got != path {
			t.Errorf("request target %q, want %q", got, path)
		}
	}
	want(t, get(t, c, s.url+"?q"), ClassNone)
	if got := <-lines; got != "/?q" {
		t.Errorf("request target %q, want /?q", got)
	}
}

func TestConditional(t *testing.T) {
	serve := func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") == `"v1"` && r.Header.Get("If-Modified-Since") == "Sat, 01 Nov 2025 00:00:00 GMT" {
			w.Header().Set("Content-Encoding", "gzip") // of nothing
			w.Header().Set("Content-Length", "100")    // of the page
			w.WriteHeader(http.StatusNotModified)
		}
	}
	secure, pool := newTLSServer(t, serve, true, nil)
	c := newClient(t, func(o *Options) { o.RootCAs = pool })
	for _, url := range []string{newServer(t, serve).URL, secure.URL} {
		x := c.Do(t.Context(), Request{URL: url, ETag: `"v1"`, LastModified: "Sat, 01 Nov 2025 00:00:00 GMT"})
		want(t, x, ClassNone)
		if x.Status != http.StatusNotModified || len(x.Body) != 0 {
			t.Errorf("status %d, body %q", x.Status, x.Body)
		}
		if x := get(t, c, url); x.Status != 200 {
			t.Errorf("the condition stayed with the client: status %d", x.Status)
		}
	}
}

func TestHTTP2(t *testing.T) {
	var conns atomic.Int64
	body := strings.Repeat("<p>hello</p>", 10_000)
	const path = "//a%2Fb|c"
	s, pool := newTLSServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.RequestURI != path {
			t.Errorf("request target %q, want %q", r.RequestURI, path)
		}
		w.Header().Set("X-B", "2")
		w.Header().Set("X-A", "1")
		w.Header().Add("X-A", "2")
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, body)
	}, true, &conns)
	c := newClient(t, func(o *Options) { o.RootCAs = pool })
	for i := range 3 {
		x := get(t, c, s.URL+path)
		want(t, x, ClassNone)
		if x.Proto != "HTTP/2.0" || string(x.Body) != body || x.Reused != (i > 0) {
			t.Errorf("exchange %d: %s, %d bytes, reused %v", i, x.Proto, len(x.Body), x.Reused)
		}
		if x.Remote != s.Listener.Addr().String() || x.FirstByte <= 0 {
			t.Errorf("remote %s, first byte %v", x.Remote, x.FirstByte)
		}
		if x.RequestHeaders[0] != (Header{"Host", s.Listener.Addr().String()}) {
			t.Errorf("request headers %v", x.RequestHeaders)
		}
		if !slices.IsSortedFunc(x.Headers, func(a, b Header) int { return strings.Compare(a.Name, b.Name) }) || !slices.Equal(x.Values("x-a"), []string{"1", "2"}) {
			t.Errorf("headers %v", x.Headers)
		}
	}
	if n := conns.Load(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}

// HTTPS without HTTP/2 keeps the server's header order.
func TestTLSHTTP1(t *testing.T) {
	s, pool := newTLSServer(t, func(w http.ResponseWriter, _ *http.Request) {
		c, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer c.Close()
		_, _ = rw.WriteString("HTTP/1.1 200 OK\r\nz: 1\r\na: 2\r\nContent-Length: 2\r\n\r\nok")
		_ = rw.Flush()
	}, false, nil)
	c := newClient(t, func(o *Options) { o.RootCAs = pool })
	x := get(t, c, s.URL)
	want(t, x, ClassNone)
	if diff := cmp.Diff([]Header{{"z", "1"}, {"a", "2"}, {"Content-Length", "2"}}, x.Headers); diff != "" {
		t.Error(diff)
	}
	if x.Proto != "HTTP/1.1" || string(x.Body) != "ok" || x.Connect <= 0 {
		t.Errorf("exchange: %+v", x)
	}
}

// Connections are kept after every body that ends within reach.
func TestKeepAlive(t *testing.T) {
	var conns atomic.Int64
	gz := compress(t, "gzip", []byte("text"))
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/sized":
			w.Header().Set("Content-Length", "5")
			_, _ = io.WriteString(w, "hello")
		case "/large":
			_, _ = w.Write(make([]byte, 200<<10))
		case "/chunked":
			_, _ = io.WriteString(w, "a")
			_ = http.NewResponseController(w).Flush()
			_, _ = io.WriteString(w, "b")
		case "/gzip":
			w.Header().Set("Content-Encoding", "gzip")
			_ = http.NewResponseController(w).Flush()
			_, _ = w.Write(append(slices.Clone(gz), "garbage after the end"...))
		case "/image":
			w.Header().Set("Content-Type", "image/png")
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write(make([]byte, 1000))
		case "/empty":
			w.WriteHeader(http.StatusNoContent)
		case "/moved":
			http.Redirect(w, r, "/sized", http.StatusFound)
		case "/broken":
			w.Header().Set("Content-Encoding", "br")
			_, _ = io.WriteString(w, "this is not brotli")
		default:
			http.NotFound(w, r)
		}
	}))
	s.Config.ConnState = countNew(&conns)
	s.Start()
	t.Cleanup(s.Close)
	c := newClient(t, nil)
	for _, path := range []string{"/sized", "/large", "/chunked", "/gzip", "/image", "/empty", "/moved", "/none", "/broken", "/sized"} {
		get(t, c, s.URL+path)
		if n := conns.Load(); n != 1 {
			t.Fatalf("after %s: %d connections", path, n)
		}
	}
}

func TestTruncated(t *testing.T) {
	body := bytes.Repeat([]byte("0123456789"), 10_000)
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		n := len(body)
		if _, err := fmt.Sscan(r.URL.Query().Get("n"), &n); err == nil && r.URL.Query().Has("sized") {
			w.Header().Set("Content-Length", fmt.Sprint(n))
		}
		_, _ = w.Write(body[:n])
	})
	const limit = 50_000
	c := newClient(t, func(o *Options) { o.MaxBodyBytes = limit })
	for _, sized := range []string{"", "&sized"} {
		for n, truncated := range map[int]bool{0: false, 1: false, limit - 1: false, limit: false, limit + 1: true, 2 * limit: true} {
			x := get(t, c, fmt.Sprintf("%s/?n=%d%s", s.URL, n, sized))
			want(t, x, ClassNone)
			if x.Truncated != truncated || !bytes.Equal(x.Body, body[:min(n, limit)]) {
				t.Errorf("%d bytes%s: truncated %v with %d bytes", n, sized, x.Truncated, len(x.Body))
			}
		}
	}
}

// A sitemap has a bound of its own, and is read whatever its type is.
func TestSitemapIsLarger(t *testing.T) {
	s := newServer(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/zip")
		_, _ = w.Write(make([]byte, 100_000))
	})
	c := newClient(t, func(o *Options) { o.MaxBodyBytes, o.SitemapBytes = 1000, 50_000 })
	x := c.Do(t.Context(), Request{URL: s.URL + "/", Kind: KindSitemap})
	want(t, x, ClassNone)
	if len(x.Body) != 50_000 || !x.Truncated {
		t.Errorf("%d bytes, truncated %v", len(x.Body), x.Truncated)
	}
}

// A file that can only be read whole has a bound of its own.
func TestFilesAreLarger(t *testing.T) {
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", r.URL.Query().Get("type"))
		_, _ = w.Write(make([]byte, 100_000))
	})
	c := newClient(t, func(o *Options) { o.MaxBodyBytes, o.FileBytes = 1000, 50_000 })
	for media, most := range map[string]int{
		"text/html": 1000, "application/pdf": 50_000, "application/epub+zip": 50_000, "application/vnd.oasis.opendocument.text; x=y": 50_000, "application/octet-stream": 1000,
	} {
		x := c.Do(t.Context(), Request{URL: s.URL + "/?type=" + url.QueryEscape(media), Kind: KindPage})
		want(t, x, ClassNone)
		if len(x.Body) != most || !x.Truncated {
			t.Errorf("%s: %d bytes, truncated %v", media, len(x.Body), x.Truncated)
		}
	}
}

// A file over HTTP/2 may take more bytes than a page may, once it is known to be a file.
func TestFilesAreLargerOverHTTP2(t *testing.T) {
	s, pool := newTLSServer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/pdf")
		_, _ = w.Write(make([]byte, 6<<20))
	}, true, nil)
	c := newClient(t, func(o *Options) { o.RootCAs, o.MaxBodyBytes, o.FileBytes = pool, 1000, 8<<20 })
	x := get(t, c, s.URL)
	want(t, x, ClassNone)
	if len(x.Body) != 6<<20 || x.Truncated {
		t.Errorf("%d bytes, truncated %v", len(x.Body), x.Truncated)
	}
}

// The limit of a media type holds instead of the others, and its most exact pattern wins.
func TestBodiesOfATypeHaveALimit(t *testing.T) {
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", r.URL.Query().Get("type"))
		_, _ = w.Write(make([]byte, 10_000))
	})
	c := newClient(t, func(o *Options) {
		o.MaxBodyBytes, o.WantBody = 5000, nil
		o.MaxBodyOf = map[string]int64{"image/*": 100, "image/png": 9000, "application/pdf": 200}
	})
	for media, bytes := range map[string]int{"image/gif": 100, "image/png": 9000, "application/pdf": 200, "text/html": 5000} {
		if x := get(t, c, s.URL+"/?type="+media); len(x.Body) != bytes || !x.Truncated {
			t.Errorf("%s: %d bytes, cut: %v", media, len(x.Body), x.Truncated)
		}
	}
}

func TestUnwantedType(t *testing.T) {
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "Video/MP4; codecs=x")
		if r.URL.Path == "/gone" {
			w.WriteHeader(http.StatusNotFound)
		}
		// Without end: reading it would run into the total time-out.
		for r.URL.Path == "/endless" {
			if _, err := w.Write(make([]byte, 4096)); err != nil {
				return
			}
		}
		_, _ = io.WriteString(w, "User-agent: *")
	})
	c := newClient(t, nil)
	x := get(t, c, s.URL+"/endless")
	want(t, x, ClassUnwantedType)
	if x.Status != 200 || !slices.Equal(x.Values("Content-Type"), []string{"Video/MP4; codecs=x"}) || x.WireBytes != 0 {
		t.Errorf("exchange: %+v", x)
	}
	if x := get(t, c, s.URL+"/gone"); x.Class != ClassNone || x.Status != 404 {
		t.Errorf("error page: %q, status %d", x.Class, x.Status)
	}
	if x := c.Do(t.Context(), Request{URL: s.URL + "/robots.txt", Kind: KindRobots}); string(x.Body) != "User-agent: *" {
		t.Errorf("robots: %q, body %q", x.Class, x.Body)
	}
}

func TestRedirects(t *testing.T) {
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "../b?x=é")
		w.Header().Set("Retry-After", "7")
		if r.URL.Path == "/dir/broken" {
			w.Header().Set("Content-Encoding", "br")
		}
		w.WriteHeader(http.StatusMovedPermanently)
		_, _ = io.WriteString(w, "moved")
	})
	c := newClient(t, nil)
	x := get(t, c, s.URL+"/dir/a")
	want(t, x, ClassNone)
	if x.Status != 301 || x.Location != s.URL+"/b?x=%C3%A9" || x.RetryAfter != 7*time.Second || string(x.Body) != "moved" {
		t.Errorf("exchange: %+v", x)
	}
	x = get(t, c, s.URL+"/dir/broken")
	if x.Class != ClassNone || x.Location == "" {
		t.Errorf("a redirect with a broken body: class %q, location %q", x.Class, x.Location)
	}
}

func TestRecord(t *testing.T) {
	x := &Exchange{
		URL: "http://a/", Status: 200, Proto: "HTTP/1.1", Body: []byte("body"), Truncated: true, WireBytes: 3,
		Headers: []Header{{"A", "1"}, {"B", "2"}}, RequestHeaders: []Header{{"Host", "a"}},
		Location: "http://b/", RetryAfter: 2 * time.Second, Started: time.UnixMilli(1234),
		DNS: time.Microsecond, Connect: 2 * time.Microsecond, FirstByte: 3 * time.Microsecond, Total: 4 * time.Microsecond,
		Remote: "1.2.3.4:80",
	}
	f := x.Fetched()
	o := f.Outcome
	if f.Proto != x.Proto || string(f.Body) != "body" || f.Remote != x.Remote || f.Location != x.Location ||
		len(f.Headers) != 2 || f.Headers[1].Name != "B" || f.RequestHeaders[0].Value != "a" {
		t.Errorf("fetched: %v", f)
	}
	if o.Status != 200 || o.StartedMs != 1234 || o.DnsUs != 1 || o.ConnectUs != 2 || o.FirstByteUs != 3 || o.TotalUs != 4 ||
		o.WireBytes != 3 || o.BodyBytes != 4 || !o.Truncated || o.RetryAfterMs != 2000 {
		t.Errorf("outcome: %v", o)
	}
}

// Bodies that are read at the same time do not get into each other.
func TestBodiesReadAtOnce(t *testing.T) {
	url := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write(bytes.Repeat([]byte(r.URL.Path), 20_000))
	}).URL
	c := newClient(t, nil)
	var readers errgroup.Group
	for reader := range 8 {
		readers.Go(func() error {
			for n := range 50 {
				path := fmt.Sprintf("/%d-%02d", reader, n)
				x := get(t, c, url+path)
				if x.Class != ClassNone || !bytes.Equal(x.Body, bytes.Repeat([]byte(path), 20_000)) {
					return fmt.Errorf("%s: class %q, and a body that begins with %.20q", path, x.Class, x.Body)
				}
			}
			return nil
		})
	}
	if err := readers.Wait(); err != nil {
		t.Error(err)
	}
}
