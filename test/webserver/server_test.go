package webserver

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func serve(t *testing.T, site Site, o ServerOptions) *Server {
	t.Helper()
	s, err := Serve(site, o)
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

func get(t *testing.T, client *http.Client, url string) (int, string) {
	t.Helper()
	resp, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func newClient(t *testing.T) *http.Client {
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// A whole small web is fetched one request after another; what the server
// logged is exactly that, in memory and in the file.
func TestServerLogsWhatItServed(t *testing.T) {
	g := generated(t, Options{Pages: 30, Domains: 3})
	var file bytes.Buffer
	s := serve(t, g, ServerOptions{Log: &file})
	client := newClient(t)
	for _, d := range g.Domains() {
		get(t, client, Origin(d, s.Port())+"/robots.txt")
	}
	for domain, path := range g.Pages() {
		status, body := get(t, client, Origin(domain, s.Port())+path)
		if want := g.Answer(domain, s.Port(), path, nil).Body; status != 200 || body != string(want) {
			t.Fatalf("%s%s: %d and %d bytes, want %d", domain, path, status, len(body), len(want))
		}
	}
	if err := s.FlushLog(); err != nil {
		t.Fatal(err)
	}
	entries := s.Entries()
	read, err := ReadLog(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(read, entries) {
		t.Errorf("the file has %d entries that differ from the %d in memory", len(read), len(entries))
	}
	r := Audit(entries, Expect{Pages: g.Pages(), Denied: g.Denied})
	if r.Requests != 33 || r.Fetched != 30 || r.Expected != 30 || r.Repeats+r.Overlaps+r.BeforeRobots+r.Denied != 0 || r.Domains != 3 {
		t.Errorf("report of a faultless crawl:\n%v", r)
	}
	if s.PagesServed() != 30 {
		t.Errorf("pages served %d, want 30", s.PagesServed())
	}
	if !strings.HasPrefix(entries[0].UserAgent, "Go-http-client") {
		t.Errorf("user agent %q", entries[0].UserAgent)
	}
}

func TestServerSeeds(t *testing.T) {
	g := generated(t, Options{Pages: 3, Domains: 3})
	s := serve(t, g, ServerOptions{})
	client := newClient(t)
	for _, seed := range s.Seeds() {
		if status, _ := get(t, client, seed); status != 200 {
			t.Errorf("%s: %d", seed, status)
		}
	}
	if status, _ := get(t, client, Origin(DomainAddr(3), s.Port())); status != 421 {
		t.Errorf("a domain beyond the web: %d", status)
	}
}

func TestServerRefusesOtherMethods(t *testing.T) {
	s := serve(t, generated(t, Options{Pages: 1, Domains: 1}), ServerOptions{})
	resp, err := newClient(t).Post(s.Seeds()[0], "text/plain", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusMethodNotAllowed || s.Entries()[0].Status != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", resp.StatusCode)
	}
}

func TestReadLogLeavesTornLineOut(t *testing.T) {
	e := Entry{Start: 1, End: 2, Domain: "127.1.0.1", Status: 200, Path: "/a%20b?c=d", UserAgent: "a robot/1.0 (+x y)"}
	line := e.append(nil)
	got, err := ReadLog(bytes.NewReader(append(slices.Clone(line), line[:20]...)))
	if err != nil || len(got) != 1 || got[0] != e {
		t.Errorf("read %+v, %v", got, err)
	}
	if _, err := ReadLog(strings.NewReader("1 2 three\n")); err == nil {
		t.Error("a line that is not an entry was accepted")
	}
}

func TestTree(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"index.html":       `<a href="sub/">sub</a> <a href="a%20b.html#x">ab</a> <a href="private/p.html">p</a> <a href="http://other/">o</a> <a href="gone.html">g</a>`,
		"a b.html":         `<base href="/sub/deep/"><a href=" one.txt ">one</a><script>"<a href='/unlinked.html'>"</script>`,
		"unlinked.html":    ``,
		"private/p.html":   ``,
		"sub/two.html":     `<a href="../dir">dir</a><map><area href="/area.html"></map>`,
		"sub/deep/one.txt": `<a href="/unlinked.html">no html</a>`,
		"dir/index.html":   ``,
		"area.html":        ``,
	} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := NewTree(TreeOptions{Dir: dir, Domains: 2, Robots: "User-agent: *\nDisallow: /private/\n", Deny: "/private/"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"/", "/a%20b.html", "/area.html", "/dir/", "/sub/", "/sub/deep/", "/sub/deep/one.txt", "/sub/two.html"}
	if got := tree.Linked(); !slices.Equal(got, want) {
		t.Errorf("linked %q\nwant   %q", got, want)
	}
	n := 0
	for range tree.Pages() {
		n++
	}
	if n != 2*len(want) {
		t.Errorf("%d pages on two domains", n)
	}
	for path, status := range map[string]int{
		"/robots.txt": 200, "/dir": 301, "/dir/": 200, "/gone": 404, "/area.html/": 404, "/%00": 400,
		"/../../../../etc/passwd": 404, "/..%2f..%2fetc/passwd": 404, "/unlinked.html?x=1": 200,
	} {
		if r := tree.Answer(DomainAddr(1), 80, path, nil); r.Status != status {
			t.Errorf("%s: %d, want %d", path, r.Status, status)
		}
	}
	if r := tree.Answer(DomainAddr(2), 80, "/", nil); r.Status != 421 {
		t.Errorf("a domain beyond the web: %d", r.Status)
	}
	if _, err := NewTree(TreeOptions{Dir: filepath.Join(dir, "area.html")}); err == nil {
		t.Error("a file was accepted as a directory")
	}
}

// Only a client that accepts gzip gets gzip, and what it decodes is the page. Zstd is not sent.
func TestGzip(t *testing.T) {
	g := generated(t, Options{Pages: 3, Domains: 1})
	s := serve(t, g, ServerOptions{Gzip: true})
	client := newClient(t)
	for accept, want := range map[string]string{"gzip, zstd": "gzip", "identity": ""} {
		req, err := http.NewRequest(http.MethodGet, s.Seeds()[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept-Encoding", accept)
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if got := resp.Header.Get("Content-Encoding"); got != want {
			t.Errorf("Accept-Encoding %q: got %q, want %q", accept, got, want)
		}
	}
	_, body := get(t, client, s.Seeds()[0]) // net/http decodes it
	if want := string(g.Answer(DomainAddr(0), s.Port(), "/", nil).Body); body != want {
		t.Errorf("got %d bytes that differ from the page's %d", len(body), len(want))
	}
}
