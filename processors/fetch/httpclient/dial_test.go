package httpclient

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// fakeResolver answers from a table and counts the questions.
type fakeResolver struct {
	mu    sync.Mutex
	hosts map[string][]netip.Addr
	err   map[string]error
	asked map[string]int
	wait  func(context.Context) // before each answer; or nil
}

func (f *fakeResolver) LookupNetIP(ctx context.Context, _, name string) ([]netip.Addr, error) {
	if f.wait != nil {
		f.wait(ctx)
		if ctx.Err() != nil {
			return nil, &net.DNSError{Err: "i/o timeout", Name: name, IsTimeout: true}
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.asked == nil {
		f.asked = map[string]int{}
	}
	f.asked[name]++
	if err := f.err[name]; err != nil {
		return nil, err
	}
	if addrs := f.hosts[name]; addrs != nil {
		return addrs, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

func (f *fakeResolver) count(name string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked[name]
}

func addrs(texts ...string) []netip.Addr {
	list := make([]netip.Addr, len(texts))
	for i, text := range texts {
		list[i] = netip.MustParseAddr(text)
	}
	return list
}

// port returns a server's port with its colon.
func port(url string) string { return url[strings.LastIndexByte(url, ':'):] }

func TestAddressRefused(t *testing.T) {
	s := newRawServer(t, func(*net.TCPConn, *bufio.Reader) {})
	resolver := &fakeResolver{hosts: map[string][]netip.Addr{
		"inside.example.": addrs("127.0.0.1", "::ffff:127.0.0.1", "::1"),
		"metadata.":       addrs("169.254.169.254"),
	}}
	c := newClient(t, func(o *Options) { o.AllowPrivate, o.Resolver = false, resolver })
	for _, host := range []string{"127.0.0.1", "localhost", "inside.example", "metadata", "[::1]", "[::ffff:127.0.0.1]",
		"[64:ff9b::7f00:1]", "[2002:7f00:1::]", "0.0.0.0", "10.0.0.1", "[fd00::1]"} {
		if host == "localhost" {
			resolver.hosts["localhost."] = addrs("127.0.0.1")
		}
		for _, scheme := range []string{"http://", "https://"} {
			x := get(t, c, scheme+host+port(s.url))
			want(t, x, ClassAddressRefused)
			if x.Remote != "" {
				t.Errorf("%s: remote %s", x.URL, x.Remote)
			}
		}
	}
	if n := s.accepted.Load(); n != 0 {
		t.Errorf("%d connections were made", n)
	}
}

// Public addresses of a name that also has private ones remain.
func TestAllowed(t *testing.T) {
	got := reach{}.allowed(addrs("10.0.0.1", "8.8.8.8", "::1", "2606:4700::1", "1.1.1.1", "1.1.1.2", "1.1.1.3", "1.1.1.4", "1.1.1.5"))
	if len(got) != maxAddresses || got[0] != netip.MustParseAddr("8.8.8.8") || got[1] != netip.MustParseAddr("2606:4700::1") {
		t.Errorf("allowed: %v", got)
	}
}

func TestConnectRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free := port("http://" + l.Addr().String())
	l.Close()
	resolver := &fakeResolver{hosts: map[string][]netip.Addr{"a.test": addrs("127.0.0.1"), "b.test": addrs("127.0.0.2", "127.0.0.1")}}
	c := newClient(t, func(o *Options) { o.Resolver = resolver })
	want(t, get(t, c, "http://127.0.0.1"+free), ClassConnectRefused)
	x := get(t, c, "http://a.test"+free)
	want(t, x, ClassConnectRefused)
	if x.Connect <= 0 {
		t.Errorf("connect took %v", x.Connect)
	}
	want(t, get(t, c, "http://b.test"+free), ClassConnectRefused)
	// Addresses that do not answer are looked up again.
	want(t, get(t, c, "http://a.test"+free), ClassConnectRefused)
	if n := resolver.count("a.test"); n != 2 {
		t.Errorf("%d look-ups, want 2", n)
	}
}

// The first address does not answer; the second does.
func TestRace(t *testing.T) {
	s := newServer(t, func(http.ResponseWriter, *http.Request) {})
	for _, list := range [][]netip.Addr{
		addrs("127.0.0.9", "127.0.0.1"),                           // refused
		addrs("127.0.0.9", "::1", "127.0.0.8", "127.0.0.1"),       // all refused but one
		addrs("127.0.0.1", "127.0.0.9"),                           // the first wins
		addrs("::ffff:127.0.0.1", "::ffff:127.0.0.1"),             // mapped
		addrs("127.0.0.1", "127.0.0.1", "127.0.0.1", "127.0.0.1"), // whichever
	} {
		resolver := &fakeResolver{hosts: map[string][]netip.Addr{"a.test": list}}
		c := newClient(t, func(o *Options) { o.Resolver = resolver })
		x := get(t, c, "http://a.test"+port(s.URL))
		want(t, x, ClassNone)
		if x.Remote != "127.0.0.1"+port(s.URL) {
			t.Errorf("%v: remote %s", list, x.Remote)
		}
	}
}

func TestMoreTelling(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	unreachable := &net.OpError{Op: "dial", Err: syscall.ENETUNREACH}
	for _, tc := range []struct{ a, b, want error }{
		{nil, unreachable, unreachable},
		{unreachable, refused, refused},
		{refused, unreachable, refused},
	} {
		if got := moreTelling(tc.a, tc.b); got != tc.want {
			t.Errorf("moreTelling(%v, %v) = %v", tc.a, tc.b, got)
		}
	}
}

func TestClassifyDial(t *testing.T) {
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	for _, tc := range []struct {
		err  error
		want Class
	}{
		{nil, ClassNone},
		{dial(syscall.ECONNREFUSED), ClassConnectRefused},
		{dial(syscall.ETIMEDOUT), ClassConnectTimeout},
		{dial(context.DeadlineExceeded), ClassConnectTimeout},
		{dial(syscall.EHOSTUNREACH), ClassConnectError},
		{dial(syscall.ENETUNREACH), ClassConnectError},
		{dial(syscall.EMFILE), ClassLocalError},
		{dial(syscall.EADDRNOTAVAIL), ClassLocalError},
		{dial(context.Canceled), ClassCanceled},
		{&net.DNSError{IsNotFound: true}, ClassDNSNotFound},
		{&net.DNSError{IsTimeout: true}, ClassDNSError},
		{context.Canceled, ClassCanceled},
		{context.DeadlineExceeded, ClassTotalTimeout},
		{ErrLeaseLost, ClassLeaseLost},
		{syscall.ECONNRESET, ClassReset},
		{errors.New("anything"), ClassBadResponse},
	} {
		if got := Classify(tc.err); got != tc.want {
			t.Errorf("Classify(%v) = %q, want %q", tc.err, got, tc.want)
		}
	}
	seen := map[Class]bool{}
	for _, class := range Classes() {
		if class == ClassNone || seen[class] {
			t.Errorf("class %q twice or empty", class)
		}
		seen[class] = true
	}
}

// everywhere resolves each name to loopback.
type everywhere struct{}

func (everywhere) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return addrs("127.0.0.1"), nil
}
