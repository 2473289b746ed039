package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
)

const (
	opendocument = "application/vnd.oasis.opendocument."
	openxml      = "application/vnd.openxmlformats-officedocument."
	reportSays   = `"title":"Weaving for beginners","author":"Ada Weaver","description":"What warp and weft are.",`
)

// officeFiles are what LibreOffice and libraries of Python wrote. LibreOffice wrote the references, too.
func officeFiles(t *testing.T) []webFile {
	report := func(kind, media, want string) webFile {
		return webFile{
			path: "/files/report." + kind, media: media, body: fromDisk(t, "office/testdata/report."+kind), want: want, words: "office/testdata/reference/report." + kind + ".txt",
			links: []string{"https://example.com/looms?a=1&b=2", "http://example.org/ende"},
		}
	}
	python := func(kind, media, want string, links ...string) webFile {
		return webFile{path: "/files/python." + kind, media: media, body: fromDisk(t, "office/testdata/python."+kind), want: want, links: links}
	}
	other := func(name, media, want string, links ...string) webFile {
		return webFile{path: "/files/" + name, media: media, body: fromDisk(t, "office/testdata/"+name), want: want, words: "office/testdata/reference/" + name + ".txt", links: links}
	}
	headings := `"headings":[{"level":1,"text":"Warp and weft"},{"level":2,"text":"A table"}]`
	return []webFile{
		report("odt", opendocument+"text", `{`+reportSays+`"keywords":"loom, thread","date":"2024-02-01T10:20:30","modified":"2025-03-04T05:06:07","language":"en-GB","pages":1,`+headings+`}`),
		report("docx", openxml+"wordprocessingml.document", `{`+reportSays+`"date":"2024-02-01T10:20:30Z","modified":"2025-03-04T05:06:07Z",`+headings+`}`),
		report("rtf", "application/rtf", `{`+reportSays+`"date":"2024-02-01T10:20","modified":"2025-03-04T05:06",`+headings+`}`),
		other("numbers.ods", opendocument+"spreadsheet", `{"title":"Prices of thread","pages":2}`, "https://example.com/wool"),
		other("numbers.xlsx", openxml+"spreadsheetml.sheet", `{"title":"Prices of thread","pages":2}`),
		other("talk.odp", opendocument+"presentation", `{"title":"A talk on looms","pages":2}`, "https://example.com/talk"),
		other("talk.pptx", openxml+"presentationml.presentation", `{"title":"A talk on looms","pages":2}`),
		python("epub", "application/epub+zip", `{"unparsed":null,"fallback":null}`),
		python("docx", "application/zip", `{"title":"Made by python-docx","author":"Cy","keywords":"a, b"}`, "https://example.com/docx"),
		python("pptx", "application/octet-stream", `{"title":"Made by python-pptx","author":"Cy","pages":2}`, "https://example.com/pptx"),
		python("xlsx", openxml+"spreadsheetml.sheet", `{"unparsed":null,"fallback":null}`),
		{path: "/files/encrypted.docx", media: openxml + "wordprocessingml.document", body: fromDisk(t, "office/testdata/encrypted.docx"), want: `{"unparsed":"encrypted","text":null}`},
	}
}

func pdfFiles(t *testing.T) (files []webFile) {
	for name, want := range map[string]string{
		"report": `{"title":"Weaving for beginners","author":"Ada Weaver","description":"Looms","keywords":"loom, thread","date":"2026-11-24T18:06:30Z","pages":1}`, "talk": `{"title":"A talk on looms","pages":2}`, "refcard-de": `{"pages":2,"detected_language":"de"}`,
		"encrypted": `{"unparsed":"encrypted","text":null}`, "protected": `{"unparsed":null,"fallback":null}`,
	} {
		f := webFile{path: "/files/" + name + ".pdf", media: "application/pdf", body: fromDisk(t, "pdf/testdata/"+name+".pdf"), want: want}
		if name == "talk" {
			f.words, f.media = "pdf/testdata/reference/talk.txt", ""
		}
		files = append(files, f)
	}
	return files
}

