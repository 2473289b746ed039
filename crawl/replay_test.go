package crawl_test

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/inspect/difference"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/test/webserver"
	"github.com/weftcrawl/weft/topics"
)

// A replay has the pages of the crawl that it replays, and makes no request. Other settings have other
// pages.
func TestReplay(t *testing.T) {
	t.Parallel()
	w := serve(t, everything, webserver.ServerOptions{})
	recorded := options(t, w)
	recorded.WARC = true
	recorded.Definition.Sitemaps = topics.UseSitemaps
	busy := "" // a page that is refused once
	for domain, path := range w.Pages() {
		if path != "/" {
			busy = w.url(domain, path)
		}
	}
	refused := false
	w.alter = func(domain, path string, answer *webserver.Response) {
		if w.url(domain, path) == busy && !refused {
			refused, answer.Status = true, http.StatusServiceUnavailable
		}
	}
	result := run(t, recorded, crawl.EndedDrained)
	if !refused {
		t.Fatal("no page was refused")
	}
	asked := w.asked.Load()

	again := recorded
	again.Dir = filepath.Join(t.TempDir(), "data")
	again.WARC, again.Definition.Replay = false, filepath.Join(recorded.Dir, "warc")
	again.Fetch.Client.Resolver = noLookUps{t}
	replayed := run(t, again, crawl.EndedDrained)
	if diff := cmp.Diff(pagesOf(t, recorded), pagesOf(t, again)); diff != "" {
		t.Errorf("the pages of the crawl and of the replay:\n%s", diff)
	}
	if d := compared(t, recorded, again); d.Added != 0 || d.Gone != 0 || d.PagesA == 0 || d.RepeatsA+d.RepeatsB != 0 {
		t.Errorf("%+v", d)
	}
	if diff := cmp.Diff(result.Outcomes, replayed.Outcomes); diff != "" {
		t.Errorf("outcomes of the crawl and of the replay:\n%s", diff)
	}

	// A narrower scope has fewer pages, and a wider one finds URLs that are not in the archive.
	narrow := again
	narrow.Dir = filepath.Join(t.TempDir(), "data")
	narrow.Definition.MaxDepth = 1
	run(t, narrow, crawl.EndedDrained)
	if d := compared(t, recorded, narrow); d.Added != 0 || d.Gone == 0 || d.PagesB == 0 {
		t.Errorf("%+v", d)
	}
	wide := again
	wide.Dir = filepath.Join(t.TempDir(), "data")
	wide.Seeds = append(wide.Seeds[:1:1], []byte("http://never.example/"), []byte(string(wide.Seeds[0])+"never"))
	if result := run(t, wide, crawl.EndedDrained); result.Outcomes["not_archived"] != 2 {
		t.Errorf("%+v", result)
	}
	if w.asked.Load() != asked {
		t.Errorf("%d requests were made", w.asked.Load()-asked)
	}

	// A replay stays one, and a crawl does not become one.
	again.Definition.Replay, again.Redefine = "", func(d topics.Definition) topics.Definition { d.Replay = ""; return d }
	if _, err := crawl.Run(t.Context(), again); !errors.Is(err, crawl.ErrUsage) || !strings.Contains(err.Error(), "the web") {
		t.Errorf("a replay becomes a crawl of the web: %v", err)
	}
	recorded.Redefine = func(d topics.Definition) topics.Definition { d.Replay = narrow.Definition.Replay; return d }
	if _, err := crawl.Run(t.Context(), recorded); !errors.Is(err, crawl.ErrUsage) {
		t.Errorf("a crawl becomes a replay: %v", err)
	}
}

// noLookUps is a resolver for crawls that look up nothing. Without an address there is no connection.
type noLookUps struct{ t *testing.T }

// LookupNetIP implements httpclient.Resolver.
func (n noLookUps) LookupNetIP(_ context.Context, _, name string) ([]netip.Addr, error) {
	n.t.Errorf("the replay looks up %s", name)
	return nil, errors.New("nothing is looked up")
}

// replayedPage is what the replay of a page must not change.
type replayedPage struct {
	Title, Text, Fingerprints string
	FetchedAt                 time.Time
}

func pagesOf(t *testing.T, o crawl.Options) map[string]replayedPage {
	t.Helper()
	pages := map[string]replayedPage{}
	for _, p := range read(t, lines(t, o)) {
		pages[p.URL] = replayedPage{p.Title, p.Text, p.ContentHash + " " + p.SimHash + " " + p.MinHash, p.FetchedAt}
	}
	return pages
}

func compared(t *testing.T, a, b crawl.Options) difference.Report {
	t.Helper()
	var sets [2]blob.Bucket
	for i, o := range []crawl.Options{a, b} {
		var err error
		if sets[i], err = blob.Open(t.Context(), filepath.Join(o.Dir, "pages")); err != nil {
			t.Fatal(err)
		}
	}
	report, err := difference.Compare(t.Context(), sets[0], sets[1], 3)
	if err != nil {
		t.Fatal(err)
	}
	return report
}
