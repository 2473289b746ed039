package plain

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKind(t *testing.T) {
	for _, c := range []struct{ media, url, body, want string }{
		{"text/plain", "https://a.example/", "", "text "},
		{"text/plain", "https://a.example/README.MD?x=.py", "", "markdown "},
		{"text/plain", "https://a.example/x.py", "", "code Python"},
		{"text/plain", "https://a.example/Makefile", "", "code Makefile"},
		{"text/plain", "https://a.example/x", "#!/usr/bin/env -S python3.12 -u\n", "code Python"},
		{"text/plain", "https://a.example/x", "#!/opt/unknown\n", "text "},
		{"text/plain", "https://a.example/x.txt", "", "text "},
		{"text/plain", "https://a.example.go", "", "text "},
		{"text/markdown", "https://a.example/x.py", "", "markdown "},
		{"application/json", "https://a.example/", "", "json "},
		{"application/ld+json", "https://a.example/", "", "json "},
		{"application/x-ndjson", "https://a.example/", "", "json_lines "},
		{"text/tab-separated-values", "https://a.example/", "", "csv "},
		{"text/x-c++src", "https://a.example/", "", "code C++"},
		{"application/octet-stream", "https://a.example/x.jsonl", "{}", "json_lines "},
		{"application/octet-stream", "https://a.example/x.jsonl", "{\x00}", " "},
		{"application/octet-stream", "https://a.example/x", "a", " "},
		{"text/html", "https://a.example/x.md", "", " "},
		{"image/png", "https://a.example/x.json", "", " "},
	} {
		f, language := Kind(c.media, c.url, []byte(c.body))
		if got := string(f) + " " + language; got != c.want {
			t.Errorf("%s of %s: %q, want %q", c.media, c.url, got, c.want)
		}
	}
}

// told is what ReadJSON or ReadLines says of a text.
func told(read func(string, func(string)) (int, string), text string) (values int, wrong string, urls []string) {
	values, wrong = read(text, func(url string) { urls = append(urls, url) })
	return values, wrong, urls
}

func TestJSON(t *testing.T) {
	for text, want := range map[string]struct {
		values int
		wrong  string
		urls   string
	}{
		`{"a":"https://b.example/","c":["http://d.example/e","f https://g.example/"]}`: {1, "", "https://b.example/ http://d.example/e"},
		"": {0, "", ""}, "1 2\n": {2, "", ""}, `{"a":1`: {0, Cut, ""}, `{"a":"https://b.example/",}`: {0, BadSyntax, "https://b.example/"}, `{} x`: {1, BadSyntax, ""},
		strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth):     {1, "", ""},
		strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1): {0, TooDeep, ""},
	} {
		values, wrong, urls := told(ReadJSON, text)
		if got := strings.Join(urls, " "); values != want.values || wrong != want.wrong || got != want.urls {
			t.Errorf("%.60q: %d, %q, %q", text, values, wrong, got)
		}
	}
	values, wrong, urls := told(ReadLines, "\x1e{\"a\":\"https://b.example/\"}\n\x1ebroken\n\n{}\n[1")
	if diff := cmp.Diff([]string{"https://b.example/"}, urls); values != 2 || wrong != BadSyntax || diff != "" {
		t.Errorf("lines: %d, %q, %s", values, wrong, diff)
	}
}

func TestCSV(t *testing.T) {
	for text, want := range map[string]Table{
		"a,b\n1,\"2\n3\"\n":   {Columns: []string{"a", "b"}, Rows: 2},
		"\ufeffa; b\r\n1;2\n": {Columns: []string{"a", "b"}, Rows: 2},
		"a\tb\n1\n":           {Columns: []string{"a", "b"}, Rows: 2, Wrong: Uneven},
		"":                    {},
		"a|b\n\"x\n":          {Columns: []string{"a", "b"}, Rows: 2, Wrong: Uneven},
	} {
		if diff := cmp.Diff(want, ReadCSV(text, func(string) {})); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
	var urls []string
	ReadCSV("name,page\nA, https://a.example/\nB,see https://b.example/\n", func(url string) { urls = append(urls, url) })
	if diff := cmp.Diff([]string{"https://a.example/"}, urls); diff != "" {
		t.Error(diff)
	}
}

func TestURLs(t *testing.T) {
	for text, want := range map[string]string{
		"see https://a.example/b, or (http://c.example/d_(e)).": "https://a.example/b http://c.example/d_(e)",
		"<https://a.example/b?c=d&e#f>":                         "https://a.example/b?c=d&e#f",
		"xhttp://a.example/ ftp://b.example/ https://":          "",
		"见https://a.example/。":                                  "https://a.example/",
		"https://a.example":                                     "https://a.example",
		"https://ru.example/wiki/Москва_(город), «https://bücher.example/ü»":        "https://ru.example/wiki/Москва_(город) https://bücher.example/ü",
		"https://a.example/b見て https://a.example/c에서 https://a.example/d，":          "https://a.example/b https://a.example/c https://a.example/d",
		"https://a.example/\u00a0b https://a.example/\u2014 https://a.example/\xff": "https://a.example/ https://a.example/ https://a.example/",
	} {
		var urls []string
		URLs(text, func(url string) { urls = append(urls, url) })
		if got := strings.Join(urls, " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