// imageFiles are what Pillow and libheif wrote.
func imageFiles(t *testing.T) (files []webFile) {
	const exif = `"description":"A circle and a square","author":"Ann Author",`
	for _, c := range []struct{ name, media, more, image string }{
		{"picture.jpeg", "image/jpeg", exif + `"date":"2024-05-06T07:08:09+02:00",`, `"width":96,"height":64,"orientation":6,"camera":"Maker M1","copyright":"2024 Ann","place":null`},
		{"picture.png", "image/png", exif, `"width":96,"height":64,"orientation":6`},
		{"picture.webp", "image/webp", exif, `"width":96,"height":64,"camera":"Maker M1"`},
		{"picture.gif", "image/gif", "", `"width":96,"height":64`},
		{"picture.bmp", "image/bmp", "", `"width":96,"height":64`},
		{"picture.tiff", "image/tiff", exif, `"width":96,"height":64`},
		{"picture.avif", "image/avif", exif, `"width":64,"height":96`},
		{"picture.ico", "image/vnd.microsoft.icon", "", `"width":64,"height":43`},
	} {
		format := strings.TrimPrefix(filepath.Ext(c.name), ".")
		files = append(files, webFile{
			path: "/images/" + c.name, media: c.media, body: fromDisk(t, "image/testdata/"+c.name),
			want: fmt.Sprintf(`{%s"unparsed":null,"text":null,"image":{"format":%q,%s}}`, c.more, format, c.image),
		})
	}
	return append(files, webFile{
		path: "/images/drawing.svg", media: "image/svg+xml", body: `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 480"><title>A loom</title><desc>drawn</desc></svg>`,
		want: `{"title":"A loom","description":"drawn","image":{"format":"svg","width":640,"height":480}}`,
	})
}

// plainFiles are texts with a structure, and what has none.
func plainFiles() []webFile {
	return []webFile{
		{
			path: "/plain/readme.md", media: "text/markdown", body: "---\nauthor: Ann\ndate: 2026-01-02\n---\n# A loom\n\nIt has [a part](/plain/part.html) and ![a picture](/images/picture.png).\n\n## Use\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
			want:  `{"title":"A loom","author":"Ann","date":"2026-01-02","structure":{"format":"markdown"},"headings":[{"level":1,"text":"A loom"},{"level":2,"text":"Use"}]}`,
			links: []string{"/plain/part.html", "/images/picture.png"},
		},
		{path: "/plain/data.json", media: "application/json", body: `{"name":"loom","at":"https://elsewhere.example/json"}`, want: `{"structure":{"format":"json","values":1}}`, links: []string{"https://elsewhere.example/json"}},
		{path: "/plain/data.jsonl", media: "application/x-ndjson", body: "{\"a\":1}\n{\"b\":\"https://elsewhere.example/l\"}\n", want: `{"structure":{"format":"json_lines","values":2}}`, links: []string{"https://elsewhere.example/l"}},
		{path: "/plain/data.csv", media: "text/csv", body: "name,page\nloom,https://elsewhere.example/csv\n", want: `{"structure":{"format":"csv","columns":["name","page"],"values":2}}`, links: []string{"https://elsewhere.example/csv"}},
		{path: "/plain/main.go", media: "text/plain", body: "package main\n\n// main is at https://elsewhere.example/go\nfunc main() {}\n", want: `{"structure":{"format":"code","programming_language":"Go"}}`},
		{path: "/plain/notes", media: "text/plain", body: "See https://elsewhere.example/txt for more.\n", want: `{"structure":null,"text":"See https://elsewhere.example/txt for more."}`, links: []string{"https://elsewhere.example/txt"}},
		{path: "/plain/part.html", media: "text/html", body: "<title>A part</title>", want: `{"title":"A part"}`},
		{path: "/plain/sound.ogg", media: "audio/ogg", body: "OggS\x00\x02", want: `{"unparsed":"unsupported_type","body_bytes":6,"body_sha256":"5a2dcb25056e4bcec4700acf3af6291e0ee6377ba3f6562a637a50cf6b2eecdb"}`},
	}
}

