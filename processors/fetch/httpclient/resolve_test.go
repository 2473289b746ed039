package httpclient

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func newTestResolver(t *testing.T, ask Resolver, change func(*Options)) *resolver {
	t.Helper()
	o := DefaultOptions()
	o.Resolver = ask
	if change != nil {
		change(&o)
	}
	return newResolver(t.Context(), o)
}

func TestResolverKeepsAnswers(t *testing.T) {
	fake := &fakeResolver{
		hosts: map[string][]netip.Addr{"a.test": addrs("1.1.1.1")},
		err:   map[string]error{"fails.test": &net.DNSError{Err: "server misbehaving", IsTemporary: true}},
	}
	r := newTestResolver(t, fake, nil)
	now := time.Unix(0, 0)
	r.now = func() time.Time { return now }
	for _, step := range []struct {
		after time.Duration
		name  string
		class Class
		asked int
	}{
		{0, "a.test", ClassNone, 1},
		{5*time.Minute - 1, "a.test", ClassNone, 1},
		{1, "a.test", ClassNone, 2},
		{0, "none.test", ClassDNSNotFound, 1},
		{5*time.Second - 1, "none.test", ClassDNSNotFound, 1},
		{1, "none.test", ClassDNSNotFound, 2},
		{0, "fails.test", ClassDNSError, 1},
		{0, "fails.test", ClassDNSError, 2},
	} {
		now = now.Add(step.after)
		got, err := r.lookup(t.Context(), step.name)
		if Classify(err) != step.class || (len(got) > 0) != (err == nil) {
			t.Errorf("%+v: %v, %v", step, got, err)
		}
		if n := fake.count(step.name); n != step.asked {
			t.Errorf("%+v: asked %d times", step, n)
		}
	}
	r.forget("a.test")
	if _, err := r.lookup(t.Context(), "a.test"); err != nil || fake.count("a.test") != 3 {
		t.Errorf("after forget: %v, asked %d times", err, fake.count("a.test"))
	}
}

// A name does not exist if neither question finds an address: Go's resolver says
// so, too, when one of them fails.
func TestNotFoundByBothQuestions(t *testing.T) {
	none, broken := &net.DNSError{Err: "no such host", IsNotFound: true}, &net.DNSError{Err: "server misbehaving", IsTemporary: true}
	for _, test := range []struct {
		what     string
		v4, v6   error
		want     Class
		resolved bool
	}{
		{"both", none, none, ClassDNSNotFound, false},
		{"IPv6 fails", none, broken, ClassDNSError, false},
		{"IPv4 fails", broken, none, ClassDNSError, false},
		{"it is there now", none, nil, ClassNone, true},
	} {
		got, err := families{questions{none, test.v4, test.v6}}.LookupNetIP(t.Context(), "ip", "a.test.")
		if Classify(err) != test.want || (len(got) > 0) != test.resolved {
			t.Errorf("%s: %v, %v", test.what, got, err)
		}
	}
}

// questions answers both questions together, and each alone.
type questions struct{ both, v4, v6 error }

func (q questions) LookupNetIP(_ context.Context, network, _ string) ([]netip.Addr, error) {
	err := map[string]error{"ip": q.both, "ip4": q.v4, "ip6": q.v6}[network]
	if err != nil {
		return nil, err
	}
	return addrs("2001:4860::1"), nil
}

func TestResolverIsBounded(t *testing.T) {
	fake := &fakeResolver{}
	r := newTestResolver(t, fake, func(o *Options) { o.DNSNames = 10 })
	for i := range 100 {
		_, _ = r.lookup(t.Context(), fmt.Sprint(i))
		_, _ = r.lookup(t.Context(), "often")
		if n := r.answers.Len(); n > 10 {
			t.Fatalf("%d names", n)
		}
	}
	if n := fake.count("often"); n != 1 {
		t.Errorf("a name in use was dropped: asked %d times", n)
	}
}

// A name may have more addresses than are dialled: the others are not kept.
func TestResolverKeepsWhatIsDialled(t *testing.T) {
	inside, outside := make([]netip.Addr, 5000), make([]netip.Addr, 5000)
	for i := range inside {
		inside[i] = netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)})
		outside[i] = netip.AddrFrom4([4]byte{8, 8, byte(i >> 8), byte(i)})
	}
	fake := &fakeResolver{hosts: map[string][]netip.Addr{
		"outside.test": outside, "inside.test": inside, "both.test": slices.Concat(inside, outside),
	}}
	r := newTestResolver(t, fake, nil)
	for name, want := range map[string][]netip.Addr{
		"outside.test": outside[:maxAddresses], "inside.test": inside[:1], "both.test": outside[:maxAddresses],
	} {
		for _, from := range []string{"asked", "cached"} {
			got, err := r.lookup(t.Context(), name)
			if err != nil || !slices.Equal(got, want) || cap(got) > maxAddresses {
				t.Errorf("%s, %s: %d addresses with room for %d, %v", name, from, len(got), cap(got), err)
			}
		}
	}
}

// Callers that want a name at the same time share one look-up. A caller that gives up does not
// end it for the others.
func TestResolverSharesLookups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		fake := &fakeResolver{
			hosts: map[string][]netip.Addr{"a.test": addrs("1.1.1.1")},
			wait:  func(context.Context) { <-release },
		}
		r := newTestResolver(t, fake, nil)
		impatient, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := r.lookup(impatient, "a.test"); !errors.Is(err, context.Canceled) {
				t.Errorf("impatient: %v", err)
			}
		})
		synctest.Wait()
		for range 5 {
			wg.Go(func() {
				if got, err := r.lookup(t.Context(), "a.test"); err != nil || len(got) != 1 {
					t.Errorf("%v, %v", got, err)
				}
			})
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(release)
		wg.Wait()
		if n := fake.count("a.test"); n != 1 {
			t.Errorf("asked %d times", n)
		}
	})
}

