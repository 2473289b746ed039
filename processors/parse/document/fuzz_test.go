package document

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// FuzzDocument checks what Document promises for any bytes: it returns, within
// its bounds, valid UTF-8, the same again, and leaves the body alone. Both paths
// must promise it.
func FuzzDocument(f *testing.F) {
	for _, x := range exchanges {
		body, err := os.ReadFile(filepath.Join("testdata", "pages", x.file))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body, x.contentType, strings.Join(x.robotsTags, ","))
	}
	f.Add([]byte("<link rel=canonical href=/a><base href=b>\xe9\x81<div hidden>x<p>y"), "text/html", "</c>; rel=canonical; hreflang=de, <d>; rel=next")
	f.Add([]byte("<script type=application/ld+json>{</script><meta property=og:a content=b>"), "text/html", "1; url='x'")
	f.Add([]byte("<svg><title>a</title><p><![CDATA[b]]></svg><plaintext>c</p>"), "", "weft: none")
	tree := newParser(f, nil)
	tokens := newParser(f, func(o *Options) { o.MaxTreeBytes = 0 })
	tightTree := newParser(f, tight)
	tightTokens := newParser(f, func(o *Options) { tight(o); o.MaxTreeBytes = 0 })

	f.Fuzz(func(t *testing.T, body []byte, contentType, robotsTag string) {
		in := Input{
			URL: "https://www.example.org/", ContentType: contentType, ContentLanguage: robotsTag,
			RobotsTags: []string{robotsTag}, LinkFields: []string{robotsTag}, Refresh: robotsTag, Body: body, Truncated: len(body)%2 == 1,
		}
		before := bytes.Clone(body)
		for _, p := range []*Parser{tree, tokens, tightTree, tightTokens} {
			page := p.Document(in)
			assertBounded(t, page, p.opts)
			if diff := differences(page, p.Document(in)); diff != "" {
				t.Errorf("read twice: %s", diff)
			}
		}
		if !bytes.Equal(body, before) {
			t.Error("the body was changed")
		}
	})
}

// tight bounds everything where a page of a few lines reaches it.
func tight(o *Options) {
	o.MaxTextBytes, o.MaxLinks, o.MaxHrefBytes, o.MaxAnchorBytes, o.MaxHeadings, o.MaxFieldBytes = 50, 2, 10, 5, 1, 7
	o.MaxParts, o.MaxProperties, o.MaxDataBytes = 2, 1, 6
}

func assertBounded(t *testing.T, page *Page, opts Options) {
	t.Helper()
	check := func(what, s string, limit int) {
		t.Helper()
		if len(s) > limit {
			t.Errorf("%s of %d bytes, bound %d", what, len(s), limit)
		}
		if !utf8.ValidString(s) {
			t.Errorf("%s is not UTF-8: %q", what, s)
		}
	}
	check("media type", page.MediaType, 1<<20)
	check("title", page.Title, opts.MaxFieldBytes)
	for what, field := range map[string]string{
		"description": page.Description, "keywords": page.Keywords, "author": page.Author, "date": page.Date,
	} {
		check(what, field, opts.MaxFieldBytes)
	}
	data := 0
	for _, script := range page.JSONLD {
		check("JSON-LD", script, opts.MaxDataBytes)
		data += len(script)
	}
	if data > opts.MaxDataBytes || len(page.OpenGraph) > opts.MaxProperties {
		t.Errorf("%d bytes of JSON-LD, %d properties", data, len(page.OpenGraph))
	}
	for _, property := range page.OpenGraph {
		check("name of a property", property.Name, opts.MaxFieldBytes)
		check("property", property.Content, opts.MaxFieldBytes)
	}
	check("language", page.Language, opts.MaxFieldBytes)
	check("canonical", page.Canonical, opts.MaxHrefBytes)
	check("base", page.Base, opts.MaxHrefBytes)
	check("text", page.Text, opts.MaxTextBytes)
	if len(page.Headings) > opts.MaxHeadings || len(page.Links) > opts.MaxLinks+opts.MaxParts {
		t.Errorf("%d headings, %d links", len(page.Headings), len(page.Links))
	}
	for _, h := range page.Headings {
		check("heading", h.Text, opts.MaxFieldBytes)
		if h.Level < 1 || h.Level > 6 || h.Text == "" || strings.ContainsAny(h.Text, "\n\t\r\f") {
			t.Errorf("heading %+v", h)
		}
	}
	seen := map[string]bool{}
	for _, l := range page.Links {
		if (l.Kind == KindNoscript) != (l.Element != "") || l.Element != "" && !slices.Contains(Kinds(), l.Element) {
			t.Errorf("element %q of kind %q", l.Element, l.Kind)
		}
		check("href", l.URL, opts.MaxHrefBytes)
		check("anchor text", l.Text, opts.MaxAnchorBytes)
		check("caption", l.Caption, opts.MaxAnchorBytes)
		check("rel", l.Rel, maxRelBytes)
		check("hreflang", l.Language, opts.MaxFieldBytes)
		if !slices.Contains(Kinds(), l.Kind) {
			t.Errorf("kind %q", l.Kind)
		}
		if l.URL == "" || trimSpace(l.URL) != l.URL || l.URL[0] == '#' && page.Base == "" || otherScheme(l.URL) {
			t.Errorf("href %q", l.URL)
		}
		if trimSpace(l.Text) != l.Text || strings.ContainsAny(l.Text, "\n\t\r\f") {
			t.Errorf("anchor text %q", l.Text)
		}
		if key := fmt.Sprint(l.part(), opts.withoutFragment(l.URL)); seen[key] {
			t.Errorf("%q twice", key)
		} else {
			seen[key] = true
		}
	}
}

