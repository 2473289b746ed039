package document

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// hostile are bodies that are made to take much of something. Each is of about
// size bytes.
func hostile(size int) map[string]string {
	fill := func(unit string) string { return strings.Repeat(unit, size/len(unit)) }
	numbered := func(format string) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	wide := numbered(" a%d=x")
	formatted := "<p>" + numbered("<b a%d>")[:size/2] + "</p>"
	paragraphs := fill("<p>x")[:size/2]
	deep := strings.Repeat("<div>", 480)
	return map[string]string{
		"nesting": fill("<div>"), "nesting, inline": fill("<b>"), "nesting, closed": fill("<i>") + fill("</i>"),
		"nested lists": fill("<ul><li>"), "nested tables": fill("<table><tr><td>"), "nested forms": fill("<form>"),
		"nested anchors": numbered("<a href=/%d>"), "templates": fill("<template>"), "svg": fill("<svg>"), "math": fill("<math><mi>"),
		"unclosed paragraphs": fill("<p>x"), "unclosed headings": fill("<h1>x"), "unclosed formatting": fill("<p><b><i><u>x"),
		"stray ends": fill("</p>"), "stray ends in text": fill("</nobr>x"), "text in a table": "<table>" + fill("x<tr>"), "more text in a table": "<table>" + fill("xxxx<tr>"), "rather dense": "<table>" + strings.Repeat("xxxx<tr>", 360<<10/8),
		"cells without rows": "<table>" + fill("<col>x"), "misnested": fill("<b><p>x</b>"), "formatting in a table": "<table>" + fill("<b>x"),
		"attributes": "<a href=/x" + wide + ">x</a>", "attributes, twice": "<b" + wide + "></b x><b" + wide + ">",
		"long attribute": "<a href='" + fill("x") + "' title='" + fill("y") + "'>x</a>", "attribute that does not end": "<a href='" + fill("x"),
		"formatting after its paragraph": formatted + paragraphs, "and seemingly ended": "<p>" + numbered("<b a%d><!--</b>-->")[:size/2] + "</p>" + paragraphs,
		"much of it in one tag": "<p><b" + wide[:size/2] + "></p>" + paragraphs, "in one anchor": "<p><a" + wide[:size/2] + "></p>" + paragraphs, "tags in tags": fill("<b "), "tags in values": fill("<b a='"),
		"alt for many images": "<img alt='" + fill(" ")[:size/2] + "' srcset='" + fill("a, ")[:size/2] + "'>",
		"bodies":              numbered("<body a%d>"), "roots": numbered("<HTML a%d>"), "long name": "<" + fill("x") + ">",
		"links": numbered("<a href=/%d>x</a>"), "images": "<img srcset='" + numbered("/%d 2x, ") + "'>", "one link": fill("<a href=/x>x</a>"),
		"properties": numbered("<meta property=og:x content=%d>"), "data": fill("<script type=application/ld+json>{}</script>"),
		"open data": "<script type=application/ld+json>" + fill("{"), "canonicals": numbered("<link rel=canonical href=/%d>"),
		"comment": "<!--" + fill("-"), "comments": fill("<!---->"), "bogus comments": fill("<!>"), "declaration": "<!doctype " + fill("x"),
		"script": "<script>" + fill("<!--<script>"), "style": "<style>" + fill("</styl"), "title": "<title>" + fill("</titl"),
		"textarea": "<textarea>" + fill("</texta"), "plaintext": "<plaintext>" + fill("</plaintext>"), "cdata": "<svg><![CDATA[" + fill("]]"),
		"nul": fill("\x00"), "nul in tags": fill("<a\x00 href\x00=/\x00>"), "less-than signs": fill("<"), "ampersands": fill("&"),
		"entities": fill("&CounterClockwiseContourIntegra"), "white space": fill(" "), "line breaks": fill("<br>"), "pre": "<pre>" + fill("\r\n"),
		"framesets": fill("<frameset>"), "select": "<select>" + fill("<option>x"), "ruby": "<ruby>" + fill("<rt>x"), "hidden": fill("<div hidden>x"),
		"figures": fill("<figure><figcaption>x<img src=/x>"), "images of a figure": "<figure>" + numbered("<img src=/%d>"), "captions": "<figure><img src=/x>" + fill("<figcaption>x</figcaption>"),
		"noscript": fill("<noscript>x"), "images in headings": fill("<h2><image src=x>"), "declared encodings": fill("<meta charset=x>"),
		"items in depth": deep + fill("<span><li>"), "ends in depth": deep + fill("</ul>"), "text in depth": "<p><b>" + deep + fill("x<i></i>"),
		"forms in depth": deep + fill("<form><q></form></q>"), "tables in depth": deep + fill("<table><td></table>"), "paragraphs in depth": "<p>" + deep + fill("<button><p></button>"),
		"reopened": "<p><b a><i a><u a><s a></p>" + fill("<p>x</p>"), "links in links": fill("<a>x"), "tags in a script": "<script>" + fill("<b><b "), "scripts": fill("<script><!-- x </script>"),
		"elements without contents": fill("<title/>"), "and almost an end": fill("<script/></script"), "and an end": fill("<iframe/>") + "</iframe>",
		"comments with dashes": "<!--" + fill("--!-"), "long names": fill("<" + strings.Repeat("x", 1000) + "></" + strings.Repeat("y", 1000) + ">"),
		"latin": fill("\xE9 "), "mixed bytes": fill("\x81\xFE\x1B$B\xA4"),
	}
}

