package crawl_test

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/internal/urls"
)

// bait is a web that wants the crawler to connect to the machine it runs on: to 127.0.0.1 and
// ::1, where no connection is permitted. It is on 127.1.0.1 itself, and its names are below
// ssrf.example.
type bait struct {
	server    *httptest.Server
	port      string // with its colon
	forbidden string // port, with its colon, where connections are counted
	met       atomic.Int64
	spellings []string
	served    sync.Map // paths of pages, by host

	mu    sync.Mutex
	asked map[string]int // look-ups of a name
}

func newBait(t *testing.T) *bait {
	t.Helper()
	b := &bait{forbidden: ":0", asked: map[string]int{}}
	text, err := os.ReadFile("../processors/fetch/httpclient/testdata/spellings.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &b.spellings); err != nil {
		t.Fatal(err)
	}
	var counting sync.WaitGroup
	var listeners []net.Listener
	for _, host := range []string{"127.0.0.1", "[::1]"} {
		l, err := net.Listen("tcp", host+b.forbidden)
		if err != nil {
			t.Logf("nothing listens on %s: %v", host, err)
			continue
		}
		b.forbidden = l.Addr().String()[strings.LastIndexByte(l.Addr().String(), ':'):]
		listeners = append(listeners, l)
		counting.Go(func() {
			for c, err := l.Accept(); err == nil; c, err = l.Accept() {
				b.met.Add(1)
				c.Close()
			}
		})
	}
	b.server = httptest.NewUnstartedServer(b)
	b.server.Listener.Close()
	if b.server.Listener, err = net.Listen("tcp", "127.1.0.1:0"); err != nil {
		t.Fatal(err)
	}
	b.server.Start()
	b.port = ":" + strconv.Itoa(b.server.Listener.Addr().(*net.TCPAddr).Port)
	t.Cleanup(func() {
		b.server.Close()
		for _, l := range listeners {
			l.Close()
		}
		counting.Wait()
		if len(listeners) == 0 {
			t.Error("nothing listened")
		}
	})
	return b
}

// LookupNetIP implements httpclient.Resolver. Of rebind.ssrf.example every look-up
// but the first says this machine.
func (b *bait) LookupNetIP(_ context.Context, _, name string) ([]netip.Addr, error) {
	b.mu.Lock()
	b.asked[name]++
	first := b.asked[name] == 1
	b.mu.Unlock()
	outside, inside := netip.MustParseAddr("127.1.0.1"), netip.MustParseAddr("127.0.0.1")
	switch {
	case name == "mixed.ssrf.example.":
		return []netip.Addr{inside, outside, netip.IPv6Loopback()}, nil
	case name == "rebind.ssrf.example." && !first, !strings.HasSuffix(name, ".ssrf.example."), strings.HasPrefix(name, "inside"):
		return []netip.Addr{inside, netip.IPv6Loopback()}, nil
	}
	return []netip.Addr{outside}, nil
}

// ServeHTTP answers each name in its own way. Connections are closed, so that
// each request looks its name up.
func (b *bait) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Connection", "close")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	host, _, _ := strings.Cut(r.Host, ":")
	if r.URL.Path == "/robots.txt" {
		switch host {
		case "robots.ssrf.example": // within its domain, to a name of this machine
			http.Redirect(w, r, "http://inside.ssrf.example"+b.forbidden+"/robots.txt", http.StatusFound)
		case "robots-away.ssrf.example":
			http.Redirect(w, r, "http://0x7f.1"+b.forbidden+"/robots.txt", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
		return
	}
	b.served.Store(host+r.URL.Path, true)
	if i, ok := strings.CutPrefix(r.URL.Path, "/to/"); ok {
		n, _ := strconv.Atoi(i)
		w.Header().Set("Location", oneLine("http://"+b.spellings[n]+b.forbidden+"/redirected"+i))
		w.WriteHeader(http.StatusFound)
		return
	}
	if r.URL.Path != "/" || host != "127.1.0.1" {
		return
	}
	link := func(url string) { fmt.Fprintf(w, "<a href=\"%s\">x</a>\n", html.EscapeString(url)) }
	for i, spelling := range b.spellings {
		link(fmt.Sprintf("http://%s%s/linked%d", spelling, b.forbidden, i))
		link(fmt.Sprintf("https://%s%s/linked%d", spelling, b.forbidden, i))
		link(fmt.Sprintf("/to/%d", i))
	}
	for _, name := range []string{"robots", "robots-away", "mixed", "rebind", "plain"} {
		link("http://" + name + ".ssrf.example" + b.port + "/page")
	}
	link("http://inside.ssrf.example" + b.forbidden + "/page")
	link("http://plain.ssrf.example:25/page")
}

// oneLine leaves out what no header can hold, and parsers of URLs drop.
func oneLine(url string) string {
	return strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(url)
}

// A hostile web cannot make the crawler connect to the machine that it runs on, in any spelling
// of its addresses, by names, by names that change, by redirects of pages and redirects of
// robots.txt: what leads there ends as address_refused, and what it holds besides is crawled.
func TestNothingLeadsInside(t *testing.T) {
	t.Parallel()
	b := newBait(t)
	o := configured(filepath.Join(t.TempDir(), "data"))
	o.Definition.AllowPrivate, o.Definition.AllowNetworks = false, []string{"127.1.0.1/32"}
	o.Definition.Scope = "any"
	o.Fetch.Client.Resolver, o.Fetch.Client.DNSTTL = b, 1
	o.Seeds = [][]byte{[]byte("http://127.1.0.1" + b.port + "/")}
	// Seeds by themselves, and of this machine.
	for i, spelling := range b.spellings {
		if seed := oneLine(fmt.Sprintf("http://%s%s/seed%d", spelling, b.forbidden, i)); accepted(seed) {
			o.Seeds = append(o.Seeds, []byte(seed))
		}
	}
	result := run(t, o, crawl.EndedDrained)

	if n := b.met.Load(); n > 0 {
		t.Errorf("%d connections to this machine", n)
	}
	refused := int64(len(o.Seeds) - 1)
	for i, spelling := range b.spellings {
		for _, url := range []string{"http://%s%s/linked%d", "https://%s%s/linked%d", "http://%s%s/redirected%d"} {
			if accepted(fmt.Sprintf(url, spelling, b.forbidden, i)) {
				refused++
			}
		}
		if _, ok := b.served.Load(fmt.Sprintf("127.1.0.1/to/%d", i)); !ok {
			t.Errorf("/to/%d was not asked for", i)
		}
	}
	// Besides: inside, and rebind, which has the page.
	if got := result.Outcomes["address_refused"]; got < refused+2 || got > refused+4 {
		t.Errorf("%d URLs refused for their addresses, want %d and two or more: %v", got, refused, result.Outcomes)
	}
	if got := result.Outcomes["port_refused"]; got != 1 {
		t.Errorf("%d URLs refused for their port: %v", got, result.Outcomes)
	}
	for host, want := range map[string]bool{"mixed": true, "plain": true, "rebind": false, "robots": false} {
		if _, got := b.served.Load(host + ".ssrf.example/page"); got != want {
			t.Errorf("the page of %s was asked for: %v", host, got)
		}
	}
}

func accepted(url string) bool {
	_, refusal := urls.Parse(url)
	return refusal == urls.Accepted
}
