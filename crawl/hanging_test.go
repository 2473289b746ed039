package crawl_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Five times as many hosts as there are slots take a request and never answer.
// All pages of the others are served before a single one of those has ended.
func TestGoodHostsAmongHangingOnes(t *testing.T) {
	t.Parallel()
	const (
		slots = 8
		bad   = 5 * slots
		good  = 10
		pages = 5
	)
	var (
		hanging, ended atomic.Int64
		mu             sync.Mutex
		served         = map[string]bool{}
		full, all      = make(chan struct{}), make(chan struct{})
	)
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Host, "127.0.1.") {
			if hanging.Add(1) == slots {
				close(full)
			}
			<-r.Context().Done()
			ended.Add(1)
			return
		}
		select {
		case <-full: // those that hang are first
		case <-r.Context().Done():
		}
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		for n := range pages {
			fmt.Fprintf(w, `<a href="/%d">%d</a>`, n, n)
		}
		mu.Lock()
		defer mu.Unlock()
		if served[r.Host+r.URL.Path] = true; len(served) == good*(pages+1) {
			close(all)
		}
	}))
	server.Listener.Close()
	server.Listener = l
	server.Start()
	t.Cleanup(server.Close)
	port := l.Addr().(*net.TCPAddr).Port

	o := configured(filepath.Join(t.TempDir(), "data"))
	o.Fetch.Queues.Slots, o.Fetch.Queues.Hanging, o.Fetch.Queues.Patience = slots, 2*bad, 50*time.Millisecond
	o.Fetch.Client.FirstByteTimeout, o.Fetch.Client.TotalTimeout = time.Hour, time.Hour
	for n := range bad {
		o.Seeds = append(o.Seeds, fmt.Appendf(nil, "http://127.0.1.%d:%d/", n+1, port))
	}
	for n := range good {
		o.Seeds = append(o.Seeds, fmt.Appendf(nil, "http://127.0.2.%d:%d/", n+1, port))
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	crawled := started(ctx, o)
	select {
	case <-all:
		if n := ended.Load(); n > 0 {
			t.Errorf("%d requests that hang had ended", n)
		}
	case <-ctx.Done():
		mu.Lock()
		t.Errorf("%d of %d pages were served while %d requests hung", len(served), good*(pages+1), hanging.Load())
		mu.Unlock()
	}
	cancel()
	if _, err := crawled(); err != nil {
		t.Error(err)
	}
}
