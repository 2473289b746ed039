package parse

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/topics"
)

// TestPlainStructures has a page of each format.
func TestPlainStructures(t *testing.T) {
	for name, c := range map[string]struct {
		url, media, body  string
		title, text       string
		links, headings   []string
		structure         *codecs.ParsedStructure
		unparsed, charset string
	}{
		"text": {
			url: "https://a.example/x", media: "text/plain", body: " See https://b.example/c.\n", text: " See https://b.example/c.",
			links: []string{"text https://b.example/c"}, charset: "windows-1252",
		},
		"Markdown": {
			url: "https://a.example/README.md", media: "text/plain; charset=utf-8", body: "---\ntitle: T\n---\n# A *b*\n\nc [d](e \"f\") ![g](h)\n\n```\n  i\n```\n",
			title: "T", text: "A b\nc d\n  i", headings: []string{"A b"}, links: []string{"a https://a.example/e", "image https://a.example/h"},
			structure: &codecs.ParsedStructure{Format: "markdown"}, charset: "utf-8",
		},
		"JSON": {
			url: "https://a.example/x", media: "application/vnd.api+json", body: `{"a": "https://b.example/"}`, text: `{"a": "https://b.example/"}`,
			links: []string{"text https://b.example/"}, structure: &codecs.ParsedStructure{Format: "json", Values: 1}, charset: "utf-8",
		},
		"broken JSON": {
			url: "https://a.example/x", media: "application/json", body: `{"a": `, text: `{"a":`,
			structure: &codecs.ParsedStructure{Format: "json", Wrong: "cut"}, charset: "utf-8",
		},
		"JSON lines": {
			url: "https://a.example/x", media: "application/x-ndjson", body: "{}\n{}\n", text: "{}\n{}",
			structure: &codecs.ParsedStructure{Format: "json_lines", Values: 2}, charset: "utf-8",
		},
		"CSV": {
			url: "https://a.example/x", media: "text/csv; charset=iso-8859-1", body: "n\xe4me,page\na,https://b.example/\n", text: "näme,page\na,https://b.example/",
			links:     []string{"text https://b.example/"},
			structure: &codecs.ParsedStructure{Format: "csv", Columns: []string{"näme", "page"}, Values: 2}, charset: "windows-1252",
		},
		"code": {
			url: "https://a.example/x.go", media: "text/plain", body: "package x\n\n\tvar a = \"https://b.example/\"\n", text: "package x\n\n\tvar a = \"https://b.example/\"",
			structure: &codecs.ParsedStructure{Format: "code", Language: "Go"}, charset: "windows-1252",
		},
	} {
		t.Run(name, func(t *testing.T) {
			page, _ := pageOf(t, file(c.url, c.media, 200, c.body, nil))
			var links, headings []string
			for _, l := range page.Links {
				links = append(links, l.Kind+" "+l.URL)
			}
			for _, h := range page.Headings {
				headings = append(headings, h.Text)
			}
			if diff := cmp.Diff(c.structure, page.Structure); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff([][]string{c.links, c.headings}, [][]string{links, headings}); diff != "" {
				t.Error(diff)
			}
			if page.Title != c.title || page.Text != c.text || page.Unparsed != c.unparsed || page.Charset != c.charset {
				t.Errorf("title %q, text %q, unparsed %q, charset %q", page.Title, page.Text, page.Unparsed, page.Charset)
			}
		})
	}
}

// Links of Markdown are followed, and what looks like a URL in a text is if that is asked for.
func TestPlainLinksAreFollowed(t *testing.T) {
	markdown := file("https://a.example/x.md", "text/markdown", 200, "[a](b) https://c.example/", nil)
	text := file("https://a.example/x", "text/plain", 200, "https://c.example/", nil)
	for _, c := range []struct {
		f      *weftpb.Fetched
		follow []string
		want   string
	}{
		{markdown, nil, "b https://c.example/"}, {text, nil, ""}, {text, []string{"text"}, "https://c.example/"},
	} {
		links, _ := made(t, topics.Definition{FollowLinks: c.follow}, c.f)
		links = slices.DeleteFunc(links, func(l string) bool { return strings.HasPrefix(l, "evidence") })
		if got := strings.Join(links, " "); got != c.want {
			t.Errorf("%v: %q, want %q", c.follow, got, c.want)
		}
	}
}

// The header counts for every format, and the bounds of a page do.
func TestPlainKeepsToBounds(t *testing.T) {
	f := file("https://a.example/x.md", "text/markdown", 200, strings.Repeat("[a](b) ![c](d) https://e.example/ text\n\n", 60_000), nil)
	f.Headers = append(f.Headers, &weftpb.Header{Name: "X-Robots-Tag", Value: "nofollow"})
	page, bytes := pageOf(t, f)
	if !page.Robots.NoFollow || !page.TextTruncated && len(page.Text) > 1<<20 || len(page.Links) != 3 || bytes > 4<<20 {
		t.Errorf("%+v, %d bytes of text, %d links, %d bytes", page.Robots, len(page.Text), len(page.Links), bytes)
	}
	var b strings.Builder
	for b.Len() < 1<<20 {
		b.WriteString("# \x01\n")
	}
	if page, bytes = pageOf(t, file("https://a.example/x.md", "text/markdown", 200, b.String(), nil)); len(page.Headings) > 256 || bytes > 12<<20 {
		t.Errorf("%d headings, %d bytes", len(page.Headings), bytes)
	}
	f = file("https://a.example/x", "application/json", 200, "["+strings.Repeat("1,", 1<<20), nil)
	if page, _ = pageOf(t, f); page.Structure.Wrong != "cut" || !page.TextTruncated {
		t.Errorf("%+v, truncated: %v", page.Structure, page.TextTruncated)
	}
}