// languageFiles are pages in every language of the labelled texts, some without a statement of
// their charset.
func languageFiles(t *testing.T) (files []webFile) {
	legacy := map[string]struct {
		encoding encoding.Encoding
		charset  string
	}{
		"ru": {charmap.Windows1251, "windows-1251"}, "uk": {charmap.KOI8U, "koi8-u"}, "el": {charmap.Windows1253, "windows-1253"},
		"ja": {japanese.ShiftJIS, "shift_jis"}, "ko": {korean.EUCKR, "euc-kr"}, "de": {charmap.Windows1252, "windows-1252"},
	}
	seen := map[string]bool{}
	for line := range strings.Lines(fromDisk(t, "language/testdata/texts.txt")) {
		name, text, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok || seen[name] || strings.HasPrefix(line, "#") {
			continue
		}
		seen[name] = true
		code, _, _ := strings.Cut(name, "-")
		page := "<!doctype html><title>" + name + "</title><p>" + text
		files = append(files, webFile{path: "/languages/" + name + ".html", media: "text/html; charset=utf-8", body: page, want: fmt.Sprintf(`{"charset":"utf-8","detected_language":%q}`, code)})
		if l := legacy[name]; l.encoding != nil {
			body, err := encoding.ReplaceUnsupported(l.encoding.NewEncoder()).String(page)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, webFile{path: "/undeclared/" + name + ".html", media: "text/html", body: body, want: fmt.Sprintf(`{"charset":%q,"detected_language":%q}`, l.charset, code)})
		}
	}
	return files
}

