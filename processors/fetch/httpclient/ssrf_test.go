package httpclient

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// spellings are hosts that are not public, in many ways of writing them.
func spellings(t testing.TB) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/spellings.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// forbidden is a service beside the crawler, on 127.0.0.1 and, if there is IPv6, on ::1. The
// crawler must not connect to it.
type forbidden struct {
	port string // with its colon
	met  atomic.Int64
}

func newForbidden(t testing.TB) *forbidden {
	t.Helper()
	f := &forbidden{port: ":0"}
	var listeners []net.Listener
	var loops sync.WaitGroup
	for _, host := range []string{"127.0.0.1", "[::1]"} {
		l, err := net.Listen("tcp", host+f.port)
		if err != nil {
			t.Logf("nothing listens on %s: %v", host, err)
			continue
		}
		listeners = append(listeners, l)
		f.port = port(l.Addr().String())
		loops.Go(func() { f.count(l) })
	}
	t.Cleanup(func() {
		for _, l := range listeners {
			l.Close()
		}
		loops.Wait()
		if n := f.met.Load(); n > 0 || len(listeners) == 0 {
			t.Errorf("%d connections were made where none may be, to %d listeners", n, len(listeners))
		}
	})
	return f
}

func (f *forbidden) count(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		f.met.Add(1)
		c.Close()
	}
}

// newSite serves on 127.1.0.1, the address that outsider may ask.
func newSite(t testing.TB, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Listener.Close()
	var err error
	if s.Listener, err = net.Listen("tcp", "127.1.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// outsider returns a client to which 127.1.0.1 is as good as public.
func outsider(t testing.TB, r Resolver) *Client {
	return newClient(t, func(o *Options) {
		o.AllowPrivate, o.AllowNetworks, o.Resolver = false, []string{"127.1.0.1/32"}, r
		o.DNSTTL = 1 // nothing hides behind the cache
	})
}

// inside resolves every name to the host itself.
type inside struct{}

func (inside) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return addrs("127.0.0.1", "::1", "::ffff:127.0.0.1", "0.0.0.0", "::"), nil
}

// No spelling of an address, and no name, leads to the crawler's own host: as a URL, as the
// target of a redirect of a page, or behind a redirect of robots.txt.
func TestNoSpellingLeadsInside(t *testing.T) {
	f := newForbidden(t)
	c := outsider(t, inside{})
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", r.Header.Get("If-None-Match"))
		w.WriteHeader(http.StatusFound)
	})
	s.Start()
	refused := map[Class]int{}
	see := func(spelling string, x *Exchange) {
		switch refused[x.Class]++; {
		case x.Class != ClassAddressRefused && x.Class != ClassInvalidURL:
			t.Errorf("%q as %s: class %q (%s)", spelling, x.URL, x.Class, x.Error)
		case x.Remote != "":
			t.Errorf("%q as %s: connected to %s", spelling, x.URL, x.Remote)
		}
	}
	for _, spelling := range spellings(t) {
		for _, scheme := range []string{"http://", "https://"} {
			raw := scheme + spelling + f.port + "/"
			see(spelling, get(t, c, raw))

			// The server sends the validator back as the redirect's target, byte for byte.
			hop := c.Do(t.Context(), Request{URL: s.URL, ETag: asHeader(raw)})
			want(t, hop, ClassNone)
			if hop.Location != "" {
				see(spelling, get(t, c, hop.Location))
			}
		}
	}
	if refused[ClassAddressRefused] < 340 || refused[ClassInvalidURL] < 50 {
		t.Errorf("too easy: %v", refused)
	}
}

// asHeader makes what can stand in a header of raw: tabs and line breaks, which
// parsers drop from URLs, cannot.
func asHeader(raw string) string {
	var kept []byte
	for i := range len(raw) {
		if raw[i] >= ' ' {
			kept = append(kept, raw[i])
		}
	}
	return string(kept)
}

// A robots.txt may lead through other hosts, but not inside.
func TestRobotsDoNotLeadInside(t *testing.T) {
	f := newForbidden(t)
	c := outsider(t, inside{})
	for _, spelling := range spellings(t) {
		s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/robots.txt" {
				http.Redirect(w, r, "/next", http.StatusFound)
				return
			}
			w.Header().Set("Location", asHeader("//"+spelling+f.port+"/robots.txt"))
			w.WriteHeader(http.StatusMovedPermanently)
		})
		s.Start()
		list := c.Robots(t.Context(), Request{URL: s.URL}, func(string) (time.Duration, bool) { return 0, true })
		if last := list[len(list)-1]; last.Status == http.StatusOK || last.Class == ClassNone && last.Location != "" {
			t.Errorf("%q: %d exchanges, the last of status %d at %s", spelling, len(list), last.Status, last.Remote)
		}
		s.Close()
	}
}

