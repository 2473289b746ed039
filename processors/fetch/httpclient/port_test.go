package httpclient

import (
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The ports of the Web Platform Tests are refused before a name is looked up, whatever else is
// permitted.
func TestOtherProtocols(t *testing.T) {
	text, err := os.ReadFile("testdata/bad-ports.txt")
	if err != nil {
		t.Fatal(err)
	}
	bad := strings.Fields(string(text))
	resolver := &fakeResolver{}
	c := newClient(t, func(o *Options) { o.Resolver = resolver })
	for port := range 1 << 16 {
		if got, want := forOther(uint16(port)) || port == 0, slices.Contains(bad, strconv.Itoa(port)); got != want {
			t.Errorf("port %d is for another protocol: %v", port, got)
		}
	}
	for _, port := range bad {
		class := ClassPortRefused
		if port == "0" {
			class = ClassInvalidURL
		}
		for _, scheme := range []string{"http", "https"} {
			want(t, get(t, c, scheme+"://a.test:"+port+"/"), class)
		}
	}
	if len(resolver.asked) > 0 {
		t.Errorf("looked up %v", resolver.asked)
	}
	if !slices.IsSorted(otherProtocols) {
		t.Error("the ports are out of order")
	}
}

// A redirect and robots.txt are refused like a page.
func TestOtherProtocolsBehindRedirects(t *testing.T) {
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://127.0.0.1:25/robots.txt", http.StatusFound)
	})
	c := newClient(t, nil)
	list := c.Robots(t.Context(), Request{URL: s.URL}, func(string) (time.Duration, bool) { return 0, true })
	if len(list) != 2 {
		t.Fatalf("%d exchanges", len(list))
	}
	want(t, list[1], ClassPortRefused)
}
