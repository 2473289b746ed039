package article

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/weftcrawl/weft/processors/parse/document"
)

// hostile are documents that would take much time or memory, by what they are. size is about
// the number of bytes.
var hostile = []struct {
	name  string
	write func(size int) string
	// want is the outcome of a document of 1 MiB.
	want string
}{
	{"deep", func(size int) string { return strings.Repeat("<div>", 480) + text(size) }, document.TooDeep},
	{"many in deep ones", func(size int) string {
		return strings.Repeat("<div>", 300) + strings.Repeat("<p>Some words, and a few more words.</p>", size/40)
	}, document.TooCostly},
	{"bylines in one another", func(size int) string {
		return strings.Repeat(`<div class="byline author">`, 300) + text(size) + strings.Repeat("</div>", 300)
	}, document.TooCostly},
	{"bylines in one another, not as many", func(size int) string {
		return strings.Repeat(`<div class="byline author">`, 35) + text(size) + strings.Repeat("</div>", 35)
	}, Found},
	{"paragraphs", func(size int) string { return strings.Repeat("<p>Some words, and a few.", size/24) }, Found},
	{"breaks", func(size int) string { return text(1000) + strings.Repeat("<br>", size/4) + text(1000) }, Found},
	{"comments between letters", func(size int) string { return text(1000) + "<p>" + strings.Repeat("a<!---->", size/8) }, Found},
	{"bold", func(size int) string { return text(1000) + "<p>" + strings.Repeat("<b>a</b><span></span>", size/21) }, Found},
	{"spans", func(size int) string {
		return text(1000) + "<p><b>x</b>" + strings.Repeat("<span></span><b></b>", size/20)
	}, Found},
	{"links", func(size int) string { return text(1000) + "<p>" + strings.Repeat("<a href=x>y</a>", size/15) }, Found},
	{"code in bold", func(size int) string { return text(1000) + "<p>" + strings.Repeat("<b><code>x</code></b>", size/21) }, Found},
	{"quotations", func(size int) string {
		return strings.Repeat("<blockquote>", 200) + text(1000) + strings.Repeat("x<br>", size/100)
	}, Found},
	{"lists", func(size int) string {
		return strings.Repeat("<ul><li>", 100) + text(1000) + strings.Repeat("x<br>", size/100)
	}, Found},
	{"wide and tall table", func(size int) string {
		return text(1000) + "<table><tr>" + strings.Repeat("<td>", size/8) + strings.Repeat("<tr><td>x", size/18) + "</table>"
	}, Found},
	{"spans of cells", func(size int) string {
		return text(1000) + "<table>" + strings.Repeat("<tr><td colspan=100000 rowspan=100000>x", size/40) + "</table>"
	}, Found},
	{"a long cell", func(size int) string {
		return text(1000) + "<table><tr><td>" + text(size/2) + strings.Repeat("<tr><td>x", size/18) + "</table>"
	}, Found},
	{"tables in one another", func(size int) string {
		return strings.Repeat("<table><tr><td>", 20) + text(size/4)
	}, Found},
	{"cells", func(size int) string {
		return "<table>" + strings.Repeat("<tr>"+strings.Repeat("<td>some words, here", 5), size/104) + "</table>"
	}, Found},
	{"back-quotes", func(size int) string { return text(1000) + "<pre>" + strings.Repeat("`", size) + "</pre>" }, Found},
	{"marks of Markdown", func(size int) string { return text(1000) + "<p>" + strings.Repeat("[*_#`1. ", size/8) }, document.TooCostly},
	{"closed brackets", func(size int) string { return text(1000) + "<p>" + strings.Repeat("[*_#`1.]", size/8) }, Found},
	{"hashes", func(size int) string { return text(1000) + "<p>" + strings.Repeat("#", size) }, Found},
	{"hyphens", func(size int) string { return text(1000) + "<p>" + strings.Repeat("- ", size/2) }, Found},
	{"digits", func(size int) string { return text(1000) + "<p>" + strings.Repeat("1.", size/2) }, Found},
	{"new lines", func(size int) string { return text(1000) + "<pre>" + strings.Repeat("\n", size) + "</pre>" }, Found},
	{"a long number", func(size int) string { return text(1000) + `<ol start="99999999999999"><li>` + text(size/2) }, Found},
	{"unlikely", func(size int) string {
		return text(100) + strings.Repeat(`<div class="sidebar comment"><p>Some words, and a few.</div>`, size/60)
	}, Found},
	{"headings", func(size int) string { return text(1000) + strings.Repeat("<h2><p>x</h2>", size/13) }, Found},
	{"control characters", func(size int) string { return text(1000) + "<p>" + strings.Repeat("\x01\x02", size/2) }, Found},
	{"nothing", func(int) string { return "" }, NotFound},
	{"blank", func(size int) string { return strings.Repeat("<p> </p>", size/8) }, NotFound},
}

func text(size int) string {
	const sentence = "There are some words here, and there are some more, which say nothing. "
	return "<p>" + strings.Repeat(sentence, size/len(sentence)+1) + "</p>"
}

func reader(t testing.TB) *Reader {
	t.Helper()
	documents, err := document.New(document.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	o := DefaultOptions()
	o.Text, o.Markdown = true, true
	r, err := New(o, documents)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var where = &url.URL{Scheme: "https", Host: "example.org", Path: "/dir/page"}

// Each hostile document has a named outcome, and both forms are within their bounds.
func TestHostile(t *testing.T) {
	r := reader(t)
	size := 1 << 20
	if testing.Short() {
		size = 32 << 10
	}
	for _, c := range hostile {
		t.Run(c.name, func(t *testing.T) {
			tree, err := html.Parse(strings.NewReader("<title>x</title><body>" + c.write(size)))
			if err != nil {
				t.Fatal(err)
			}
			a := r.Read(tree, where)
			if len(a.Text) > r.opts.MaxBytes || len(a.Markdown) > r.opts.MaxBytes {
				t.Errorf("%d bytes of text, %d of Markdown", len(a.Text), len(a.Markdown))
			}
			if strings.ContainsFunc(a.Text+a.Markdown, func(c rune) bool { return c < ' ' && c != '\n' && c != '\t' }) {
				t.Error("there are control characters")
			}
			if a.Unread != c.want && (size == 1<<20 || c.want != document.TooCostly) {
				t.Errorf("the outcome is %q, want %q", a.Unread, c.want)
			}
		})
	}
}

func BenchmarkHostile(b *testing.B) {
	r := reader(b)
	for _, c := range hostile {
		for _, kib := range []int{256, 1024} {
			b.Run(fmt.Sprintf("%s/KiB=%d", c.name, kib), func(b *testing.B) {
				body := "<title>x</title><body>" + c.write(kib<<10)
				for b.Loop() {
					tree, err := html.Parse(strings.NewReader(body))
					if err != nil {
						b.Fatal(err)
					}
					r.Read(tree, where)
				}
			})
		}
	}
}
