package sitemap

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/weftcrawl/weft/processors/parse/markup"
)

// read returns the entries of a sitemap, one a line.
func read(t testing.TB, body []byte, change func(*Options)) (string, Result) {
	o := DefaultOptions()
	if change != nil {
		change(&o)
	}
	var lines []string
	result := Read(body, o, func(e *Entry) {
		line := e.Loc
		if e.Sitemap {
			line = "sitemap " + line
		}
		if !e.LastMod.IsZero() {
			line += " " + e.LastMod.Format("2006-01-02T15:04:05Z07:00")
		}
		if e.Priority >= 0 {
			line += fmt.Sprintf(" p%.2f", e.Priority)
		}
		if e.ChangeFrequency != "" {
			line += " " + e.ChangeFrequency
		}
		for _, a := range e.Alternates {
			line += " " + a.Language + "=" + a.Loc
		}
		for _, i := range e.Images {
			line += " image=" + i
		}
		for _, v := range e.Videos {
			line += " video=" + v
		}
		lines = append(lines, line)
	})
	if result.Entries != len(lines) {
		t.Errorf("%d entries are counted, and %d were visited", result.Entries, len(lines))
	}
	return strings.Join(lines, "\n"), result
}

const head = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"

func packed(body string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, body)
	_ = w.Close()
	return b.Bytes()
}

func utf16Of(order binary.ByteOrder, mark bool, text string) []byte {
	units := utf16.Encode([]rune(text))
	if mark {
		units = append([]uint16{0xfeff}, units...)
	}
	b := make([]byte, 2*len(units))
	for i, u := range units {
		order.PutUint16(b[2*i:], u)
	}
	return b
}

