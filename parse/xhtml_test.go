package parse

import (
	"fmt"
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