// drawElement writes an element that nests as HTML wants it: for such documents
// tree and tokens must agree.
func drawElement(t *rapid.T, b *strings.Builder, depth int, block, inAnchor bool) {
	words := rapid.StringMatching(`[ a-zé漢&;<>="]{0,12}`)
	text := func() {
		b.WriteString(strings.NewReplacer("<", "&lt;", "&", "&amp;").Replace(words.Draw(t, "words")))
	}
	children := func(block, inAnchor bool) {
		if depth <= 0 {
			text()
			return
		}
		for range rapid.IntRange(0, 3).Draw(t, "children") {
			drawElement(t, b, depth-1, block, inAnchor)
		}
	}
	href := func() string {
		return rapid.SampledFrom([]string{"/a", "b.html#x", "b.html#y", "?q=1&amp;r=2", "#f", "mailto:x", " c ", "//d/"}).Draw(t, "href")
	}
	hidden := func() string { return rapid.SampledFrom([]string{"", " hidden"}).Draw(t, "hidden") }
	optional := func(end string) string { return rapid.SampledFrom([]string{end, ""}).Draw(t, "end") }
	inline := []string{"text", "text", "em", "span", "img", "br", "script", "svg", "noscript", "template", "shadow", "custom", "hidden", "video", "input", "ruby", "meter"}
	if !inAnchor {
		inline = append(inline, "a", "a")
	}
	kinds := inline
	if block {
		kinds = append(kinds, "div", "p", "ul", "dl", "table", "pre", "h2", "h3", "iframe", "section", "select", "textarea", "form", "dialog", "figure")
	}
	switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
	case "text":
		text()
	case "em", "span":
		b.WriteString("<" + kind + ">")
		children(false, inAnchor)
		b.WriteString("</" + kind + ">")
	case "hidden":
		b.WriteString(`<span hidden>`)
		children(false, inAnchor)
		b.WriteString("</span>")
	case "video":
		b.WriteString(`<video src="/film" poster="/poster"><track src="/track"><b>No film</b></video>`)
	case "ruby":
		b.WriteString(`<ruby>base<rp>(` + optional("</rp>") + "<rt" + hidden() + ">")
		children(false, inAnchor)
		b.WriteString(optional("</rt>") + "<rp>)" + optional("</rp>") + "</ruby>")
	case "meter":
		name := rapid.SampledFrom([]string{"meter", "progress"}).Draw(t, "name")
		b.WriteString("<" + name + ">")
		children(false, inAnchor)
		b.WriteString("</" + name + ">")
	case "input":
		b.WriteString(`<input type="image" src="/button"><input value="x">`)
	case "form":
		b.WriteString(`<form action="` + href() + `">`)
		text()
		b.WriteString("</form>")
	case "dialog":
		b.WriteString(`<dialog` + rapid.SampledFrom([]string{"", " open"}).Draw(t, "open") + `>`)
		children(true, inAnchor)
		b.WriteString("</dialog>")
	case "a":
		rel := rapid.SampledFrom([]string{"", ` rel="nofollow"`, ` REL='NoOpener  UGC'`}).Draw(t, "rel")
		b.WriteString(`<a href="` + href() + `"` + rel + `>`)
		children(false, true)
		b.WriteString("</a>")
	case "img":
		b.WriteString(`<img src="x" srcset="y 2x, z 3x" alt="Picture">`)
	case "br":
		b.WriteString("<br>")
	case "script":
		b.WriteString(`<script>if (a < b) "<a href='/no'>"</script>`)
	case "svg":
		b.WriteString(`<svg><title>tip</title><desc>tip</desc><style>a > b {}</style><g/><text>drawn</text></svg>`)
	case "noscript":
		b.WriteString("<noscript" + hidden() + ">")
		for range rapid.IntRange(0, 3).Draw(t, "within") {
			b.WriteString(rapid.SampledFrom([]string{
				`<p>off`, `<a href="` + href() + `">off`, `</a>`, `<img src="/off" alt="Off">`, `<picture><source srcset="u, v 2x">`, `<noscript>`,
				`<meta http-equiv=refresh content="0; url=/off">`, `<script>"<a href=/no>"</script>`, `<h2>`, `<table><td>`, `</div></table>`, `<svg><title>`, `<pre>`,
				`<iframe src="/in">`, `<base href="/base/">`, `<title>off</title>`, `<template>`, `<!--`,
			}).Draw(t, "part"))
		}
		b.WriteString("</noscript>")
	case "figure":
		caption := func() {
			b.WriteString("<figcaption" + hidden() + ">")
			children(true, inAnchor)
			b.WriteString("</figcaption>")
		}
		b.WriteString("<figure" + hidden() + ">")
		before := rapid.Bool().Draw(t, "before")
		if before {
			caption()
		}
		b.WriteString(`<img src="` + href() + `"><noscript><img src="/lazy"></noscript>`)
		children(true, inAnchor)
		if !before || rapid.Bool().Draw(t, "twice") {
			caption()
		}
		b.WriteString("</figure>")
	case "template":
		b.WriteString(`<template><p><a href="/template">stamp</a><template>x</template>y</template>`)
	case "shadow":
		b.WriteString(`<template shadowrootmode=` + rapid.SampledFrom([]string{"open", "Closed"}).Draw(t, "mode") + `>`)
		children(true, inAnchor)
		b.WriteString("</template>")
	case "div", "section":
		b.WriteString("<" + kind + ">")
		children(true, inAnchor)
		b.WriteString("</" + kind + ">")
	case "custom":
		name := rapid.SampledFrom([]string{"my-tab", "my-icon"}).Draw(t, "name")
		b.WriteString("<" + name + hidden() + ">")
		children(block, inAnchor)
		b.WriteString("</" + name + ">")
	case "p", "h2", "h3":
		b.WriteString("<" + kind + hidden() + ">")
		children(false, inAnchor)
		b.WriteString("</" + kind + ">")
	case "pre":
		b.WriteString("<pre>\n  kept\n")
		children(false, inAnchor)
		b.WriteString("</pre>")
	case "ul":
		b.WriteString("<ul><li" + hidden() + ">")
		children(true, inAnchor)
		b.WriteString(optional("</li>") + "<li" + hidden() + ">last" + optional("</li>") + "</ul>")
	case "dl":
		b.WriteString("<dl><dt" + hidden() + ">")
		children(false, inAnchor)
		b.WriteString(optional("</dt>") + "<dd" + hidden() + ">")
		children(true, inAnchor)
		b.WriteString(optional("</dd>") + "</dl>")
	case "table":
		b.WriteString("<table><tr" + hidden() + "><th" + hidden() + ">head" + optional("</th>") + "<td" + hidden() + ">")
		children(true, inAnchor)
		b.WriteString(optional("</td></tr>") + "<tr><td>foot" + optional("</td></tr>") + "</table>")
	case "iframe":
		b.WriteString(`<iframe src="` + href() + `"><a href="/no">none</a></iframe>`)
	case "select":
		b.WriteString("<select><option" + hidden() + ">one" + optional("</option>") + "<option>two</option></select>")
	case "textarea":
		b.WriteString("<textarea><p>typed</textarea>")
	}
}

func equivalent(t *rapid.T) {
	tree := newParser(t, func(o *Options) { o.MaxTreeBytes = 1 << 30 })
	tokens := newParser(t, func(o *Options) { o.MaxTreeBytes = 0 })
	var b strings.Builder
	b.WriteString(`<!doctype html><html lang=en><head><title>T &amp; t</title><meta name=robots content=nofollow></head><body>`)
	for range rapid.IntRange(1, 6).Draw(t, "elements") {
		drawElement(t, &b, rapid.IntRange(0, 5).Draw(t, "depth"), true, false)
	}
	b.WriteString("</body></html>")
	in := Input{ContentType: "text/html; charset=utf-8", Body: []byte(b.String())}
	if diff := differences(tree.Document(in), tokens.Document(in)); diff != "" {
		t.Fatalf("%s\n%s", diff, in.Body)
	}
}

func TestBothPathsAgree(t *testing.T) { rapid.Check(t, equivalent) }

func FuzzBothPathsAgree(f *testing.F) { f.Fuzz(rapid.MakeFuzz(equivalent)) }
