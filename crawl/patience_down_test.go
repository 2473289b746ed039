package crawl_test

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/test/webserver"
)

// If a crawl has only URLs of a host that is down, it ends after its patience. It names the
// host, and the URLs stay queued.
func TestPatienceWithAHostThatIsDown(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for five failures in a row")
	}
	t.Parallel()
	w := serve(t, webserver.Options{Pages: 20, Domains: 1}, webserver.ServerOptions{})
	closed, err := net.Listen("tcp", "127.1.0.9:0")
	if err != nil {
		t.Fatal(err)
	}
	dead := closed.Addr().String()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	o := configured(filepath.Join(t.TempDir(), "data"))
	o.Patience = 2 * time.Second
	// The waits after failures are of a minute and more. By this clock they pass in seconds.
	begun := time.Now()
	o.Clock = func() time.Time { return begun.Add(8 * time.Since(begun)) }
	o.Seeds = [][]byte{[]byte(strings.Join(w.server.Seeds(), "\n") + "\nhttp://" + dead + "/a\nhttp://" + dead + "/b")}
	result := run(t, o, crawl.EndedHostsDown)
	if result.Pages != 20 || result.Pending != 2 || len(result.Down) != 1 || result.Down["127.1.0.9"] != 2 {
		t.Errorf("the crawl ended with %+v", result)
	}
}
