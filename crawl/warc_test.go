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
	"time"

	gowarc "github.com/internetarchive/gowarc"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/test/webserver"
)

func TestWARCHoldsEveryPage(t *testing.T) {
	t.Parallel()
	w := serve(t, webserver.Options{Pages: 60, Domains: 3, ErrorEvery: 10}, webserver.ServerOptions{})
	o := options(t, w)
	o.WARC = true
	run(t, o, crawl.EndedDrained)
	archived := responses(t, o)
	for url, all := range archived {
		if len(all) > 1 {
			t.Errorf("%s has %d responses", url, len(all))
		}
	}
	w.isArchived(t, archived)
	for domain := range w.Pages() {
		robots := archived[w.url(domain, "/robots.txt")]
		want := w.answer(domain, w.server.Port(), "/robots.txt", nil)
		if len(robots) != 1 || robots[0].status != want.Status || robots[0].body != string(want.Body) {
			t.Errorf("robots.txt of %s: %+v", domain, robots)
		}
	}
}

// isArchived checks that each page is in the archive, as it is.
func (w *web) isArchived(t *testing.T, archived map[string][]response) {
	t.Helper()
	for domain, path := range w.Pages() {
		url := w.url(domain, path)
		want := string(w.answer(domain, w.server.Port(), path, nil).Body)
		if len(archived[url]) == 0 {
			t.Errorf("%s is not archived", url)
		}
		for _, r := range archived[url] {
			if r.status != http.StatusOK || r.body != want {
				t.Errorf("%s: status %d and %d bytes, want %d", url, r.status, len(r.body), len(want))
			}
		}
	}
}

// response is an archived response.
type response struct {
	id     string // of the WARC record
	began  time.Time
	status int
	body   string
}

// responses reads all WARC files of a crawl to their ends, with another's
// reader, and returns the responses by URL, in the order of the files.
func responses(t *testing.T, o crawl.Options) map[string][]response {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(o.Dir, "warc", "*"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no WARC files: %v", err)
	}
	all, payloads := map[string][]response{}, map[string]string{}
	for _, name := range names {
		if strings.HasSuffix(name, ".cdxj") {
			continue
		}
		if !strings.HasSuffix(name, ".warc.gz") {
			t.Errorf("%s is left over", name)
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := readWARC(f, all, payloads); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		f.Close()
	}
	return all
}

// readWARC reads a file. payloads are the payloads of its responses, by the ids of their records.
func readWARC(file io.ReadCloser, into map[string][]response, payloads map[string]string) error {
	r, err := gowarc.NewReader(file)
	if err != nil {
		return err
	}
	for {
		record, err := r.ReadRecord()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if kind := record.Header.Get("WARC-Type"); kind == "response" || kind == "revisit" {
			url := strings.Trim(record.Header.Get("WARC-Target-URI"), "<>")
			one, err := readResponse(record)
			if err != nil {
				return err
			}
			if kind == "revisit" {
				one.body = payloads[record.Header.Get("WARC-Refers-To")]
			}
			payloads[one.id] = one.body
			into[url] = append(into[url], one)
		}
		if err := record.Content.Close(); err != nil {
			return err
		}
	}
}

func readResponse(record *gowarc.Record) (one response, err error) {
	one.id = record.Header.Get("WARC-Record-ID")
	if one.began, err = time.Parse(time.RFC3339, record.Header.Get("WARC-Date")); err != nil {
		return one, err
	}
	resp, err := http.ReadResponse(bufio.NewReader(record.Content), nil)
	if err != nil {
		return one, err
	}
	body, err := io.ReadAll(resp.Body)
	if record.Header.Get("WARC-Type") == "revisit" && errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil // its body is in another record
	}
	one.status, one.body = resp.StatusCode, string(body)
	return one, err
}
