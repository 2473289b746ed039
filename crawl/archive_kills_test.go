package crawl_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/test/s3server"
	"github.com/weftcrawl/weft/test/webserver"
)

// Whatever is killed, each response that the server has logged is in the archive once, as it was
// sent. A response is missing only if the process died while it came, and then its page was asked
// for again.
func TestKilledArchive(t *testing.T) {
	t.Parallel()
	killedArchive(t, t.TempDir())
}

func TestKilledArchiveInABucket(t *testing.T) { killedArchive(t, s3server.Gateway(t, "archive")) }

// busy is how much later than otherwise a busy machine stores a response.
const busy = 2 * time.Second

func killedArchive(t *testing.T, location string) {
	t.Helper()
	w := serve(t, everything, webserver.ServerOptions{})
	p := process{Dir: t.TempDir(), Seeds: w.server.Seeds(), Archive: location, ArchiveFile: 20_000}
	kills := killed(t, w, p, 10, 80, 120)
	fetchArchive(t, p)
	archived := responses(t, p.options())
	w.isArchived(t, archived)
	var outages []webserver.Outage
	for _, k := range kills {
		outage := webserver.Kill(k)
		outage.From -= int64(busy)
		outages = append(outages, outage)
	}
	w.isArchivedOnce(t, archived, outages)
}

// isArchivedOnce checks that the server has logged one request for each response in the archive, and that
// responses of other requests were cut off by an outage, and asked for again.
func (w *web) isArchivedOnce(t *testing.T, archived map[string][]response, outages []webserver.Outage) {
	t.Helper()
	ids := map[string]bool{}
	requests := w.requests()
	for url, all := range requests {
		lost := slices.DeleteFunc(slices.Clone(all), func(e webserver.Entry) bool {
			return slices.ContainsFunc(archived[url], func(r response) bool { return r.status == e.Status && of(r, e) })
		})
		if len(archived[url])+len(lost) != len(all) {
			t.Errorf("%s: %d requests, %d responses in the archive, and these requests without one: %v", url, len(all), len(archived[url]), lost)
		}
		for _, e := range lost {
			if e == all[len(all)-1] || !slices.ContainsFunc(outages, func(o webserver.Outage) bool { return o.Meets(e) }) {
				t.Errorf("%s: no process died during %v, whose response is not in the archive; all requests: %v", url, e, all)
			}
		}
		for _, r := range archived[url] {
			if ids[r.id] {
				t.Errorf("%s is in the archive twice", r.id)
			}
			ids[r.id] = true
		}
	}
	for url := range archived {
		if len(requests[url]) == 0 {
			t.Errorf("%s is in the archive, and was not asked for", url)
		}
	}
}

// of tells whether a response is that of a request. Its date is when the request began, with the
// clock's milliseconds, and the server has read the request within ten seconds.
func of(r response, e webserver.Entry) bool {
	until := time.Duration(e.Start - r.began.UnixNano())
	return until > -5*time.Millisecond && until < 10*time.Second
}

// fetchArchive copies the files of an archive to where responses reads them.
func fetchArchive(t *testing.T, p process) {
	t.Helper()
	bucket, err := blob.Open(t.Context(), p.Archive)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(p.Dir, "warc")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for object, err := range bucket.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		file, err := os.Create(filepath.Join(dir, object.Key))
		if err != nil {
			t.Fatal(err)
		}
		if err := bucket.Get(t.Context(), object.Key, file); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
