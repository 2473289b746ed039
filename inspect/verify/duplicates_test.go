package verify_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/inspect/verify"
	"github.com/weftcrawl/weft/processors/fetch"
	"github.com/weftcrawl/weft/topics"
)

// article is a text of its own for each number, long enough to be compared.
func article(n int) string {
	var words []string
	for i := range 120 {
		words = append(words, fmt.Sprintf("w%s", strings.Map(func(r rune) rune { return r - '0' + 'a' }, fmt.Sprint((n+1)*7919+i*i*(n+3)))))
	}
	return strings.Join(words, " ")
}

// copies is a site of /article/N, each with /copy/N, which has the same text, and
// /edited/N, with another number in it. Copies alone link to /behind/N.
type copies int

func (c copies) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var kind string
	var n int
	w.Header().Set("Content-Type", "text/html")
	if r.URL.Path == "/" {
		for n := range int(c) {
			fmt.Fprintf(w, "<p><a href=/article/%d>%s</a>", n, article(1000 + n)[:30])
		}
		return
	}
	if _, err := fmt.Sscanf(strings.ReplaceAll(r.URL.Path[1:], "/", " "), "%s %d", &kind, &n); err != nil || n >= int(c) {
		http.NotFound(w, r)
		return
	}
	switch kind {
	case "article":
		fmt.Fprintf(w, "<p>%s, read 17 times<a href=/copy/%d></a><a href=/edited/%d></a>", article(n), n, n)
	case "copy":
		fmt.Fprintf(w, "<div><p>%s, read 17 times</p></div><a href=/behind/%d></a>", article(n), n)
	case "edited":
		fmt.Fprintf(w, "<p>%s, read %d times", article(n), 100+n)
	case "behind":
		fmt.Fprintf(w, "<p>%s", article(5000+n))
	}
}

// A crawl says which pages are duplicates, does with them what it was told, in
// one run and after another, and is proven either way.
func TestDuplicates(t *testing.T) {
	const pages = 15
	for name, c := range map[string]struct {
		policy, links string
		behind        int // pages that only copies link to
	}{
		"keep": {"", "", pages},
		"drop": {topics.DropDuplicateText, topics.IgnoreDuplicateLinks, 0},
		"off":  {topics.IgnoreDuplicates, "", pages},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(copies(pages))
			defer server.Close()
			o := crawl.Options{
				Dir: t.TempDir(), Fetch: fetch.DefaultOptions(), Logger: slog.New(slog.DiscardHandler),
				Definition: topics.Definition{
					Crawl: "weft", Scope: "host", MaxDepth: -1, PerDomain: 1, UserAgent: "weft/test", AllowPrivate: true,
					Duplicates: c.policy, DuplicateLinks: c.links, KeepVariants: true, TrapEvidence: -1,
				},
			}
			o.Fetch.Client.AllowPrivate = true
			// The second run knows the pages of the first.
			for _, seeds := range [][]string{{"/article/0", "/article/1"}, {"/"}} {
				o.Seeds = nil
				for _, seed := range seeds {
					o.Seeds = append(o.Seeds, []byte(server.URL+seed))
				}
				ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
				_, err := crawl.Run(ctx, o)
				cancel()
				if err != nil {
					t.Fatal(err)
				}
			}
			behind := 0
			for _, p := range parsedPages(t, o.Dir) {
				kind, number, _ := strings.Cut(strings.TrimPrefix(p.URL, server.URL+"/"), "/")
				of := ""
				switch {
				case p.ContentHash == "" || p.SimHash == "":
					t.Errorf("%s has no fingerprint", p.URL)
				case kind == "behind":
					behind++
				case c.policy == topics.IgnoreDuplicates:
				case kind == "copy", kind == "edited":
					of = server.URL + "/article/" + number
				}
				var said string
				distance := 0
				if p.DuplicateOf != nil {
					said, distance = p.DuplicateOf.URL, p.DuplicateOf.Distance
				}
				if said != of || (kind == "edited" && of != "") != (distance > 0) {
					t.Errorf("%s is a duplicate of %q at %d, want %q", p.URL, said, distance, of)
				}
				dropped := of != "" && c.policy == topics.DropDuplicateText
				if (p.Text == "") != dropped || (p.Unparsed == codecs.Duplicate) != dropped || (p.Unfollowed == codecs.Duplicate) != dropped {
					t.Errorf("%s: %d bytes of text, unparsed %q, unfollowed %q", p.URL, len(p.Text), p.Unparsed, p.Unfollowed)
				}
			}
			if behind != c.behind {
				t.Errorf("%d pages were found by the links of duplicates, want %d", behind, c.behind)
			}
			if report := verified(t, o.Dir, verify.DefaultOptions("weft")); !report.Proven {
				t.Errorf("%s", text(t, report))
			}
		})
	}
}

// parsedPages reads the files of pages.
func parsedPages(t *testing.T, dir string) (pages []codecs.Parsed) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "pages", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatal("no files of pages", err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(content)) {
			var p codecs.Parsed
			if err := json.Unmarshal([]byte(line), &p); err != nil {
				t.Fatal(err)
			}
			pages = append(pages, p)
		}
	}
	return pages
}
