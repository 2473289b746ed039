package document

import (
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/mediatype"
)

// Documents of testdata/pages show the encodings; here is what decides between
// them and what is left alone.
func TestDecode(t *testing.T) {
	for _, test := range []struct {
		name, body, contentType string
		truncated               bool
		text, charset           string
	}{
		{name: "empty", text: "", charset: "windows-1252"},
		{name: "ASCII", body: "plain", text: "plain", charset: "windows-1252"},
		{name: "header over meta", body: "<meta charset=koi8-r>\xe9", contentType: "text/html; charset=latin1", text: "<meta charset=koi8-r>é", charset: "windows-1252"},
		{name: "mark over header", body: "\xef\xbb\xbfé", contentType: "text/html;charset=koi8-r", text: "é", charset: "utf-8"},
		{name: "meta is believed", body: "<meta charset=latin1>é", text: "<meta charset=latin1>Ã©", charset: "windows-1252"},
		{name: "meta beyond the first kilobyte", body: strings.Repeat(" ", 1024) + "<meta charset=koi8-r>\xe9", text: strings.Repeat(" ", 1024) + "<meta charset=koi8-r>И", charset: "koi8-r"},
		{name: "there, of a page in ASCII", body: strings.Repeat(" ", 1024) + "<meta charset=utf-8>", text: strings.Repeat(" ", 1024) + "<meta charset=utf-8>", charset: "utf-8"},
		{name: "there, of a page in UTF-8", body: strings.Repeat(" ", 1024) + "<meta charset=koi8-r>é", text: strings.Repeat(" ", 1024) + "<meta charset=koi8-r>é", charset: "utf-8"},
		{name: "there, of a page cut in UTF-8", body: strings.Repeat(" ", 1024) + "<meta charset=koi8-r>é\xe2\x80", truncated: true, text: strings.Repeat(" ", 1024) + "<meta charset=koi8-r>é", charset: "utf-8"},
		{name: "there, of a page all but in UTF-8", body: strings.Repeat(" ", 1024) + "<meta charset=utf-8>é\xe9", text: strings.Repeat(" ", 1024) + "<meta charset=utf-8>é\uFFFD", charset: "utf-8"},
		{name: "there, and named in the header", body: strings.Repeat(" ", 1024) + "<meta charset=koi8-r>\xe9", contentType: "text/html; charset=latin1", text: strings.Repeat(" ", 1024) + "<meta charset=koi8-r>é", charset: "windows-1252"},
		{name: "broken parameters", body: "\xe9", contentType: "text/html; =; x; CHARSET=\"ISO-8859-2\" ; y", text: "é", charset: "iso-8859-2"},
		{name: "UTF-16 declared by meta", body: "<meta charset=utf-16>é", text: "<meta charset=utf-16>é", charset: "utf-8"},
		{name: "UTF-16 declared by XML", body: `<?xml version="1.0" encoding="UTF-16"?>é`, text: `<?xml version="1.0" encoding="UTF-16"?>é`, charset: "utf-8"},
		{name: "cut within a character", body: "é\xe2\x80", contentType: "text/html; charset=utf-8", truncated: true, text: "é", charset: "utf-8"},
		{name: "not cut", body: "é\xe2\x80", contentType: "text/html; charset=utf-8", text: "é\uFFFD", charset: "utf-8"},
		{name: "cut, no charset named", body: strings.Repeat(" ", 1024) + "é\xe2\x80", truncated: true, text: strings.Repeat(" ", 1024) + "é", charset: "utf-8"},
		{name: "odd UTF-16", body: "\xff\xfea\x00b", text: "a\uFFFD", charset: "utf-16le"},
		{name: "escape in ASCII", body: "\x1b$B$\"\x1b(B", contentType: "text/html; charset=iso-2022-jp", text: "あ", charset: "iso-2022-jp"},
		{name: "escapes that nothing declares", body: "<p>\x1b$B$\"$$$&$(\x1b(B</p>", contentType: "text/html", text: "<p>あいうえ</p>", charset: "iso-2022-jp"},
		{name: "an escape that is none of Japanese", body: "\x1b[1mbold\x1b[0m", contentType: "text/html", text: "\x1b[1mbold\x1b[0m", charset: "windows-1252"},
		{name: "backslash in the Roman state", body: "\x1b(J\x5c\x7e\x1b(B", contentType: "text/html; charset=iso-2022-jp", text: `\~`, charset: "iso-2022-jp"},
		{name: "GBK is read as GB18030", body: "\x94\x39\xfc\x36", contentType: "text/html; charset=gb2312", text: "😀", charset: "gbk"},
		{name: "controls of windows-1252", body: "a\x81\x8d\x80", contentType: "text/html; charset=latin1", text: "a\u0081\u008d€", charset: "windows-1252"},
		{name: "no character of windows-1253", body: "\x81\xaa", contentType: "text/html; charset=windows-1253", text: "\u0081\uFFFD", charset: "windows-1253"},
		{name: "logical Hebrew", body: "\xf9\x80\xa1", contentType: "text/html; charset=logical", text: "ש\u0080\uFFFD", charset: "iso-8859-8-i"},
		{name: "attack by encoding", body: "<script>", contentType: "text/html; charset=hz-gb-2312", text: "\uFFFD", charset: "replacement"},
	} {
		t.Run(test.name, func(t *testing.T) {
			text, charset := decode([]byte(test.body), hint{label: mediatype.Of(test.contentType).Charset, truncated: test.truncated})
			if string(text) != test.text || charset != test.charset {
				t.Errorf("got %q in %s, want %q in %s", text, charset, test.text, test.charset)
			}
		})
	}
}