// Files as servers and plug-ins write them.
func TestSitemapsOfTheWild(t *testing.T) {
	for name, c := range map[string]struct {
		body, want string
		kind       Kind
	}{
		"the example of sitemaps.org": {head + `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
   <url>
      <loc>http://www.example.com/catalog?item=12&amp;desc=vacation_hawaii</loc>
      <lastmod>2005-01-01</lastmod>
      <changefreq>monthly</changefreq>
      <priority>0.8</priority>
   </url>
   <url><loc>http://www.example.com/b</loc><lastmod>2004-12-23T18:00:15+00:00</lastmod></url>
</urlset>`, "http://www.example.com/catalog?item=12&desc=vacation_hawaii 2005-01-01T00:00:00Z p0.80 monthly\n" +
			"http://www.example.com/b 2004-12-23T18:00:15Z", URLs},
		"an index": {head + `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>http://h/1.xml.gz</loc>
<lastmod>2004-10-01T18:23:17+00:00</lastmod></sitemap><sitemap><loc>http://h/2.xml.gz</loc></sitemap></sitemapindex>`,
			"sitemap http://h/1.xml.gz 2004-10-01T18:23:17Z\nsitemap http://h/2.xml.gz", Index},
		"prefixes": {head + `<sm:urlset xmlns:sm="http://www.sitemaps.org/schemas/sitemap/0.9"><sm:url><sm:loc>http://h/a</sm:loc></sm:url></sm:urlset>`,
			"http://h/a", URLs},
		"a namespace of Google, and none": {`<urlset xmlns="http://www.google.com/schemas/sitemap/0.84"><url><loc>http://h/a</loc></url></urlset>`, "http://h/a", URLs},
		"capitals":                        {`<URLSET><URL><LOC>http://h/a</LOC><PRIORITY>1</PRIORITY></URL></URLSET>`, "http://h/a p1.00", URLs},
		"languages": {`<urlset><url><loc>http://h/en</loc><xhtml:link rel="alternate" hreflang="de" href="http://h/de?a=1&amp;b=2"/>
<xhtml:link rel='alternate' hreflang='x-default' href='http://h/'></xhtml:link></url></urlset>`, "http://h/en de=http://h/de?a=1&b=2 x-default=http://h/", URLs},
		"images, videos and news": {`<urlset><url><loc>http://h/a</loc><image:image><image:loc>http://h/i.jpg</image:loc><image:title>x</image:title></image:image>
<video:video><video:thumbnail_loc>http://h/t.jpg</video:thumbnail_loc><video:title>loc</video:title><video:content_loc>http://h/v.mp4</video:content_loc>
<video:player_loc allow_embed="yes">http://h/play?v=1</video:player_loc><video:publication_date>2020-01-01</video:publication_date></video:video>
<news:news><news:publication><news:name>N</news:name></news:publication><news:publication_date>2024-05-06T07:08Z</news:publication_date></news:news></url></urlset>`,
			"http://h/a 2024-05-06T07:08:00Z image=http://h/i.jpg video=http://h/v.mp4 video=http://h/play?v=1", URLs},
		"an image in front of the loc": {`<urlset><url><image:image><image:loc>http://h/i.jpg</image:loc></image:image><loc>http://h/a</loc></url></urlset>`, "http://h/a image=http://h/i.jpg", URLs},
		"parameters that look like entities of HTML": {`<urlset><url><loc>http://h/a?b=1&currency=USD&section=2&copy=3&amp;reg=4</loc></url></urlset>`,
			"http://h/a?b=1&currency=USD&section=2&copy=3&reg=4", URLs},
		"CDATA, entities and spaces": {"<urlset><url><loc><![CDATA[ http://h/a?b=1&c=2 ]]></loc></url><url><loc>\n  http://h/b&#x26;c&#61;d\n</loc></url></urlset>",
			"http://h/a?b=1&c=2\nhttp://h/b&c=d", URLs},
		"an ampersand that is not escaped": {`<urlset><url><loc>http://h/?a=1&b=2&copy=3</loc></url></urlset>`, "http://h/?a=1&b=2&copy=3", URLs},
		"a URL in two lines":               {"<urlset><url><loc>http://h/a/\n    long/path</loc></url></urlset>", "http://h/a/long/path", URLs},
		"comments and a document type":     {`<!DOCTYPE urlset [ <!ENTITY x "<url><loc>http://evil/</loc></url>"> ]><!-- <url><loc>http://no/</loc></url> --><urlset><?php x ?><url><!-- > --><loc>http://h/<!-- c -->a</loc></url></urlset>`, "http://h/a", URLs},
		"white space and a mark in front":  {"\ufeff\n\n  " + head + "<urlset><url><loc>http://h/a</loc></url></urlset>", "http://h/a", URLs},
		"entries without a root":           {`<url><loc>http://h/a</loc></url><url><loc>http://h/b</loc></url>`, "http://h/a\nhttp://h/b", URLs},
		"elements that are not closed":     {`<urlset><url><loc>http://h/a<lastmod>2020-02-03<url><loc>http://h/b</loc><image:image><image:loc>http://h/i</image:loc><url><loc>http://h/c</loc></url>`, "http://h/a 2020-02-03T00:00:00Z\nhttp://h/b image=http://h/i\nhttp://h/c", URLs},
		"an end within a tag":              {`<urlset><url><loc>http://h/a</loc></url><url><loc>http://h/b</lo`, "http://h/a\nhttp://h/b", URLs},
		"a tag that is not closed":         {`<urlset><url><loc>http://h/a</loc></url <url><loc>http://h/b</loc></url></urlset>`, "http://h/a\nhttp://h/b", URLs},
		"an entry without a URL":           {`<urlset><url><lastmod>2020-01-01</lastmod></url><url><loc></loc></url><url><loc>http://h/a</loc></url></urlset>`, "http://h/a", URLs},
		"pages in an index":                {`<sitemapindex><sitemap><loc>http://h/s.xml</loc></sitemap><url><loc>http://h/a</loc></url></sitemapindex>`, "sitemap http://h/s.xml\nhttp://h/a", Index},
		"without scheme, and with spaces":  {`<urlset><url><loc>www.h/a b</loc></url><url><loc>//h/c</loc></url><url><loc>/d</loc></url></urlset>`, "www.h/a b\n//h/c\n/d", URLs},
		"priorities": {`<urlset><url><loc>http://h/1</loc><priority>0,5</priority></url><url><loc>http://h/2</loc><priority>7</priority></url><url><loc>http://h/3</loc>
<priority>high</priority><changefreq>Sometimes</changefreq></url><url><loc>http://h/4</loc><priority>80%</priority><changefreq>DAILY</changefreq></url></urlset>`,
			"http://h/1 p0.50\nhttp://h/2 p1.00\nhttp://h/3\nhttp://h/4 p0.80 daily", URLs},
		"RSS 2.0": {head + `<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>T</title><link>http://h/</link><atom:link href="http://h/feed" rel="self"/>
<image><url>http://h/i.png</url><link>http://h/</link></image>
<item><title>A</title><link>http://h/a</link><pubDate>Tue, 10 Jun 2003 04:00:00 GMT</pubDate><guid isPermaLink="false">tag:1</guid></item>
<item><guid>http://h/b</guid><pubDate>Wed, 02 Oct 2002 15:00:00 +0200</pubDate></item><item><link/><guid isPermaLink="false">http://h/no</guid></item></channel></rss>`,
			"http://h/a 2003-06-10T04:00:00Z\nhttp://h/b 2002-10-02T13:00:00Z", RSS},
		"RSS 1.0": {`<rdf:RDF xmlns="http://purl.org/rss/1.0/"><channel rdf:about="http://h/"><link>http://h/</link></channel><item rdf:about="http://h/a"><title>t</title><dc:date>2004-02-03</dc:date></item></rdf:RDF>`,
			"http://h/a 2004-02-03T00:00:00Z", RSS},
		"Atom 1.0": {head + `<feed xmlns="http://www.w3.org/2005/Atom"><link href="http://h/"/><link rel="self" href="http://h/feed"/><entry><title>x</title>
<link rel="edit" href="http://h/edit"/><link href="http://h/a"/><updated>2003-12-13T18:30:02Z</updated><source><link href="http://other/"/></source></entry></feed>`,
			"http://h/a 2003-12-13T18:30:02Z", Atom},
		"Atom 0.3": {`<feed version="0.3" xmlns="http://purl.org/atom/ns#"><entry><link rel="alternate" type="text/html" href="http://h/a"/><issued>2003-12-13T08:29:29-04:00</issued>
<modified>2003-12-13T18:30:02Z</modified></entry></feed>`, "http://h/a 2003-12-13T18:30:02Z", Atom},
		"xml:base of RSS": {`<rss xml:base="http://h/x/"><channel><item><link>a</link></item><item><link>http://o/b|c</link></item></channel></rss>`, "http://h/x/a\nhttp://o/b|c", RSS},
		"xml:base of a feed, an entry and a link": {`<feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://h/x/"><entry xml:base="y/"><link href="a"/></entry>
<entry><link href="b"/></entry><entry><link xml:base="/z/" href="c"/></entry><entry><link href="http://o/d"/></entry></feed>`, "http://h/x/y/a\nhttp://h/x/b\nhttp://h/z/c\nhttp://o/d", Atom},
		"a list":                             {"\ufeffhttp://h/a\r\n\r\nHTTPS://h/b \nsee below\nhttp://h/c", "http://h/a\nHTTPS://h/b\nhttp://h/c", Text},
		"a list with carriage returns alone": {"http://h/a\rhttp://h/b\r", "http://h/a\nhttp://h/b", Text},
		"a warning in front":                 {"<br />\n<b>Warning</b>: x in /y.php on line <b>3</b><br />\n" + head + "<s:urlset xmlns:s='x'><s:url><s:loc>http://h/a</s:loc></s:url></s:urlset>", "http://h/a", URLs},
		"a text in front of an index":        {"Notice: x\n<sitemapindex><sitemap><loc>http://h/a</loc></sitemap></sitemapindex>", "sitemap http://h/a", Index},
		"HTML":                               {`<!DOCTYPE html><html><body><url><loc>http://h/a</loc></url></body></html>`, "", None},
		"a text":                             {"Not found. See http://h/a", "", None},
		"JSON":                               {`{"url":"http://h/a"}`, "", None},
		"nothing":                            {"", "", None},
		"a quote that is never closed":       {`<urlset a="x><url><loc>http://h/a</loc></url>` + strings.Repeat("x", 20<<10) + `><url><loc>http://h/b</loc></url></urlset>`, "http://h/b", URLs},
	} {
		got, result := read(t, []byte(c.body), nil)
		if got != c.want || result.Kind != c.kind {
			t.Errorf("%s: %q\n%s", name, result.Kind, cmp.Diff(c.want, got))
		}
	}
}