// TestHostile holds time, memory and what comes out to a bound for each. The
// longest takes 0.2 s on a slow core and allocates 64 MiB; ordinary bodies of that
// size take 50 ms.
func TestHostile(t *testing.T) {
	const (
		size    = 1<<20 - 8<<10 // so that a tree is made where it can be
		longest = 20 * time.Second
		most    = 256 << 20
	)
	if testing.Short() {
		t.Skip("reads 50 MB of the worst HTML")
	}
	p := newParser(t, nil)
	for name, body := range hostile(size) {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			page := p.Document(Input{URL: "https://www.example.org/", ContentType: "text/html", Body: []byte(body)})
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			allocated := after.TotalAlloc - before.TotalAlloc
			if took > longest || allocated > most {
				t.Errorf("took %v and allocated %d MiB", took, allocated>>20)
			}
			assertBounded(t, page, p.opts)
			t.Logf("%d KiB: %v, %d MiB allocated, read by tokens: %q", len(body)>>10, took.Round(time.Millisecond), allocated>>20, page.Fallback)
		})
	}
}

// TestManyLinks reads a million links.
func TestManyLinks(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 25 MB")
	}
	var b strings.Builder
	const links = 1_000_000
	for i := range links {
		fmt.Fprintf(&b, "<a href=/%d>x</a> ", i)
	}
	p := newParser(t, nil)
	page := p.Document(Input{ContentType: "text/html", Body: []byte(b.String())})
	if len(page.Links) != p.opts.MaxLinks || page.Skipped.Many != links-p.opts.MaxLinks || page.Fallback != TooLarge {
		t.Errorf("%d links, %+v, fallback %q", len(page.Links), page.Skipped, page.Fallback)
	}
}

// reopening is a small body of numbered formatting elements, and paragraphs after
// what they stand in.
func reopening(start, numbered, end string) string {
	var b strings.Builder
	for i := range 480 {
		fmt.Fprintf(&b, numbered, i)
	}
	return start + b.String() + end + strings.Repeat("<p>x", 4<<10)
}

// TestCostly tells bodies that are made to be expensive from large honest ones.
func TestCostly(t *testing.T) {
	var honest strings.Builder
	for i := 0; honest.Len() < 400<<10; i++ {
		fmt.Fprintf(&honest, "<tr><td>%d</td><td><a href='/item/%d'>An entry of this table</a></td></tr>\n", i, i)
	}
	large := strings.Repeat("x", alwaysCheap)
	for name, test := range map[string]struct {
		body string
		want bool
	}{
		"a page":               {string(docPage()), false},
		"a large table":        {honest.String(), false},
		"pages put together":   {strings.Repeat(string(docPage()), 20), false},
		"many bodies":          {large + strings.Repeat("<body a>", maxRoots+1), true},
		"as many as may be":    {large + strings.Repeat("<body a>", maxRoots), false},
		"many roots, capitals": {large + strings.Repeat("<p><HtMl a>", maxRoots+1), true},
		"many in a small page": {strings.Repeat("<body a>", maxRoots+1), false},
		"ignored tags":         {strings.Repeat("</x>y", 1<<20/5), false},
		"ends":                 {large + strings.Repeat("<", maxRoots+1), false},

		"formatting that stays open": {reopening("<p>", "<b a%d>", "</p>"), true},
		"in another paragraph":       {reopening("<p>", "<b>a%d", "</p>"), false},
		"an index":                   {reopening("<p>", "<strong id=a%d><code>x</code></strong>", "</p>"), false},
		"an index of links":          {reopening("<dt>", "<code id=a%d><a href='#%d'>x</a></code>", "</dt>"), false},
		"anchors that stay open":     {reopening("", "<section><a a%d b>"+nine+"<a></section>", ""), true},
		"anchors of cards":           {reopening("", "<a a%d b><div><svg><path d=1 /></svg><img><div><h3>x</h3><p>x</p></div></div></a>", ""), false},
		"large anchors":              {large + "<a" + strings.Repeat(" a", 4096) + ">" + strings.Repeat("<p>x", 1024), true},
		"ended in a comment":         {reopening("<p>", "<i a%d>x<!--</i>-->", "</p>"), true},
		"ended in a value":           {reopening("<p>", "<i a%d='>x</i>'>", "</p>"), true},
		"ended in an object":         {reopening("<p>", "<i a%d><object>x</i></object>", "</p>"), true},
		"ended in a block":           {reopening("<p>", "<tt a%d><div>x</tt></div>", "</p>"), true},
	} {
		if got := costly([]byte(test.body)); got != test.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// BenchmarkCostly is the price of the look at every body.
func BenchmarkCostly(b *testing.B) {
	body := docPage()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		costly(body)
	}
}