// TestDecodeKeepsBytes checks that bodies which are UTF-8 already are not copied.
func TestDecodeKeepsBytes(t *testing.T) {
	for contentType, body := range map[string]string{
		"text/html; charset=utf-8":        "<p>é",
		"text/html; charset=windows-1251": "<p>ASCII",
		"text/html":                       "<p>ASCII",
		"text/plain":                      "é",
	} {
		in := []byte(body)
		if out, _ := decode(in, hint{label: mediatype.Of(contentType).Charset}); &out[0] != &in[0] {
			t.Errorf("%s: %q was copied", contentType, body)
		}
	}
}

func TestMediaType(t *testing.T) {
	for _, test := range []struct {
		contentType, body, want string
		kind                    mediaKind
	}{
		{"text/html", "", "text/html", mediaHTML},
		{"TEXT/HTML; charset=utf-8", "", "text/html", mediaHTML},
		{"application/xhtml+xml", "", "application/xhtml+xml", mediaHTML},
		{"text/html, text/html", "", "text/html", mediaHTML},
		{"text/plain", "<html>", "text/plain", mediaPlain},
		{"application/json", "<html>", "application/json", mediaOther},
		{"application/pdf", "", "application/pdf", mediaOther},
		{"", " \n<!DOCTYPE HTML><p>", "text/html", mediaHTML},
		{"", "<p>a paragraph", "text/html", mediaHTML},
		{"", "some words", "text/plain", mediaPlain},
		{"", "\x89PNG\x0d\x0a\x1a\x0a", "image/png", mediaOther},
		{"", "\x00\x01\x02", "application/octet-stream", mediaOther},
		{"application/octet-stream", "<!doctype html><p>", "text/html", mediaHTML},
		{"binary/octet-stream", "<?xml version='1.0'?>\n<!DOCTYPE html PUBLIC ''>", "text/html", mediaHTML},
		{"application/octet-stream", "<?xml version='1.0'?>\n<html xmlns='http://www.w3.org/1999/xhtml'>", "text/html", mediaHTML},
		{"application/octet-stream", "\ufeff\r\n<!DOCTYPE html><p>", "text/html", mediaHTML},
		{"application/octet-stream", "\ufeffsome words", "application/octet-stream", mediaOther},
		{"application/octet-stream", "<?xml version='1.0'?><rss>", "application/octet-stream", mediaOther},
		{"application/octet-stream", "<?xml version='1.0'", "application/octet-stream", mediaOther},
		{"application/octet-stream", "\x00\x01\x02", "application/octet-stream", mediaOther},
		{"application/xml", "<?xml version='1.0'?>\n<!-- a --><?xml-stylesheet href='b'?>\n<html xmlns='http://www.w3.org/1999/xhtml'>", "application/xhtml+xml", mediaHTML},
		{"text/xml; charset=utf-8", "\ufeff<!DOCTYPE html PUBLIC ''><html>", "application/xhtml+xml", mediaHTML},
		{"", "<?xml version='1.0'?><html>", "application/xhtml+xml", mediaHTML},
		{"text/html charset=utf-8", "<?xml version='1.0'?><html>", "application/xhtml+xml", mediaHTML},
		{"application/vnd.wap.xhtml+xml", "<?xml version='1.0'?><!DOCTYPE html PUBLIC ''><html>", "application/xhtml+xml", mediaHTML},
		{"image/svg+xml", "<svg>", "image/svg+xml", mediaOther},
		{"application/xml", "<!-- html --><rss><channel>", "application/xml", mediaOther},
		{"text/xml", "<?xml version='1.0'?><svg>", "text/xml", mediaOther},
		{"application/xml", "", "application/xml", mediaOther},
		{"html", "<html>", "text/html", mediaHTML},
		{"text/plain", "\x1f\x8b\x08\x00\x01\x02", "application/octet-stream", mediaOther},
		{"text/plain; charset=UTF-8", "\x7fELF\x02\x01\x01\x00", "application/octet-stream", mediaOther},
		{"text/plain; charset=utf-16", "\x0e\x4e\x01\x4e", "text/plain", mediaPlain},
		{"text/plain", "\xff\xfe\x0e\x4e\x01\x4e", "text/plain", mediaPlain},
		{"text/plain", "N\bNA\bAM\bME\bE\r\n\x1b[1mname\x1b[0m\f\x1a", "text/plain", mediaPlain},
		{"text/plain", strings.Repeat("some words ", 10) + "\x01", "text/plain", mediaPlain},
		{"text/plain", "t\x00e\x00x\x00t\x00", "text/plain", mediaPlain},
		{"text/html", "\ufeff<?xml version='1.0'?>\n<!-- a -->\n<rss version='2.0'>", "application/rss+xml", mediaOther},
		{"text/html; charset=utf-8", "<!DOCTYPE rss SYSTEM 'x'><rss>", "application/rss+xml", mediaOther},
		{"text/html", "<feed xmlns='http://www.w3.org/2005/Atom'>", "application/atom+xml", mediaOther},
		{"text/html", "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://purl.org/rss/1.0/'>", "application/rss+xml", mediaOther},
		{"text/html", "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>", "text/html", mediaHTML},
		{"text/html", "<feedback>", "text/html", mediaHTML},
		{"text/html", "<!DOCTYPE html><p><rss>", "text/html", mediaHTML},
		{"text/html", "<!DOCTYPE html", "text/html", mediaHTML},
		{"text/html", "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj", "application/octet-stream", mediaOther},
		{"text/plain", "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj", "application/octet-stream", mediaOther},
		{"text/html", "\r\n\n%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj", "application/octet-stream", mediaOther},
		{"text/html", "%PDF-1.7 is the first line of a file", "text/html", mediaHTML},
		{"text/html; charset=UTF-8", "\xff\xd8\xff\xe0\x00\x10JFIF", "application/octet-stream", mediaOther},
		{"text/html", "\x89PNG\r\n\x1a\n\x00\x00", "application/octet-stream", mediaOther},
		{"text/html", "GIF89a\x01\x00", "application/octet-stream", mediaOther},
		{"text/html", "RIFF\x10\x00\x00\x00WEBPVP8 ", "application/octet-stream", mediaOther},
		{"text/html", "RIFF", "text/html", mediaHTML},
		{"application/vnd.ms-excel", "<table><tr><td>1", "text/html", mediaHTML},
		{"application/msword", "<html xmlns:o='urn:schemas-microsoft-com:office:office'>", "text/html", mediaHTML},
		{"application/force-download", "<!DOCTYPE html>", "text/html", mediaHTML},
		{"application/msword", "\xd0\xcf\x11\xe0", "application/msword", mediaOther},
		{"text/html", "PK\x03\x04\x14\x00", "application/octet-stream", mediaOther},
		{"text/html", "\x1f\x8b\x08\x00", "application/octet-stream", mediaOther},
		{"text/html", "{\\rtf1\\ansi", "application/octet-stream", mediaOther},
		{"application/xhtml+xml", "<rss>", "application/xhtml+xml", mediaHTML},
		{"*/*", "<html>", "text/html", mediaHTML},
		{"text/\xff", "<html>", "text/html", mediaHTML},
	} {
		got := MediaType(Input{ContentType: test.contentType, Body: []byte(test.body)})
		if got != test.want || kindOfMedia(got) != test.kind {
			t.Errorf("%q, %q: got %q, want %q", test.contentType, test.body, got, test.want)
		}
	}
}

// XHTML that is sent as XML has text and links, by the stream and by the tree.
func TestXHTMLSentAsXML(t *testing.T) {
	p, err := New(DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	in := Input{
		URL: "http://a.example/", ContentType: "application/xml",
		Body: []byte(`<?xml version="1.0" encoding="iso-8859-1"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>T</title><script src="s.js"/></head><body><p>caf` + "\xe9" + `<a href="/b">b</a></p></body></html>`),
	}
	page := p.Document(in)
	if page.Title != "T" || page.Text != "caféb" || len(page.Links) != 2 || page.MediaType != "application/xhtml+xml" {
		t.Errorf("%q, %q, %v, %s", page.Title, page.Text, page.Links, page.MediaType)
	}
	if tree, why := p.Tree(in, page); tree == nil || !strings.Contains(tree.Text(), "caféb") {
		t.Errorf("no tree: %s", why)
	}
}