// pageFiles are HTML pages: with directives, for rules, with a main text, and feeds.
func pageFiles(t *testing.T) []webFile {
	return []webFile{
		{
			path: "/pages/directives.html", media: "text/html", body: `<title>D</title><meta name=robots content=noarchive><meta name=tdm-reservation content=1>`,
			header: [][2]string{{"X-Robots-Tag", "otherbot: noai"}, {"Content-Usage", "search=y"}},
			want: `{"robots":{"noarchive":true,"noindex":false},"usage":{"search":"y","tdm":"n","train-ai":"n"},"directives":[{"source":"header","field":"x-robots-tag","agent":"otherbot","value":"noai"},` +
				`{"source":"header","field":"content-usage","value":"search=y"},{"source":"robots.txt","field":"content-usage","value":"train-ai=n"},` +
				`{"source":"meta","field":"robots","value":"noarchive"},{"source":"meta","field":"tdm-reservation","value":"1"}]}`,
		},
		{
			path: "/shop/loom.html", media: "text/html", body: `<title>L</title><h1>A loom</h1><p class=price>1.299,00 €</p><img class=p src=/images/picture.png><p class=since>31.12.2025</p>`,
			want: `{"fields_by":"shop","fields":{"title":"A loom","price":{"amount":"1299.00","currency":"EUR"},"image":"ORIGIN/images/picture.png","since":"2025-12-31"},"field_errors":[{"field":"sku","error":"missing"}]}`,
		},
		{
			path: "/article/warp.html", media: "text/html", body: fromDisk(t, "article/testdata/page.html"),
			want: fmt.Sprintf(`{"main_unparsed":null,"main_text":%q}`, strings.TrimSpace(fromDisk(t, "article/testdata/page.txt"))),
		},
		{
			path: "/pages/gallery.html", media: "text/html", body: `<title>G</title><figure><img src=/images/picture.jpeg alt="A circle"><figcaption>Drawn by Ann</figcaption></figure><a href=/plain/sound.ogg>sound</a>`,
			want: `{"links":[{"url":"ORIGIN/images/picture.jpeg","text":"A circle","caption":"Drawn by Ann","kind":"image"},{"url":"ORIGIN/plain/sound.ogg","text":"sound","kind":"a"}]}`,
		},
		{path: "/pages/private.html", media: "text/html", body: "<title>P</title>", header: [][2]string{{"X-Robots-Tag", "noindex, nofollow"}}, want: `{"robots":{"noindex":true,"nofollow":true}}`},
		{
			path: "/feeds/news.rss", media: "application/rss+xml",
			body: `<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>News</title><link>ORIGIN/</link><atom:link rel="hub" href="https://hub.example/"/><item><title>One</title><link>ORIGIN/feeds/1.html</link><pubDate>Thu, 01 Jan 2026 10:00:00 GMT</pubDate></item></channel></rss>`,
			want: `{"title":"News","feed":{"kind":"rss","hubs":["https://hub.example/"],"entries":[{"url":"ORIGIN/feeds/1.html","title":"One","date":"Thu, 01 Jan 2026 10:00:00 GMT"}]}}`,
		},
		{
			path: "/feeds/news.atom", media: "application/atom+xml",
			body: `<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="fr"><title>Journal</title><author><name>Ann</name></author><updated>2026-01-02T03:04:05Z</updated><entry><id>urn:1</id><title>Un</title><link href="ORIGIN/feeds/2.html"/><summary>Bref</summary></entry></feed>`,
			want: `{"title":"Journal","author":"Ann","language":"fr","text":"Un\nBref","feed":{"kind":"atom","entries":[{"url":"ORIGIN/feeds/2.html","id":"urn:1","title":"Un","summary":"Bref"}]}}`,
		},
		{path: "/feeds/news.json", media: "application/feed+json", body: `{"version":"https://jsonfeed.org/version/1.1","title":"J","items":[{"id":"1","url":"ORIGIN/feeds/3.html","title":"Three"}]}`, want: `{"title":"J","feed":{"kind":"json"}}`, links: []string{"/feeds/3.html"}},
		{path: "/feeds/1.html", media: "text/html", body: "<title>1</title>"},
		{path: "/feeds/2.html", media: "text/html", body: "<title>2</title>"},
		{path: "/feeds/3.html", media: "text/html", body: "<title>3</title>"},
		{path: "/maps/rss.html", media: "text/html", body: "<title>of a map in RSS</title>"},
		{path: "/maps/atom.html", media: "text/html", body: "<title>of a map in Atom</title>"},
		{path: "/maps/third.html", media: "text/html", body: "<title>of the third index</title>"},
		{path: "/maps/fr.html", media: "text/html", body: "<title>une autre langue</title>"},
		{path: "/maps/news.html", media: "text/html", body: "<title>of a map of news</title>"},
	}
}