func TestPackedAndEncoded(t *testing.T) {
	const text = `<urlset><url><loc>http://h/straße</loc></url></urlset>`
	latin := append(append([]byte(`<?xml version="1.0" encoding="ISO-8859-1"?><urlset><url><loc>http://h/stra`), 0xdf), "e</loc></url></urlset>"...)
	wrong := `<?xml version="1.0" encoding="utf-16"?>` + text
	for name, body := range map[string][]byte{
		"plain": []byte(text), "gzip": packed(text), "gzip in gzip": packed(string(packed(text))), "latin 1": latin,
		"two members":   append(packed(text[:20]), packed(text[20:])...),
		"UTF-16 LE":     utf16Of(binary.LittleEndian, true, head+text),
		"UTF-16 BE":     utf16Of(binary.BigEndian, true, text),
		"without mark":  utf16Of(binary.LittleEndian, false, head+text),
		"a wrong label": []byte(wrong), "an unknown label": []byte(`<?xml version="1.0" encoding="klingon"?>` + text),
	} {
		if got, result := read(t, body, nil); got != "http://h/straße" || result.Outcome != Whole {
			t.Errorf("%s: %q, %+v", name, got, result)
		}
		if !Looks(body) {
			t.Errorf("%s does not look like a sitemap", name)
		}
	}
}

