package httpclient

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// newRobotsServer redirects /robots.txt to /1, /1 to /2 and so on until /n,
// which has the rules.
func newRobotsServer(t *testing.T, n int, seen *atomic.Int64) string {
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		seen.Add(1)
		i := 0
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &i)
		if i < n {
			http.Redirect(w, r, fmt.Sprintf("/%d", i+1), http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "image/png") // robots.txt is read whatever it calls itself
		_, _ = io.WriteString(w, "User-agent: *\nDisallow: /private\n")
	})
	return s.URL
}

func TestRobots(t *testing.T) {
	for redirects := range 8 {
		var seen atomic.Int64
		origin := newRobotsServer(t, redirects, &seen)
		var hops []string
		list := newClient(t, nil).Robots(t.Context(), Request{URL: origin + "/robots.txt"}, func(next string) (time.Duration, bool) {
			hops = append(hops, strings.TrimPrefix(next, origin))
			return time.Duration(len(hops)) * time.Hour, true
		})
		followed := min(redirects, MaxRobotsRedirects)
		last := list[len(list)-1]
		if len(list) != followed+1 || len(hops) != followed || seen.Load() != int64(followed+1) {
			t.Errorf("%d redirects: %d exchanges, hops %v, %d requests", redirects, len(list), hops, seen.Load())
		}
		for i, x := range list { // that for the first one is in the request
			if wait := time.Duration(i) * time.Hour; x.DNS < wait || x.DNS > wait+time.Minute {
				t.Errorf("exchange %d of %d: looked up for %v", i, len(list), x.DNS)
			}
		}
		if list[0].URL != origin+"/robots.txt" {
			t.Errorf("first exchange: %s", list[0].URL)
		}
		if redirects <= MaxRobotsRedirects != (string(last.Body) == "User-agent: *\nDisallow: /private\n") {
			t.Errorf("%d redirects: status %d, body %q", redirects, last.Status, last.Body)
		}
	}
}

func TestRobotsHopRefused(t *testing.T) {
	var seen, otherSeen atomic.Int64
	other := newRobotsServer(t, 0, &otherSeen)
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		seen.Add(1)
		http.Redirect(w, r, other+"/robots.txt", http.StatusMovedPermanently)
	})
	c := newClient(t, nil)
	sameHost := func(next string) (time.Duration, bool) {
		u, err := url.Parse(next)
		return 0, err == nil && u.Host == strings.TrimPrefix(s.URL, "http://")
	}
	for _, hop := range []func(string) (time.Duration, bool){sameHost, nil} {
		list := c.Robots(t.Context(), Request{URL: s.URL + "/robots.txt"}, hop)
		if len(list) != 1 || list[0].Status != http.StatusMovedPermanently || list[0].Location != other+"/robots.txt" {
			t.Errorf("exchanges: %+v", list)
		}
	}
	if seen.Load() != 2 || otherSeen.Load() != 0 {
		t.Errorf("%d and %d requests", seen.Load(), otherSeen.Load())
	}
	all := c.Robots(t.Context(), Request{URL: s.URL + "/robots.txt"}, func(string) (time.Duration, bool) { return 0, true })
	if len(all) != 2 || all[1].URL != other+"/robots.txt" || all[1].Status != 200 {
		t.Errorf("exchanges: %+v", all)
	}
}

func TestRobotsEnds(t *testing.T) {
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.Host {
		case "mail.test" + port(r.Host):
			w.Header().Set("Location", "mailto:a@b.example")
			w.WriteHeader(http.StatusFound)
		case "large.test" + port(r.Host):
			_, _ = w.Write(make([]byte, 2*RobotsBytes))
		case "missing.test" + port(r.Host):
			http.NotFound(w, r)
		}
	})
	// How much of a robots.txt counts is not for the limit of pages to say.
	c := newClient(t, func(o *Options) { o.Resolver, o.MaxBodyBytes = everywhere{}, 16<<10 })
	yes := func(string) (time.Duration, bool) { return 0, true }
	if list := c.Robots(t.Context(), Request{URL: "http://mail.test" + port(s.URL) + "/robots.txt"}, yes); len(list) != 1 || list[0].Status != 302 {
		t.Errorf("mail: %+v", list)
	}
	if x := c.Robots(t.Context(), Request{URL: "http://large.test" + port(s.URL) + "/robots.txt"}, yes)[0]; len(x.Body) != RobotsBytes || !x.Truncated {
		t.Errorf("large: %d bytes, truncated %v", len(x.Body), x.Truncated)
	}
	if x := c.Robots(t.Context(), Request{URL: "http://missing.test" + port(s.URL) + "/robots.txt"}, yes)[0]; x.Status != 404 || x.Class != ClassNone {
		t.Errorf("missing: %+v", x)
	}
	if list := c.Robots(t.Context(), Request{URL: "http://large.test" + port(s.URL) + "/robots.txt", Permit: func() bool { return false }}, yes); list[0].Class != ClassLeaseLost {
		t.Errorf("without a lease: %+v", list[0])
	}
}
