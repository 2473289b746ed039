package crawl_test

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft/test/kafkaserver"
	"github.com/weftcrawl/weft/test/webserver"
)

// Members come and go while every domain has a request in flight most of the
// time, and no request is made twice: partitions change hands when what is in
// flight has landed.
func TestMovesRepeatNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("Apache Kafka and three processes")
	}
	t.Parallel()
	cluster := kafkaserver.Start(t, kafkaserver.Options{})
	w := serve(t, webserver.Options{Pages: 2400, Domains: 40, CrossLinks: 0.1}, webserver.ServerOptions{Latency: 300 * time.Millisecond})
	weft := build(t, cluster.Addrs())
	weft.do(t, "topics", "create", "--partitions", "8", "--delay", "20ms", "--allow-private")
	dir := t.TempDir()
	run := func(name string) *child {
		return weft.start(t, "run", "all", "--data", filepath.Join(dir, name))
	}
	a := run("a")
	weft.do(t, append([]string{"seed"}, w.server.Seeds()...)...)
	w.reaches(t, 270, a)
	b := run("b")
	w.reaches(t, 400, a)
	b.signal(syscall.SIGTERM)
	if status, _, complaints := b.end(t); status != 0 {
		t.Errorf("ended with status %d:\n%s", status, complaints)
	}
	w.reaches(t, 200, a)
	b = run("b")
	weft.drained(t)
	weft.do(t, "stop")
	for _, c := range []*child{a, b} {
		if status, _, complaints := c.end(t); status != 0 {
			t.Errorf("ended with status %d:\n%s", status, complaints)
		}
	}
	w.audit(t, webserver.Expect{Pages: w.Pages()})
	w.repeatsOnlyIn(t, nil)
}
