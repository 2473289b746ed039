package document

import (
	"fmt"
	"strings"
	"testing"
)

// TestNamespaces shows that elements count by their name space, not by their name.
func TestNamespaces(t *testing.T) {
	p := newParser(t, nil)
	const (
		head = `<html xmlns="http://www.w3.org/1999/xhtml" xmlns:x="urn:x"><head><title>t</title></head><body>`
		svg  = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">`
		rest = `<a xlink:href="/inside"><text>inside</text></a></svg><p>after</p>`
	)
	for body, want := range map[string]string{
		svg + `<script><![CDATA[for (i = 0; i<n; i++) f();]]></script>` + rest:                                  `[/inside] "inside\nafter"`,
		svg + `<style><![CDATA[a>b{}]]></style>` + rest:                                                         `[/inside] "inside\nafter"`,
		svg + `<metadata><x:Bag><x:li>word</x:li></x:Bag></metadata>` + rest:                                    `[/inside] "wordinside\nafter"`,
		`<x:a href="/no">text</x:a>`:                                                                            `[] "text"`,
		`<noscript>a &lt;a href="/no">b<a href="/c?d&amp;e">c</a>&lt;/noscript></noscript>text`:                 `[/c?d&e] "text"`,
		`<noframes>a &lt;b<a href="/c?d&amp;e">c</a></noframes>text`:                                            `[/c?d&e] "text"`,
		`<x:style>text</x:style>`:                                                                               `[] "text"`,
		`<x:base href="/other/"></x:base><a href="x">text</a>`:                                                  `[x] "text"`,
		`<h:a xmlns:h="http://www.w3.org/1999/xhtml" href="x">text</h:a><SCRIPT/><PLAINTEXT/><a href="y">y</a>`: `[x y] "text\ny"`,
	} {
		page := p.Document(Input{ContentType: "application/xhtml+xml", Body: []byte(head + body + "</body></html>")})
		urls := []string{}
		for _, link := range page.Links {
			urls = append(urls, link.URL)
		}
		if got := fmt.Sprintf("%v %q", urls, page.Text); got != want || page.Base != "" {
			t.Errorf("%s: got %s of base %q, want %s", body, got, page.Base, want)
		}
	}
}

// TestXHTMLEncoding shows that meta elements say nothing of the encoding of what is
// stated to be XML, and XML declarations less than they do of what is not.
func TestXHTMLEncoding(t *testing.T) {
	p := newParser(t, nil)
	late := strings.Repeat(" ", sniffBytes) + `<meta charset="koi8-r"/>`
	for _, test := range []struct{ name, parameter, body, xhtml, html string }{
		{"meta, UTF-8", "", `<meta charset="iso-8859-1"/>é`, "utf-8", "windows-1252"},
		{"meta, ASCII", "", `<meta charset="koi8-r"/>`, "utf-8", "koi8-r"},
		{"meta, neither", "", `<html lang="ru"><meta charset="koi8-r"/>` + "\xcf\xf0\xe8", "windows-1251", "koi8-r"},
		{"meta behind 1,024 bytes", "", late + "\xe9", "windows-1252", "koi8-r"},
		{"meta and XML declaration", "", `<?xml version="1.0" encoding="koi8-r"?><meta charset="big5"/>` + "\xe9", "koi8-r", "big5"},
		{"XML declaration in UTF-16", "", "<\x00?\x00x\x00m\x00l\x00", "utf-16le", "utf-16le"},
		{"meta and Content-Type", "; charset=koi8-r", `<meta charset="big5"/>` + "\xe9", "koi8-r", "koi8-r"},
		{"meta and mark", "", "\xef\xbb\xbf" + `<meta charset="big5"/>`, "utf-8", "utf-8"},
		{"nothing", "", "é", "utf-8", "utf-8"},
	} {
		for essence, want := range map[string]string{"application/xhtml+xml": test.xhtml, "text/html": test.html} {
			page := p.Document(Input{ContentType: essence + test.parameter, Body: []byte(test.body)})
			if page.Charset != want {
				t.Errorf("%s, %s: got %s, want %s", test.name, essence, page.Charset, want)
			}
		}
	}
}
