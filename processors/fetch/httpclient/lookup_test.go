package httpclient

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// LookUp asks only for names, and fails like Do.
func TestLookUp(t *testing.T) {
	s := newServer(t, func(http.ResponseWriter, *http.Request) {})
	fake := &fakeResolver{
		hosts: map[string][]netip.Addr{"a.test": addrs("127.0.0.1")},
		err:   map[string]error{"broken.test": context.DeadlineExceeded},
	}
	c := newClient(t, func(o *Options) { o.Resolver = fake })
	for url, class := range map[string]Class{
		"http://a.test" + port(s.URL) + "/": ClassNone, "https://gone.test/x": ClassDNSNotFound, "http://broken.test/": ClassDNSError,
		"http://127.0.0.1/": ClassNone, "http://[::1]:8080/": ClassNone, "http://localhost/": ClassNone,
		"http://gone.test:25/": ClassNone, "gone.test": ClassNone, "http://a b/": ClassNone,
	} {
		_, x := c.LookUp(t.Context(), url)
		switch {
		case class == ClassNone && x != nil:
			t.Errorf("%s: %+v", url, x)
		case class == ClassNone:
		case x == nil || x.Class != class || x.URL != url || x.Error == "" || x.Started.IsZero() || x.DNS != x.Total:
			t.Errorf("%s: %+v, want %s", url, x, class)
		}
	}
	x := c.Do(t.Context(), Request{URL: "http://a.test" + port(s.URL) + "/", LookedUp: time.Hour})
	if want(t, x, ClassNone); x.DNS < time.Hour || x.Total > time.Minute {
		t.Errorf("looked up for %v, of %v", x.DNS, x.Total)
	}
	if x := c.Do(t.Context(), Request{URL: "http://a b/", LookedUp: time.Hour}); x.DNS != time.Hour {
		t.Errorf("looked up for %v", x.DNS)
	}
	for name, asked := range map[string]int{"a.test": 1, "gone.test": 1, "broken.test": 1, "localhost": 0} {
		if n := fake.count(name); n != asked {
			t.Errorf("asked %d times for %s, want %d", n, name, asked)
		}
	}
	for url, address := range map[string]string{
		"http://a.test/": "127.0.0.1", "http://127.0.0.2/x": "127.0.0.2", "http://[::1]:8080/": "::1", "http://localhost/": "127.0.0.1",
		"http://gone.test/": "invalid IP", "http://never.test/": "invalid IP", "http://a b/": "invalid IP",
	} {
		if a, _ := c.LookUp(t.Context(), url); a.String() != address {
			t.Errorf("the address of %s is %v, want %s", url, a, address)
		}
	}
	ended, end := context.WithCancelCause(t.Context())
	end(ErrLeaseLost)
	if _, x := c.LookUp(ended, "http://b.test/"); x == nil || x.Class != ClassLeaseLost {
		t.Errorf("after the lease: %+v", x)
	}
	ended, end = context.WithCancelCause(t.Context())
	end(nil)
	if _, x := c.LookUp(ended, "http://c.test/"); x == nil || x.Class != ClassCanceled {
		t.Errorf("after the end of the visit: %+v", x)
	}
}

// Few names are looked up at once. Look-ups that hang leave their slots to others.
func TestLookUpsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		open, most, takes := 0, 0, 500*time.Millisecond
		fake := &fakeResolver{wait: func(ctx context.Context) {
			mu.Lock()
			open++
			most = max(most, open)
			wait := time.After(takes)
			mu.Unlock()
			select {
			case <-ctx.Done():
			case <-wait:
			}
			mu.Lock()
			open--
			mu.Unlock()
		}}
		c := newClient(t, func(o *Options) { o.Resolver, o.DNSLookups = fake, 8 })
		began := time.Now()
		var all sync.WaitGroup
		for i := range 40 {
			all.Go(func() { c.LookUp(t.Context(), fmt.Sprintf("http://h%d.test/", i)) })
		}
		all.Wait()
		if took := time.Since(began); most != 8 || took != 2500*time.Millisecond {
			t.Errorf("%d at once, in %v", most, took)
		}
		now := func(wait time.Duration) {
			mu.Lock()
			defer mu.Unlock()
			takes = wait
		}
		now(time.Hour) // ten seconds, then the context ends
		for i := range 40 {
			all.Go(func() { c.LookUp(t.Context(), fmt.Sprintf("http://hangs%d.test/", i)) })
		}
		synctest.Wait()
		began = time.Now()
		time.Sleep(6 * time.Second)
		now(0)
		c.LookUp(t.Context(), "http://quick.test/")
		if took := time.Since(began); took > 7*time.Second {
			t.Errorf("a name waited %v for others that hang", took)
		}
		all.Wait()
	})
}

// Names are looked up ahead once, in their order, until their visit ends, and are known
// when they are needed. Names that are needed at once do not wait for them.
func TestLookAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := &fakeResolver{wait: func(context.Context) { time.Sleep(100 * time.Millisecond) }}
		c := newClient(t, func(o *Options) { o.Resolver, o.DNSLookups = fake, 4 })
		visit, end := context.WithCancel(t.Context())
		var urls, later []string
		for i := range 20 {
			urls = append(urls, fmt.Sprintf("http://h%d.test/a", i), fmt.Sprintf("https://h%d.test/b", i), "http://127.0.0.1/")
			later = append(later, fmt.Sprintf("http://later%d.test/", i))
		}
		c.LookAhead(t.Context(), urls)
		c.LookAhead(visit, later)
		began := time.Now()
		c.LookUp(t.Context(), "http://now.test/")
		if took := time.Since(began); took > 200*time.Millisecond {
			t.Errorf("waited %v for names that are not needed yet", took)
		}
		time.Sleep(1050*time.Millisecond - time.Since(began)) // ten turns of two are over
		end()
		time.Sleep(time.Minute)
		asked := 0
		for i := range 20 {
			if n := fake.count(fmt.Sprintf("h%d.test", i)); n != 1 {
				t.Errorf("asked %d times for h%d.test", n, i)
			}
			asked += fake.count(fmt.Sprintf("later%d.test", i))
		}
		if asked > 2 {
			t.Errorf("asked for %d names of a visit that has ended", asked)
		}
		c.LookAhead(t.Context(), urls[:3]) // negative answers are over by now
		time.Sleep(time.Second)
		began = time.Now()
		if _, x := c.LookUp(t.Context(), urls[0]); x == nil || time.Since(began) != 0 || fake.count("h0.test") != 2 {
			t.Errorf("%+v after %v, asked %d times", x, time.Since(began), fake.count("h0.test"))
		}
	})
}