// What decides about the encoding: the mark, the declaration, the header, and then the bytes.
func TestEncodings(t *testing.T) {
	const declared = `<?xml version="1.0" encoding="windows-1251"?>`
	for name, c := range map[string]struct{ body, charset, want string }{
		"the declaration, in spite of the header": {declared + "<urlset><url><loc>http://h/\xe4</loc></url></urlset>", "utf-8", "http://h/д"},
		"the mark, in spite of the declaration":   {"\ufeff" + declared + "<urlset><url><loc>http://h/д</loc></url></urlset>", "koi8-r", "http://h/д"},
		"UTF-8, in spite of the header":           {head + "<urlset><url><loc>http://h/д</loc></url></urlset>", "koi8-r", "http://h/д"},
		"the header":                              {"<urlset><url><loc>http://h/\xe4</loc></url></urlset>", "Windows-1251", "http://h/д"},
		"the header, without a known declaration": {`<?xml version="1.0" encoding="klingon"?><urlset><url><loc>http://h/` + "\xc4</loc></url></urlset>", "koi8-r", "http://h/д"},
		"the header of a list":                    {"http://h/\x83A\nhttp://h/b", "shift_jis", "http://h/ア\nhttp://h/b"},
		"UTF-16 without a mark":                   {string(utf16Of(binary.LittleEndian, false, "http://h/д")), "utf-16le", "http://h/д"},
		"a header that says UTF-16 of ASCII":      {"http://h/a", "utf-16", "http://h/a"},
		"the default of a server, for UTF-8":      {"<urlset><url><loc>http://h/д</loc></url></urlset>", "ISO-8859-1", "http://h/д"},
		"the default of a server, for its own":    {"<urlset><url><loc>http://h/\xe4</loc></url></urlset>", "ISO-8859-1", "http://h/ä"},
		"no word, and no UTF-8":                   {"<urlset><url><loc>http://h/caf\xe9?q=\x80\x81</loc></url><url><loc>http://h/д</loc></url></urlset>", "", "http://h/café?q=€\u0081\nhttp://h/д"},
		"no word, and a list":                     {"http://h/caf\xe9\nhttp://h/\ufffd", "", "http://h/café\nhttp://h/\ufffd"},
		"no word, and attributes":                 {"<feed><entry><link href='http://h/caf\xe9'/></entry></feed>", "", "http://h/café"},
		"a wrong declaration":                     {head + "<urlset><url><loc>http://h/caf\xe9</loc></url></urlset>", "", "http://h/café"},
		"an encoding that must not be read":       {"http://h/a", "hz-gb-2312", "http://h/a"},
	} {
		if got, _ := read(t, []byte(c.body), func(o *Options) { o.Charset = c.charset }); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestLooks(t *testing.T) {
	for body, want := range map[string]bool{
		head + "<urlset>": true, "<x:sitemapindex ": true, "<rss><channel>": false, "<html><urlset>": false, "http://h/": false, "": false,
	} {
		if Looks([]byte(body)) != want {
			t.Errorf("%q: want %v", body, want)
		}
	}
	feed := []byte("<rss><item><link>http://h/</link></item></rss>")
	if got, result := read(t, feed, func(o *Options) { o.Lists = false }); got != "" || result.Kind != None {
		t.Errorf("a feed that is not expected to be a sitemap gives %q", got)
	}
}

// generated is a sitemap that is made while it is read.
func generated(entries int) []byte {
	var b bytes.Buffer
	b.WriteString(head + "<urlset>")
	for i := range entries {
		fmt.Fprintf(&b, "<url><loc>http://h/page/%d</loc><lastmod>2024-01-02</lastmod></url>\n", i)
	}
	b.WriteString("</urlset>")
	return b.Bytes()
}

// Files that are made to do harm, or that are broken, and how their reading ends.
func TestHostileSitemaps(t *testing.T) {
	bomb := packed(head + "<urlset><url><loc>http://h/a</loc></url>" + strings.Repeat(" ", 80<<20))
	nested := packed(string(packed(head + "<urlset><url><loc>http://h/a</loc></url>" + strings.Repeat("<url>", 20<<20))))
	laughs := `<!DOCTYPE lolz [<!ENTITY lol "lol">` + strings.Repeat(`<!ENTITY l "&lol;&lol;&lol;">`, 1000) + `]><urlset><url><loc>http://h/&l;</loc></url></urlset>`
	outside := `<!DOCTYPE urlset [<!ENTITY x SYSTEM "file:///etc/passwd">]><urlset><url><loc>http://h/&x;</loc></url></urlset>`
	broken := packed(string(generated(10_000)))
	damaged := bytes.Clone(broken)
	damaged[len(damaged)/2] ^= 0xff
	for name, c := range map[string]struct {
		body    []byte
		entries int
		outcome Outcome
	}{
		"a bomb of gzip":              {bomb, 1, TooLarge},
		"a bomb in a bomb":            {nested, 1, TooLarge},
		"a million entries":           {generated(1_000_000), 50_000, TooMany},
		"fifty thousand":              {generated(50_000), 50_000, Whole},
		"entities of entities":        {[]byte(laughs), 1, Whole},
		"an entity outside":           {[]byte(outside), 1, Whole},
		"gzip that ends early":        {broken[:len(broken)/2], -1, Cut},
		"gzip that is damaged":        {damaged, -1, Cut},
		"gzip without anything":       {[]byte{0x1f, 0x8b}, 0, NoSitemap},
		"a comment without end":       {[]byte("<urlset><url><loc>http://h/a</loc></url><!--" + strings.Repeat("-", 1<<20)), 1, Cut},
		"CDATA without end":           {[]byte("<urlset><url><loc>http://h/a</loc></url><url><loc><![CDATA[" + strings.Repeat("]", 1<<20)), 2, Cut},
		"a document type without end": {[]byte("<!DOCTYPE " + strings.Repeat("[", 1<<20)), 0, NoSitemap},
		"a tag without end":           {[]byte("<urlset><url><loc>http://h/a</loc></url><" + strings.Repeat("a", 1<<20)), 1, Cut},
		"attributes without end":      {[]byte("<urlset " + strings.Repeat(`a="b" `, 1<<18) + "><url><loc>http://h/a</loc></url></urlset>"), 1, Whole},
		"deep":                        {[]byte("<urlset>" + strings.Repeat("<a>", 1<<20) + "<url><loc>http://h/a</loc></url>"), 1, Cut},
		"a URL of a megabyte":         {[]byte("<urlset><url><loc>http://h/" + strings.Repeat("a", 1<<20) + "</loc></url><url><loc>http://h/b</loc></url></urlset>"), 2, Whole},
		"a line of a megabyte":        {[]byte("http://h/a\n" + strings.Repeat("x", 1<<20) + "\nhttp://h/b"), 1, Cut},
		"a page in a hundred tongues": {[]byte("<urlset><url><loc>http://h/a</loc>" + strings.Repeat(`<xhtml:link rel="alternate" href="http://h/x"/>`, 10_000) + "</url></urlset>"), 1, Whole},
		"no entries":                  {[]byte("<urlset></urlset>"), 0, Empty},
		"zeros":                       {make([]byte, 1<<20), 0, NoSitemap},
		"bytes that are no UTF-8":     {[]byte("<urlset><url><loc>http://h/\xff\xfe\x80</loc></url></urlset>"), 1, Whole},
	} {
		entries := 0
		result := Read(c.body, DefaultOptions(), func(e *Entry) {
			entries++
			if n := len(e.Alternates); n > maxReferences {
				t.Errorf("%s: an entry with %d references", name, n)
			}
			if len(e.Loc) > markup.MaxTextBytes || strings.Contains(e.Loc, "lollol") || strings.Contains(e.Loc, "root:") || strings.Contains(e.Loc, "\xff") {
				t.Errorf("%s: %.60q", name, e.Loc)
			}
		})
		if result.Outcome != c.outcome || c.entries >= 0 && entries != c.entries || c.entries < 0 && (entries < 100 || entries > 9_900) {
			t.Errorf("%s: %d entries and %+v, want %d and %s", name, entries, result, c.entries, c.outcome)
		}
	}
}

// A sitemap of 50 MB that is packed costs the memory of an entry.
func TestMemoryIsConstant(t *testing.T) {
	body := packed(head + "<urlset>" + strings.Repeat("<url><loc>http://h/a</loc>"+strings.Repeat("<x>text</x>", 90)+"</url>\n", 48_000) + "</urlset>")
	var before, after runtime.MemStats
	most := uint64(0)
	runtime.GC()
	runtime.ReadMemStats(&before)
	n := 0
	result := Read(body, DefaultOptions(), func(*Entry) {
		if n++; n%5000 == 0 {
			runtime.GC()
			runtime.ReadMemStats(&after)
			most = max(most, after.HeapAlloc-min(after.HeapAlloc, before.HeapAlloc))
		}
	})
	if result.Entries != 48_000 || result.Outcome != Whole || most > 4<<20 || most == math.MaxUint64 {
		t.Errorf("%+v with %d bytes of memory", result, most)
	}
}

func BenchmarkRead(b *testing.B) {
	body := generated(50_000)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		Read(body, DefaultOptions(), func(*Entry) {})
	}
}
