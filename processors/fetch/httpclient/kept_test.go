package httpclient

import (
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"
)

// A name is not looked up, however short its records hold, as long as the next request goes to
// a connection that is kept; and it is looked up before every request that needs another one.
func TestKeptConnectionNeedsNoLookUp(t *testing.T) {
	for name, serve := range map[string]func(http.HandlerFunc) (*httptest.Server, *x509.CertPool){
		"HTTP":       func(h http.HandlerFunc) (*httptest.Server, *x509.CertPool) { return newServer(t, h), nil },
		"HTTPS":      func(h http.HandlerFunc) (*httptest.Server, *x509.CertPool) { return newTLSServer(t, h, false, nil) },
		"HTTP/2":     func(h http.HandlerFunc) (*httptest.Server, *x509.CertPool) { return newTLSServer(t, h, true, nil) },
		"other port": func(h http.HandlerFunc) (*httptest.Server, *x509.CertPool) { return newServer(t, h), nil },
	} {
		t.Run(name, func(t *testing.T) {
			busy, begun := make(chan struct{}), make(chan struct{})
			s, pool := serve(func(_ http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/busy" {
					close(begun)
					<-busy
				}
			})
			fake := &fakeResolver{hosts: map[string][]netip.Addr{"example.com": addrs("127.0.0.1")}}
			c := newClient(t, func(o *Options) { o.Resolver, o.RootCAs, o.DNSTTL = fake, pool, time.Nanosecond })
			origin := s.URL[:len(s.URL)-len("127.0.0.1"+port(s.URL))] + "example.com" + port(s.URL)
			url := origin + "/"
			if name == "other port" { // a connection to one origin is none to another
				want(t, get(t, c, url), ClassNone)
				before := fake.count("example.com")
				if _, x := c.LookUp(t.Context(), "http://example.com/"); x != nil || fake.count("example.com") != before+1 {
					t.Errorf("%+v after %d look-ups", x, fake.count("example.com")-before)
				}
				return
			}
			asks := func(what string, asks bool, do func()) {
				t.Helper()
				before := fake.count("example.com")
				do()
				if asked := fake.count("example.com") > before; asked != asks {
					t.Errorf("%s: looked up: %t, want %t", what, asked, asks)
				}
			}
			lookUp := func() {
				if _, x := c.LookUp(t.Context(), url); x != nil {
					t.Errorf("not found: %+v", x)
				}
			}
			asks("at first", true, lookUp)
			want(t, get(t, c, url), ClassNone)
			for range 3 {
				asks("with a kept connection", false, func() {
					c.LookAhead(t.Context(), []string{url})
					lookUp()
					x := get(t, c, url)
					want(t, x, ClassNone)
					if a, _ := c.LookUp(t.Context(), url); !x.Reused || a.String() != "127.0.0.1" {
						t.Errorf("reused %t, the address is %v", x.Reused, a)
					}
				})
			}
			over := make(chan *Exchange)
			go func() { over <- c.Do(t.Context(), Request{URL: origin + "/busy"}) }()
			<-begun
			asks("while it is in use", name != "HTTP/2", lookUp)
			close(busy)
			want(t, <-over, ClassNone)
			c.stale.Add(origin, time.Now())
			asks("while the origin's kept connections are not used", true, lookUp)
			c.stale.Remove(origin)
			asks("with a kept connection again", false, lookUp)
			fake.mu.Lock()
			fake.hosts["example.com"] = addrs("127.0.0.2")
			fake.mu.Unlock()
			c.transport.CloseIdleConnections()
			asks("after its end", true, lookUp)
			if a := c.address(url); a.String() != "127.0.0.2" {
				t.Errorf("after its end the address is %v", a)
			}
			if n := len(c.dialer.kept.conns); n > 0 {
				t.Errorf("%d origins have connections that are closed", n)
			}
		})
	}
}
