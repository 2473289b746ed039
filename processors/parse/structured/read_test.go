package structured

import (
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/parse/document"
)

const pageURL = "https://site.example/dir/page"

// resolver makes references absolute as the stage parse does.
func resolver(tb testing.TB, base string) func(string) (string, bool) {
	tb.Helper()
	u, refusal := urls.Parse(pageURL)
	if refusal != urls.Accepted {
		tb.Fatal(refusal)
	}
	var form *urls.Form
	of := form.Document(u, base, "")
	return func(ref string) (string, bool) {
		u, refusal := of.Resolve(ref)
		if _, fragment, ok := strings.Cut(ref, "#"); ok && fragment != "" {
			return u.String() + "#" + fragment, refusal == urls.Accepted
		}
		return u.String(), refusal == urls.Accepted
	}
}

// readPage reads a body with some options.
func readPage(tb testing.TB, body string, opts Options) (*codecs.ParsedStructuredData, []Problem) {
	tb.Helper()
	documents, err := document.New(document.DefaultOptions())
	if err != nil {
		tb.Fatal(err)
	}
	reader, err := New(opts)
	if err != nil {
		tb.Fatal(err)
	}
	in := document.Input{URL: pageURL, ContentType: "text/html; charset=utf-8", Body: []byte(body)}
	read := documents.Document(in)
	what := Input{Page: read, Resolve: resolver(tb, read.Base)}
	if read.Annotated {
		var tree *goquery.Document
		if tree, what.NoTree = documents.Tree(in, read); tree != nil {
			what.Tree = tree.Nodes[0]
		}
	}
	return reader.Read(what)
}

func data(tb testing.TB, body string) *codecs.ParsedStructuredData {
	tb.Helper()
	found, _ := readPage(tb, body, DefaultOptions())
	if found == nil {
		return &codecs.ParsedStructuredData{}
	}
	return found
}
