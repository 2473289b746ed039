package crawl_test

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gowarc "github.com/internetarchive/gowarc"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/webtest"
)

func TestWARCHoldsEveryPage(t *testing.T) {
	t.Parallel()
	w := serve(t, webtest.Options{Pages: 60, Domains: 3, ErrorEvery: 10}, webtest.ServerOptions{})
	o := options(t, w)
	o.WARC = true
	run(t, o, crawl.EndedDrained)
	names, err := filepath.Glob(filepath.Join(o.Dir, "warc", "*.warc.gz"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no WARC files: %v", err)
	}
	bodies := map[string]string{}
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		responses(t, f, bodies)
	}
	for domain, path := range w.Pages() {
		want := string(w.Generated.Answer(domain, w.server.Port(), path, nil).Body)
		if url := w.url(domain, path); bodies[url] != want {
			t.Errorf("%s: %d bytes, want %d", url, len(bodies[url]), len(want))
		}
	}
}

// responses reads the bodies of successful responses in a file, by URL.
func responses(t *testing.T, file io.ReadCloser, bodies map[string]string) {
	t.Helper()
	r, err := gowarc.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	for {
		record, err := r.ReadRecord()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if record.Header.Get("WARC-Type") == "response" {
			resp, err := http.ReadResponse(bufio.NewReader(record.Content), nil)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			url := strings.Trim(record.Header.Get("WARC-Target-URI"), "<>")
			if _, twice := bodies[url]; twice {
				t.Errorf("%s has two responses", url)
			}
			if resp.StatusCode == http.StatusOK {
				bodies[url] = string(body)
			}
		}
		if err := record.Content.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