// No caller waits for long. The look-up goes on, and a later caller has its answer.
func TestAnswerThatComesLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := &fakeResolver{
			hosts: map[string][]netip.Addr{"a.test": addrs("1.1.1.1")},
			wait:  func(context.Context) { time.Sleep(5 * time.Second) },
		}
		r := newTestResolver(t, fake, nil)
		began := time.Now()
		for _, waits := range []time.Duration{answerPatience, 0} {
			before := time.Now()
			_, err := r.lookup(t.Context(), "a.test")
			if Classify(err) != ClassDNSError || time.Since(before) != waits {
				t.Errorf("after %v: %v", time.Since(before), err)
			}
		}
		time.Sleep(time.Until(began.Add(5*time.Second + time.Millisecond)))
		if got, err := r.lookup(t.Context(), "a.test"); err != nil || len(got) != 1 || fake.count("a.test") != 1 {
			t.Errorf("%v, %v, asked %d times", got, err, fake.count("a.test"))
		}
	})
}

func TestResolverTimeout(t *testing.T) {
	fake := &fakeResolver{wait: func(ctx context.Context) { <-ctx.Done() }}
	c := newClient(t, func(o *Options) { o.Resolver, o.ConnectTimeout = fake, soon })
	want(t, get(t, c, "http://a.test/"), ClassDNSError)
}

func TestNotFound(t *testing.T) {
	c := newClient(t, func(o *Options) { o.Resolver = &fakeResolver{} })
	x := get(t, c, "http://a.test/")
	want(t, x, ClassDNSNotFound)
	if x.DNS < 0 || x.Remote != "" || x.Status != 0 {
		t.Errorf("exchange: %+v", x)
	}
}

// The time of a look-up does not count as the time of a connection, whether it finds the name or
// not.
func TestTimeOfLookUps(t *testing.T) {
	s := newServer(t, func(http.ResponseWriter, *http.Request) {})
	const slow = 50 * time.Millisecond
	fake := &fakeResolver{hosts: map[string][]netip.Addr{"a.test": addrs("127.0.0.1")}, wait: func(context.Context) { time.Sleep(slow) }}
	c := newClient(t, func(o *Options) { o.Resolver = fake })
	for name, dialled := range map[string]bool{"a.test": true, "gone.test": false} {
		x := get(t, c, "http://"+name+port(s.URL)+"/")
		if x.DNS < slow || x.DNS > x.Total || (x.Connect > 0) != dialled || x.Connect > x.Total-x.DNS {
			t.Errorf("%s: DNS %v, connect %v of %v", name, x.DNS, x.Connect, x.Total)
		}
	}
	if x := get(t, c, "http://a.test"+port(s.URL)+"/again"); !x.Reused || x.DNS != 0 || x.Connect != 0 {
		t.Errorf("on a kept connection: DNS %v, connect %v", x.DNS, x.Connect)
	}
}

// Without AllowPrivate names are absolute: no search list applies.
func TestAbsoluteNames(t *testing.T) {
	for allow, name := range map[bool]string{true: "a.test", false: "a.test."} {
		fake := &fakeResolver{}
		c := newClient(t, func(o *Options) { o.Resolver, o.AllowPrivate = fake, allow })
		want(t, get(t, c, "http://a.test/"), ClassDNSNotFound)
		if fake.count(name) != 1 {
			t.Errorf("AllowPrivate %v: asked %v", allow, fake.asked)
		}
	}
}

func TestInterleave(t *testing.T) {
	for _, tc := range []struct{ in, want []netip.Addr }{
		{nil, nil},
		{addrs("1.1.1.1"), addrs("1.1.1.1")},
		{addrs("2::1", "2::2", "1.1.1.1", "1.1.1.2", "1.1.1.3"), addrs("2::1", "1.1.1.1", "2::2", "1.1.1.2", "1.1.1.3")},
		{addrs("1.1.1.1", "2::1", "2::2"), addrs("1.1.1.1", "2::1", "2::2")},
		{addrs("::ffff:1.1.1.1", "2::1"), addrs("1.1.1.1", "2::1")},
	} {
		if got := interleave(tc.in); !slices.Equal(got, tc.want) {
			t.Errorf("interleave(%v) = %v, want %v", tc.in, got, tc.want)
		}
	}
}

// Names of this machine are known without a look-up, and refused as what they are.
func TestLocalhost(t *testing.T) {
	s := newServer(t, func(http.ResponseWriter, *http.Request) {})
	for host, local := range map[string]bool{
		"localhost": true, "localhost.": true, "a.b.localhost": true, "a.localhost.": true,
		"localhost.example": false, "notlocalhost": false, "localhost..": false,
	} {
		fake := &fakeResolver{}
		open := newClient(t, func(o *Options) { o.Resolver = fake })
		shut := newClient(t, func(o *Options) { o.Resolver, o.AllowPrivate = fake, false })
		if local {
			want(t, get(t, open, "http://"+host+port(s.URL)), ClassNone)
			want(t, get(t, shut, "http://"+host+port(s.URL)), ClassAddressRefused)
		} else {
			want(t, get(t, shut, "http://"+host+port(s.URL)), ClassDNSNotFound)
		}
		if local != (len(fake.asked) == 0) {
			t.Errorf("%s: asked %v", host, fake.asked)
		}
	}
}
