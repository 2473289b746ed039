package webserver

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// small is a web with one sick host of each kind, whose troubles are short.
var small = SickOptions{
	Pages: 12, SickPages: 60, MedianBytes: 1 << 10, MeanBytes: 2 << 10, OutageUntil: time.Second, BusyUntil: time.Second,
	Permits: 3, Window: 300 * time.Millisecond, SlowEvery: 10 * time.Millisecond,
}

func serveSick(t *testing.T, o SickOptions) *SickServer {
	t.Helper()
	s, err := ServeSick(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// visitor is a client of a sick web, who has little patience.
type visitor struct {
	*SickServer
	client *http.Client
}

func newVisitor(t *testing.T, s *SickServer) visitor {
	dialer := &net.Dialer{Resolver: s.Resolver(), Timeout: 300 * time.Millisecond}
	tr := &http.Transport{DialContext: dialer.DialContext}
	t.Cleanup(tr.CloseIdleConnections)
	return visitor{s, &http.Client{Transport: tr, Timeout: 1500 * time.Millisecond}}
}

// visit asks for a path. err is also the error of reading the body.
func (v visitor) visit(h *Host, path string) (*http.Response, string, error) {
	resp, err := v.client.Get(v.URL(h, path))
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, string(body), err
}

// status is the status of a path; 0: there is no whole answer.
func (v visitor) status(h *Host, path string) int {
	resp, _, err := v.visit(h, path)
	if err != nil {
		return 0
	}
	return resp.StatusCode
}

func isTimeout(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}

func errorAs[T error](check func(T) bool) func(error) bool {
	return func(err error) bool {
		var e T
		return errors.As(err, &e) && check(e)
	}
}

// sicknessTests try what the table says, with a host of the kind.
var sicknessTests = map[string]func(t *testing.T, v visitor, h *Host){
	"refused":       fails(func(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }, 0),
	"connect-hangs": fails(errorAs(func(e *net.OpError) bool { return e.Op == "dial" && e.Timeout() }), 0),
	"resets": fails(func(err error) bool {
		return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.EOF)
	}, 1),
	"silent":          fails(isTimeout, 1),
	"headers-only":    fails(isTimeout, 1),
	"slow-body":       fails(isTimeout, 1),
	"tls-handshake":   fails(func(err error) bool { return strings.Contains(err.Error(), "tls: handshake failure") }, 1),
	"tls-certificate": fails(errorAs(func(*tls.CertificateVerificationError) bool { return true }), 1),
	"name-servfail":   fails(errorAs(func(e *net.DNSError) bool { return e.IsTemporary && !e.IsNotFound }), 0),
	"name-silent":     fails(isTimeout, 0),
	Dead:              fails(errorAs(func(e *net.DNSError) bool { return e.IsNotFound }), 0),

	"status-500": func(t *testing.T, v visitor, h *Host) {
		v.holds(t, h, http.StatusInternalServerError)
		v.robots(t, h, http.StatusOK)
	},
	"some-500": func(t *testing.T, v visitor, h *Host) {
		v.holds(t, h, http.StatusInternalServerError)
		if n := len(v.GoodPages(h)); n != 40 {
			t.Errorf("%d good pages, want 40 of 60", n)
		}
	},
	"front-500": func(t *testing.T, v visitor, h *Host) {
		v.holds(t, h, http.StatusInternalServerError)
		_, root, err := v.visit(h, "/")
		good := v.GoodPages(h)
		if err != nil || len(good) != 20 {
			t.Fatalf("%d good pages, want 20 of 60; the root: %v", len(good), err)
		}
		before := root[:strings.Index(root, `"`+good[1]+`"`)] // good[0] is the root
		if n := strings.Count(before, "<li><a href"); n != 1+frontBroken+1 {
			t.Errorf("%d links up to the first good page, want the root, 40 broken pages and itself", n)
		}
	},
	"robots-503": func(t *testing.T, v visitor, h *Host) {
		v.robots(t, h, http.StatusServiceUnavailable)
		if status := v.status(h, "/"); status != http.StatusOK {
			t.Errorf("a page: %d", status)
		}
	},
	"limit-429": func(t *testing.T, v visitor, h *Host) { v.limits(t, h, false) },
	"limit-429-retry-after": func(t *testing.T, v visitor, h *Host) {
		v.limits(t, h, true)
	},
	"busy-503-retry-after": func(t *testing.T, v visitor, h *Host) {
		v, h = v.anew(t, h)
		if resp, _, err := v.visit(h, "/"); err != nil || resp.Header.Get("Retry-After") != "1" {
			t.Errorf("%+v, %v: no Retry-After until it is healthy", resp, err)
		}
		v.recovers(t, h, http.StatusServiceUnavailable)
	},
	"outage": func(t *testing.T, v visitor, h *Host) {
		v, h = v.anew(t, h)
		v.recovers(t, h, 0)
	},
}

// anew looks for a host of a web that has just started, and has no other sick host.
func (v visitor) anew(t *testing.T, h *Host) (visitor, *Host) {
	v.status(h, "/")
	o := small
	o.Kinds, o.Sick = []string{h.Kind}, 1
	v = newVisitor(t, serveSick(t, o))
	return v, v.Hosts()[o.WithDefaults().Healthy]
}

// fails is a host whose requests all end with an error, and leave so many entries in the log.
func fails(is func(error) bool, logged int) func(*testing.T, visitor, *Host) {
	return func(t *testing.T, v visitor, h *Host) {
		for _, path := range []string{robotsPath, "/"} {
			if _, _, err := v.visit(h, path); err == nil || !is(err) {
				t.Errorf("%s: %v", path, err)
			}
		}
		if got := v.logged(t, h, 2*logged); got != 2*logged {
			t.Errorf("%d entries in the log, want %d", got, 2*logged)
		}
	}
}

// logged waits for so many entries of a host, and counts them.
func (v visitor) logged(t *testing.T, h *Host, least int) (n int) {
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		n = 0
		for _, e := range v.Entries() {
			if e.Domain == h.Name {
				if n++; e.Status != StatusAborted || e.End < e.Start {
					t.Errorf("entry %+v", e)
				}
			}
		}
		if n >= least || time.Now().After(end) {
			return n
		}
	}
}