// sitemapFiles are the sitemaps of a web: of each kind one, which together name all files but those
// that only a feed or a page names.
func sitemapFiles(files []webFile) []webFile {
	var packed []string
	var list strings.Builder
	for _, f := range files {
		switch folder := strings.Split(f.path, "/")[1]; folder {
		case "files", "images", "languages":
			more := "<lastmod>2026-01-02</lastmod><priority>0.7</priority>"
			if f.path == "/images/picture.png" {
				continue // an entry below has it
			}
			packed = append(packed, entry(f.path, more))
		case "feeds", "maps":
			if strings.Contains(f.path, "/news.") && folder == "feeds" {
				fmt.Fprintf(&list, "ORIGIN%s\n", f.path)
			}
		default:
			if f.path != "/plain/sound.ogg" { // the gallery links to it
				fmt.Fprintf(&list, "ORIGIN%s\r\n", f.path)
			}
		}
	}
	packed = append(packed,
		entry("/plain/part.html", `<image:image><image:loc>ORIGIN/images/picture.png</image:loc></image:image>`),
		entry("/maps/third.html", `<xhtml:link rel="alternate" hreflang="fr" href="ORIGIN/maps/fr.html"/>`))
	index := func(paths ...string) string {
		return "<sitemapindex><sitemap><loc>ORIGIN" + strings.Join(paths, "</loc></sitemap><sitemap><loc>ORIGIN") + "</loc></sitemap></sitemapindex>"
	}
	return []webFile{
		{path: "/robots.txt", media: "text/plain", body: "User-agent: *\nContent-Usage: /pages/directives train-ai=n\nDisallow: /hidden/\nSitemap: ORIGIN/index.xml\nSitemap: ORIGIN/list.txt\n"},
		{path: "/index.xml", media: "application/xml", body: index("/second.xml", "/packed.xml.gz", "/map.rss", "/map.atom")},
		{path: "/second.xml", media: "text/xml", body: index("/third.xml")},
		{path: "/third.xml", media: "text/xml", body: index("/deep.xml")},
		{path: "/deep.xml", media: "text/xml", body: urlset(entry("/maps/third.html", ""), entry("/maps/news.html", "<news:news><news:publication_date>2026-01-01</news:publication_date><news:title>N</news:title></news:news>"), entry("/hidden/x.html", ""))},
		{path: "/packed.xml.gz", media: "application/gzip", body: urlset(packed...)},
		{path: "/list.txt", media: "text/plain", body: list.String()},
		{path: "/map.rss", media: "application/rss+xml", body: "<rss><channel><item><link>ORIGIN/maps/rss.html</link></item></channel></rss>"},
		{path: "/map.atom", media: "application/atom+xml", body: `<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="ORIGIN/maps/atom.html"/></entry></feed>`},
		{path: "/hidden/x.html", media: "text/html", body: "robots.txt forbids it"},
	}
}

const shopRules = `match: {urls: ['/shop/']}
fields:
  title: h1
  sku: {select: .sku, required: true}
  price: {select: .price, type: money}
  image: {select: img.p, attr: src, type: url}
  since: {select: .since, type: date, formats: [DD.MM.YYYY]}
`

// TestFormats crawls a web with a file of every format that Weft reads. Only sitemaps, feeds and a
// page name them. Every one has a record, which is as its reference says and follows the schema.
func TestFormats(t *testing.T) {
	if testing.Short() {
		t.Skip("crawls 90 files, and starts PDFium")
	}
	t.Parallel()
	files := slices.Concat(officeFiles(t), pdfFiles(t), imageFiles(t), plainFiles(), languageFiles(t), pageFiles(t))
	files = append(files, webFile{path: "/", media: "text/html", body: "<title>Home</title>", want: `{"title":"Home","links":[]}`})
	web := serveFiles(t, append(sitemapFiles(files), files...))
	rules := filepath.Join(t.TempDir(), "shop.yaml")
	if err := os.WriteFile(rules, []byte(shopRules), 0o600); err != nil {
		t.Fatal(err)
	}
	_, records := web.crawlFiles(t, "--follow-links", "a,alternate,image,feed", "--accept", "audio/*", "--accept", "application/zip", "--main-text", "--markdown", "--rules", rules)
	for _, f := range files {
		web.check(t, f, records[f.path])
		delete(records, f.path)
	}
	for path := range records {
		t.Errorf("%s has a record, and should have none", path)
	}
	slices.Sort(web.asked)
	for i, path := range web.asked {
		if i > 0 && path == web.asked[i-1] {
			t.Errorf("%s was asked for twice", path)
		}
		if strings.HasPrefix(path, "/hidden/") {
			t.Errorf("%s was asked for, and robots.txt forbids it", path)
		}
	}
}

