package document

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
)

var corpus = flag.String("corpus", "", "directory of real HTML to try both paths on, such as /usr/share/doc")

func newParser(tb interface{ Fatal(...any) }, change func(*Options)) *Parser {

	opts := DefaultOptions()
	if change != nil {
		change(&opts)
	}
	p, err := New(opts)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// docPage is a page of 30 KB with 40 links, in the manner of a documentation
// generator.
func docPage() []byte {
	var b bytes.Buffer
	b.WriteString(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>os.path &#8212; Common pathname manipulations</title>
<meta name="description" content="Operations on pathnames, on all systems."><link rel="stylesheet" href="/_static/style.css">
<link rel="canonical" href="https://docs.example.org/library/os.path.html"><link rel="next" href="fileinput.html">
<script src="/_static/doctools.js"></script><style>body { margin: 0 }</style></head>
<body><nav class="related"><h3>Navigation</h3><ul>`)
	for i := range 10 {
		fmt.Fprintf(&b, `<li class="right" style="margin-right: 10px"><a href="../chapter%d.html#top" title="Chapter">chapter %d</a> |</li>`+"\n", i, i)
	}
	b.WriteString("</ul></nav><div class=\"document\"><div class=\"body\" role=\"main\">\n")
	for i := range 28 {
		fmt.Fprintf(&b, `<section id="section-%d"><h2>Section %d<a class="headerlink" href="#section-%d" title="Permalink">¶</a></h2>
<p>Return a <em>normalized</em> absolutized version of the pathname <code class="docutils literal notranslate"><span class="pre">path</span></code>.
On most platforms, this is equivalent to calling the function <a class="reference internal" href="functions.html#f%d"><code class="xref py py-func"><span class="pre">normpath()</span></code></a>
as follows: the parameters may be strings, or bytes, as long as they are of one kind &amp; not mixed.</p>
<dl class="py function"><dt class="sig sig-object py" id="f%d"><span class="sig-prename descclassname"><span class="pre">os.path.</span></span><span class="sig-name descname"><span class="pre">abspath</span></span><span class="sig-paren">(</span><em class="sig-param"><span class="n"><span class="pre">path</span></span></em><span class="sig-paren">)</span></dt>
<dd><p>See also <a href="page%d.html">page %d</a>.</p></dd></dl></section>
`, i, i, i, i, i, i, i)
	}
	b.WriteString("</div></div><footer>&copy; The authors.</footer></body></html>")
	return b.Bytes()
}

// BenchmarkTree is the bar: what goquery takes to make a tree.
func BenchmarkTree(b *testing.B) {
	body := docPage()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := goquery.NewDocumentFromReader(bytes.NewReader(body)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDocument(b *testing.B) {
	body := docPage()
	p := newParser(b, nil)
	in := Input{URL: "https://docs.example.org/library/os.path.html", ContentType: "text/html; charset=utf-8", Body: body}
	page := p.Document(in)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		page = p.Document(in)
	}
	b.ReportMetric(float64(len(page.Links)), "links")
	b.ReportMetric(float64(len(page.Text)), "text-bytes")
}

// BenchmarkOverTree takes turns between a tree alone and a whole Page, so that
// both have the same neighbours on the machine. The bar is over-tree ≤ 1.15,
// the JSON of the record included (package codecs, BenchmarkAppendJSON).
func BenchmarkOverTree(b *testing.B) {
	body := docPage()
	p := newParser(b, nil)
	in := Input{URL: "https://docs.example.org/library/os.path.html", ContentType: "text/html; charset=utf-8", Body: body}
	var alone, whole time.Duration
	for b.Loop() {
		start := time.Now()
		if _, err := goquery.NewDocumentFromReader(bytes.NewReader(body)); err != nil {
			b.Fatal(err)
		}
		middle := time.Now()
		p.Document(in)
		alone += middle.Sub(start)
		whole += time.Since(middle)
	}
	b.ReportMetric(float64(whole)/float64(alone), "over-tree")
}

// BenchmarkPrescan is the price of a server that names no charset.
func BenchmarkPrescan(b *testing.B) {
	body := docPage()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		decode(body, hint{})
	}
}

func BenchmarkTokens(b *testing.B) {
	body := docPage()
	p := newParser(b, func(o *Options) { o.MaxTreeBytes = 0 })
	in := Input{ContentType: "text/html; charset=utf-8", Body: body}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		p.Document(in)
	}
}

// TestCorpus reads the HTML of a directory by both paths. Broken documents may
// differ, one in a thousand of those that people publish.
func TestCorpus(t *testing.T) {
	if *corpus == "" {
		t.Skip("no -corpus")
	}
	tree := newParser(t, func(o *Options) { o.MaxTreeBytes = 1 << 30 })
	tokens := newParser(t, func(o *Options) { o.MaxTreeBytes = 0 })
	files, differ := 0, 0
	err := filepath.WalkDir(*corpus, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".html") {
			return err
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		in := Input{ContentType: "text/html", Body: body}
		if diff := differences(tree.Document(in), tokens.Document(in)); diff != "" {
			differ++
			if differ < 20 {
				t.Logf("%s: %s", path, diff)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files, %d differ", files, differ)
	if differ*1000 > files {
		t.Errorf("both paths differ in %d of %d files", differ, files)
	}
}

// differences names the first difference between the readings of one document
// by both paths, texts compared without white space.
func differences(tree, tokens *Page) string {
	a, b := *tree, *tokens
	for i := range max(len(a.Links), len(b.Links)) {
		if i >= len(a.Links) || i >= len(b.Links) || a.Links[i] != b.Links[i] {
			return fmt.Sprintf("link %d of %d: tree %v, tokens %v", i, len(a.Links), a.Links[min(i, len(a.Links)):min(i+1, len(a.Links))], b.Links[min(i, len(b.Links)):min(i+1, len(b.Links))])
		}
	}
	if x, y := strings.Join(strings.Fields(a.Text), ""), strings.Join(strings.Fields(b.Text), ""); x != y {
		i := 0
		for i < len(x) && i < len(y) && x[i] == y[i] {
			i++
		}
		return fmt.Sprintf("text at %d: tree %.60q, tokens %.60q", i, x[i:], y[i:])
	}
	if x, y := fmt.Sprint(a.Headings), fmt.Sprint(b.Headings); x != y {
		return fmt.Sprintf("headings: tree %s, tokens %s", x, y)
	}
	a.Links, b.Links, a.Text, b.Text, a.Headings, b.Headings = nil, nil, "", "", nil, nil
	a.Fallback, b.Fallback = "", ""
	if x, y := fmt.Sprintf("%+v", a), fmt.Sprintf("%+v", b); x != y {
		return fmt.Sprintf("fields: tree %s, tokens %s", x, y)
	}
	return ""
}