// holds asks for each page: the good ones answer, the others have the status.
func (v visitor) holds(t *testing.T, h *Host, broken int) {
	t.Helper()
	good := v.GoodPages(h)
	for n := range v.options.SickPages {
		path, want := v.web.sickPath(h, n), broken
		if slices.Contains(good, path) {
			want = http.StatusOK
		}
		if status := v.status(h, path); status != want {
			t.Errorf("page %d: %d, want %d", n, status, want)
		}
	}
}

func (v visitor) robots(t *testing.T, h *Host, want int) {
	t.Helper()
	if status := v.status(h, robotsPath); status != want {
		t.Errorf("robots.txt: %d, want %d", status, want)
	}
}

// recovers waits until a host that has the status sick is healthy.
func (v visitor) recovers(t *testing.T, h *Host, sick int) {
	t.Helper()
	seen := false
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		switch status := v.status(h, "/"); {
		case status == http.StatusOK && seen:
			return
		case status == sick && time.Now().Before(end):
			seen = true
		default:
			t.Fatalf("status %d", status)
		}
	}
}

// limits asks without a pause until all pages are there. In no window are more permitted
// than the limit.
func (v visitor) limits(t *testing.T, h *Host, retryAfter bool) {
	t.Helper()
	refused := 0
	for n := range 10 {
		for {
			resp, _, err := v.visit(h, v.web.sickPath(h, n))
			if err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode == http.StatusOK {
				break
			}
			refused++
			if resp.StatusCode != http.StatusTooManyRequests || (resp.Header.Get("Retry-After") == "1") != retryAfter {
				t.Fatalf("status %d, header %v", resp.StatusCode, resp.Header)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	var permitted []Entry
	for _, e := range v.Entries() {
		if e.Domain == h.Name && e.Status == http.StatusOK {
			permitted = append(permitted, e)
		}
	}
	for n, e := range permitted[v.options.Permits:] {
		if within := time.Duration(e.End - permitted[n].Start); within < v.options.Window {
			t.Errorf("%d requests within %v", v.options.Permits+1, within)
		}
	}
	if refused == 0 {
		t.Error("no request was refused")
	}
}

// Each kind of host does what the table says.
func TestSicknesses(t *testing.T) {
	t.Parallel()
	v := newVisitor(t, serveSick(t, small))
	tried := map[string]bool{}
	// The clients close their connections when the parallel tests have ended.
	t.Run("kinds", func(t *testing.T) {
		for _, h := range v.Hosts() {
			if h.Healthy() || tried[h.Kind] {
				continue
			}
			tried[h.Kind] = true
			t.Run(h.Kind, func(t *testing.T) {
				t.Parallel()
				try := sicknessTests[h.Kind]
				if try == nil || h.Does == "" || h.Wants == "" {
					t.Fatalf("%+v: no test, or no words", h.Sickness)
				}
				try(t, v, h)
			})
		}
	})
	if len(tried) != len(Sicknesses()) || len(tried) != len(sicknessTests) {
		t.Errorf("%d kinds tried of %d, with %d tests", len(tried), len(Sicknesses()), len(sicknessTests))
	}
	for _, h := range v.Hosts() {
		if asked := v.LookUps(h) > 0; asked != (tried[h.Kind] && strings.Contains(h.Name, "-1.d") && !h.Healthy()) {
			t.Errorf("%s was looked up: %v", h.Name, asked)
		}
	}
}

// A Host header without a port, as at port 80, gets the same answer.
func TestHostWithoutPort(t *testing.T) {
	t.Parallel()
	v := newVisitor(t, serveSick(t, SickOptions{Kinds: []string{"some-500"}, Sick: 1, Pages: 2}))
	h := v.Hosts()[0]
	r, err := http.NewRequest(http.MethodGet, v.URL(h, "/"), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, want, _ := v.visit(h, "/")
	r.Host = h.Name
	resp, err := v.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || string(body) != want || want == "" {
		t.Errorf("%d bytes, want %d: %v", len(body), len(want), err)
	}
}

// An outage in the middle also ends the connections that are open.
func TestOutageBegins(t *testing.T) {
	t.Parallel()
	o := small
	o.Kinds, o.Sick, o.OutageFrom, o.OutageUntil = []string{"outage"}, 1, 500*time.Millisecond, time.Second
	v := newVisitor(t, serveSick(t, o))
	h := v.Hosts()[o.WithDefaults().Healthy]
	for end := time.Now().Add(10 * time.Second); v.status(h, "/") == http.StatusOK; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("there is no outage")
		}
	}
	v.recovers(t, h, 0)
}

// From the seeds, links of healthy pages lead to all pages that are expected, to all sick
// hosts and all dead names; each domain has some of each. Without the links the pages are the
// same.
func TestSickWebIsLinked(t *testing.T) {
	docs := t.TempDir()
	for name, page := range map[string]string{
		"first/index.html":           `<html><BODY class="a"><a href="b.html">b</a></html>`,
		"first/b.html":               `no body <a href="./">home</a> <a href="index.html">home</a> <a href="/none">none</a>`,
		"docs.python.org/index.html": `<a href="http://d00.test/">elsewhere</a>`,
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(docs, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(docs, name), []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name  string
		o     SickOptions
		pages int
	}{
		{"generated", SickOptions{Domains: 3, Healthy: 6, Dead: 20, Pages: 30, MedianBytes: 1 << 10, MeanBytes: 2 << 10}, 180},
		{"documents", SickOptions{Docs: docs, Healthy: 3}, 1 + 3 + 1}, // docs.python.org, first, docs.python.org again
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var expected [3]map[string]bool
			var named [3]int
			for i := range expected {
				o := tt.o
				o.Unlinked, o.Replaced = i == 1, i == 2
				unlinked := i > 0
				s := serveSick(t, o)
				for _, h := range s.Hosts()[:o.Healthy] {
					named[i] += len(s.web.links(h, 80, "/"))
				}
				expected[i] = map[string]bool{}
				for host, path := range s.Pages() {
					expected[i][host+path] = true
				}
				pages, kinds := walk(s)
				for page := range expected[i] {
					if !pages[page] {
						t.Errorf("no links lead to %s", page)
					}
				}
				if len(expected[i]) != tt.pages {
					t.Errorf("%d pages, want %d", len(expected[i]), tt.pages)
				}
				for _, h := range s.Hosts() {
					if kinds[h.Name] == unlinked && !h.Healthy() {
						t.Errorf("%s is linked: %v", h.Name, kinds[h.Name])
					}
				}
			}
			for page := range expected[0] {
				if !expected[1][page] || !expected[2][page] {
					t.Errorf("%s is only reached with links to sick hosts", page)
				}
			}
			if named[1] >= named[0] || named[2] != named[0] {
				t.Errorf("with sick hosts, without, and with others in their place, the roots have %d links", named)
			}
		})
	}
	s := serveSick(t, tests[1].o)
	first := s.Host("first-1.d01.test")
	if s.Document(first, "/") != s.Document(first, "/index.html") || s.Document(first, "/") == s.Document(first, "/b.html") {
		t.Error("documents are taken for one another")
	}
	if name := s.Hosts()[0].Name; name != "docs.python.org" || s.Hosts()[0].Domain != "python.org" {
		t.Errorf("first host %s", name)
	}
	for _, h := range s.Hosts() {
		if strings.HasSuffix(h.Name, ".python.org") && h.Kind == Dead {
			return
		}
	}
	t.Error("no dead name is in the domain python.org")
}

// walk follows the links of healthy hosts. It returns their pages, and the hosts that are linked.
func walk(s *SickServer) (pages, hosts map[string]bool) {
	pages, hosts = map[string]bool{}, map[string]bool{}
	queue := s.Seeds()
	for len(queue) > 0 {
		u, err := url.Parse(queue[0])
		queue = queue[1:]
		h := s.Host(u.Hostname())
		if err != nil || h == nil || pages[h.Name+u.RequestURI()] {
			continue
		}
		if hosts[h.Name] = true; !h.Healthy() {
			continue
		}
		r := s.answer(h.Name, s.server.port, u.RequestURI(), nil)
		if r.Status != http.StatusOK {
			continue
		}
		pages[h.Name+u.RequestURI()] = true
		base, hrefs := anchors(r.Body, u)
		for _, href := range hrefs {
			if to, err := base.Parse(href); err == nil {
				queue = append(queue, to.String())
			}
		}
	}
	return pages, hosts
}

func TestSickOptionsAreChecked(t *testing.T) {
	for name, o := range map[string]SickOptions{
		"a kind that is not": {Kinds: []string{"hungover"}},
		"dead hosts":         {Kinds: []string{Dead}},
		"a negative number":  {Healthy: -1},
		"no documents":       {Docs: filepath.Join(t.TempDir(), "none")},
		"an empty folder":    {Docs: t.TempDir()},
		"an outage backward": {OutageFrom: time.Second, OutageUntil: time.Millisecond},
	} {
		if s, err := ServeSick(o); err == nil {
			t.Errorf("%s is accepted", name)
			_ = s.Close()
		}
	}
}

// The name server bears what is not a question.
func FuzzNameServer(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x00\x01\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01a\x04test\x00\x00\x01\x00\x01"))
	f.Fuzz(func(_ *testing.T, packet []byte) {
		s := &nameServer{records: map[string]record{"a.test": {way: answersServerFailure}}, asked: map[string]int{}}
		s.answer(packet)
	})
}

// Names have an IPv4 address only, and its absence is no error.
func TestNamesHaveNoIPv6(t *testing.T) {
	s := serveSick(t, small)
	for _, h := range s.Hosts()[:2] {
		addrs, err := s.Resolver().LookupNetIP(context.Background(), "ip", h.Name)
		if err != nil || len(addrs) != 1 || addrs[0].String() != h.address {
			t.Errorf("%s: %v, %v", h.Name, addrs, err)
		}
	}
}