// loopingPDF is a PDF whose form shows itself, until PDFium has no more memory. Each number makes
// another file.
func loopingPDF(number int) string {
	form := "/Type/XObject/Subtype/Form/BBox[0 0 600 800]/Resources<</XObject<</X 4 0 R>>>>"
	return fmt.Sprintf("%%PDF-1.7\n%%%d\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n2 0 obj\n<</Type/Pages/Kids[3 0 R]/Count 1>>\nendobj\n"+
		"3 0 obj\n<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 5 0 R/Resources<</XObject<</X 4 0 R>>>>>>\nendobj\n"+
		"4 0 obj\n<<%s/Length 11>>\nstream\n/X Do /X Do\nendstream\nendobj\n5 0 obj\n<</Length 5>>\nstream\n/X Do\nendstream\nendobj\ntrailer\n<</Root 1 0 R>>\nstartxref\n0\n%%%%EOF\n", number, form)
}

// TestBadFilesBesideGoodPages crawls files that are made to hurt, and then pages. Each bad file has
// its named outcome. The pages are all there, in front of the last of the files that take long.
func TestBadFilesBesideGoodPages(t *testing.T) {
	if testing.Short() {
		t.Skip("starts PDFium, and reads files that take seconds")
	}
	t.Parallel()
	const slow, good = 2, 30
	var files []webFile
	for i := range slow {
		files = append(files, webFile{path: fmt.Sprintf("/slow/%d.pdf", i), media: "application/pdf", body: loopingPDF(i), want: `{"unparsed":"too_costly"}`})
	}
	docx, png := fromDisk(t, "office/testdata/report.docx"), fromDisk(t, "image/testdata/picture.png")
	files = append(files,
		webFile{path: "/bad/deep.html", media: "text/html", body: strings.Repeat("<div>", 100_000), want: `{"fallback":"too_deep"}`},
		webFile{path: "/bad/deep.json", media: "application/json", body: strings.Repeat("[", 100_000), want: `{"structure":{"format":"json","wrong":"too_deep"}}`},
		webFile{path: "/bad/endless.csv", media: "text/csv", body: "a,b\n" + strings.Repeat("x,", 1<<20), want: `{"structure":{"format":"csv","wrong":"cut"}}`},
		webFile{path: "/bad/half.docx", media: openxml + "wordprocessingml.document", body: docx[:len(docx)/2], want: `{"fallback":"damaged"}`},
		webFile{path: "/bad/none.docx", media: openxml + "wordprocessingml.document", body: "<html>", want: `{"unparsed":"unsupported_type"}`},
		webFile{path: "/bad/half.png", media: "image/png", body: png[:100], want: `{"unparsed":"damaged"}`},
		webFile{path: "/bad/bomb.rss", media: "application/rss+xml", body: `<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><rss><channel><title>&b;</title></channel></rss>`, want: `{"title":"&b;","feed":{"kind":"rss"}}`},
	)
	for i := range good {
		files = append(files, webFile{path: fmt.Sprintf("/good/%d.html", i), media: "text/html", body: fmt.Sprintf("<title>Page %d</title>", i), want: fmt.Sprintf(`{"title":"Page %d","unparsed":null,"fallback":null}`, i)})
	}
	var home strings.Builder
	for _, f := range files {
		fmt.Fprintf(&home, "<a href=%s>x</a> ", f.path)
	}
	web := serveFiles(t, append(files, webFile{path: "/", media: "text/html", body: home.String()}))
	records, members := web.crawlFiles(t, "--partitions", "1", "--sitemaps", "off", "--accept", "image/*")
	for _, f := range files {
		web.check(t, f, members[f.path])
	}
	place := map[string]int{} // of the last record whose path begins so
	for i, r := range records {
		folder, _, _ := strings.Cut(strings.TrimPrefix(r.URL, web.origin+"/"), "/")
		place[folder] = i
	}
	if place["good"] > place["slow"] {
		t.Errorf("record %d is that of a page, and the last of the slow files is record %d: pages waited for them", place["good"], place["slow"])
	}
	last := slices.Index(web.asked, fmt.Sprintf("/slow/%d.pdf", slow-1))
	if first := slices.IndexFunc(web.asked, func(path string) bool { return strings.HasPrefix(path, "/good/") }); first < last {
		t.Errorf("a page was asked for in front of a slow file, so the order of the records shows nothing: %v", web.asked)
	}
}
