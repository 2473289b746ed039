package crawl_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/internal/broker"
	"github.com/weftcrawl/weft/test/webserver"
)

// A crawl begins although a process that was killed, or weft status, still has its
// directory for a moment.
func TestWaitsForItsDirectory(t *testing.T) {
	t.Parallel()
	w := serve(t, webserver.Options{Pages: 5, Domains: 2}, webserver.ServerOptions{})
	o := options(t, w)
	other, err := broker.Open(broker.Options{Dir: filepath.Join(o.Dir, "broker")})
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan error, 1)
	time.AfterFunc(100*time.Millisecond, func() { closed <- other.Close() })
	run(t, o, crawl.EndedDrained)
	if err := <-closed; err != nil {
		t.Error(err)
	}
}