// rebinding answers with the next of its answers each time.
type rebinding struct {
	answers [][]netip.Addr
	asked   atomic.Int64
}

func (r *rebinding) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return r.answers[int(r.asked.Add(1)-1)%len(r.answers)], nil
}

// A name that changes its address between two look-ups gains nothing: each
// connection has a look-up of its own, and goes to an address of that answer.
func TestRebinding(t *testing.T) {
	f := newForbidden(t)
	s := newSite(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Connection", "close") })
	s.Listener.Close()
	var err error
	if s.Listener, err = net.Listen("tcp", "127.1.0.1"+f.port); err != nil {
		t.Skipf("the port is taken: %v", err)
	}
	s.Start()
	r := &rebinding{answers: [][]netip.Addr{
		addrs("127.1.0.1"), addrs("127.0.0.1"), addrs("127.0.0.1", "127.1.0.1"), addrs("::1", "::ffff:127.0.0.1"), addrs("127.1.0.1", "0.0.0.0"),
	}}
	c := outsider(t, r)
	const rounds = 20
	for i := range rounds {
		x := get(t, c, "http://rebind.example"+f.port+"/")
		if i%len(r.answers)%2 == 0 {
			want(t, x, ClassNone)
			if x.Remote != "127.1.0.1"+f.port {
				t.Errorf("round %d: remote %s", i, x.Remote)
			}
		} else {
			want(t, x, ClassAddressRefused)
		}
	}
	if n := r.asked.Load(); n != rounds {
		t.Errorf("%d look-ups for %d connections", n, rounds)
	}
}

// A kept connection stays where it was made to, whatever the name says now.
func TestRebindingOfKeptConnections(t *testing.T) {
	newForbidden(t)
	s := newSite(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "outside") })
	s.Start()
	r := &rebinding{answers: [][]netip.Addr{addrs("127.1.0.1"), addrs("127.0.0.1")}}
	c := outsider(t, r)
	for range 3 {
		x := get(t, c, "http://rebind.example"+port(s.URL)+"/")
		want(t, x, ClassNone)
		if string(x.Body) != "outside" || x.Remote != "127.1.0.1"+port(s.URL) {
			t.Errorf("%q of %s", x.Body, x.Remote)
		}
	}
	c.transport.CloseIdleConnections()
	want(t, get(t, c, "http://rebind.example"+port(s.URL)+"/"), ClassAddressRefused)
}

// An HTTP/2 connection whose certificate names a second host is not used for
// that host (RFC 9113 section 9.1.1 would permit it): its address is looked up
// and refused.
func TestNoCoalescing(t *testing.T) {
	s := newSite(t, func(http.ResponseWriter, *http.Request) {})
	s.EnableHTTP2 = true
	s.StartTLS()
	c := newClient(t, func(o *Options) {
		o.AllowPrivate, o.AllowNetworks = false, []string{"127.1.0.1/32"}
		o.Resolver = &fakeResolver{hosts: map[string][]netip.Addr{"example.com.": addrs("127.1.0.1")}}
		o.RootCAs = s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	})
	x := get(t, c, "https://example.com"+port(s.URL)+"/")
	want(t, x, ClassNone)
	if x.Proto != "HTTP/2.0" {
		t.Fatalf("spoke %s", x.Proto)
	}
	for _, other := range []string{"127.0.0.1", "[::1]"} { // both are in the certificate
		want(t, get(t, c, "https://"+other+port(s.URL)+"/"), ClassAddressRefused)
	}
	want(t, get(t, c, "https://www.example.com"+port(s.URL)+"/"), ClassDNSNotFound)
}

// Environment variables name no proxy to the client.
func TestNoProxies(t *testing.T) {
	f := newForbidden(t)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		t.Setenv(name, "http://127.0.0.1"+f.port)
	}
	s := newSite(t, func(http.ResponseWriter, *http.Request) {})
	s.Start()
	// A name, since net/http asks no proxy for loopback addresses.
	c := outsider(t, &fakeResolver{hosts: map[string][]netip.Addr{"www.example.": addrs("127.1.0.1")}})
	want(t, get(t, c, "http://www.example"+port(s.URL)), ClassNone)
	if c.transport.Proxy != nil { // net/http reads the variables once a process, perhaps before this test
		t.Error("the client has proxies")
	}
}
