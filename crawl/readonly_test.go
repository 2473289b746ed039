package crawl_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/weftcrawl/weft/test/webserver"
)

// An error of one sentence names a data directory that cannot be written to, whether there is a
// crawl in it or not, and no request is made.
func TestReadOnlyDirectory(t *testing.T) {
	t.Parallel()
	if !mounting(t) {
		return
	}
	w := serve(t, webserver.Options{Pages: 20, Domains: 2}, webserver.ServerOptions{})
	d := newDisk(t, "64")
	p := process{Dir: filepath.Join(d.dir, "data"), Seeds: w.server.Seeds(), Reserve: 1}
	for _, name := range []string{"new", "begun"} {
		t.Run(name, func(t *testing.T) {
			asked := w.asked.Load()
			d.readOnly(t, true)
			p.start(t).fails(t, p.Dir, "read-only file system")
			if w.asked.Load() > asked {
				t.Error("requests were made all the same")
			}
			d.readOnly(t, false)
			p.drains(t)
		})
	}
	w.audit(t, webserver.Expect{Pages: w.Pages()})
	holds(t, w, read(t, lines(t, p.options())))
}

// The same for who is not root and may not write.
func TestForbiddenDirectory(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	p := process{Dir: dir, Seeds: []string{"http://127.1.0.1/"}}
	p.start(t).fails(t, dir, "permission denied")
}
