package document

import (
	"fmt"
	"strings"
	"testing"
)

// TestNoscript reads what stands in noscript and noframes elements: its links count, its text does
// not. A link is written as "kind/element url text", with "!" in front of what is not
// followed.
func TestNoscript(t *testing.T) {
	for _, test := range []struct{ name, body, text, links string }{
		{"a link", `a <noscript>Switch on <a href=/b>the  <b>scripts</b></a>!</noscript> c`, "a c", "noscript/a /b the scripts"},
		{"an image", `<noscript><img src=/a alt=x srcset="/b 2x"></noscript>`, "", "!noscript/image /a x,!noscript/image /b x"},
		{"a picture", `<noscript><picture><source srcset="/a, /b 2x"><img src=/c></picture></noscript>`, "", "!noscript/image /a,!noscript/image /b,!noscript/image /c"},
		{"refresh in the head", `<head><noscript><meta http-equiv=refresh content="0; url=/plain"></noscript><title>t</title></head>a`, "a", "noscript/refresh /plain"},
		{"refresh in the body", `a<noscript><meta http-equiv=refresh content="0; url=/plain"></noscript>`, "a", "noscript/refresh /plain"},
		{"style sheets", `<head><noscript><link rel=stylesheet href=/css><style>a > b {}</style></noscript></head>a`, "a", "!noscript/stylesheet /css"},
		{"an image in the head", `<head><noscript><img src=/pixel>x</noscript><title>t</title></head>a`, "a", "!noscript/image /pixel"},
		{"frames", `<noscript><iframe src=/a title=x><a href=/no>y</a></iframe></noscript>`, "", "noscript/iframe /a x"},
		{"other elements", `<noscript><map><area href=/a alt=x></map><video src=/v poster=/p></video><form action=/f></form><input type=image src=/i></noscript>`, "",
			"noscript/area /a x,!noscript/media /v,!noscript/image /p,!noscript/form /f,!noscript/image /i"},
		{"scripts and templates", `<noscript><script src=/no></script><script>"<a href=/no>"</script><template><a href=/no>x</a></template><a href=/b>b</a></noscript>`, "", "noscript/a /b b"},
		{"nofollow", `<noscript><a rel="nofollow x" href=/b>b</a></noscript>`, "", "!noscript/a /b b"},
		{"elsewhere, too", `<noscript><a href=/b>in it</a></noscript><a href=/b>out</a>`, "out", "a /b in it"},
		{"and before", `<a href=/b>out</a><noscript><a href=/b>in it</a></noscript>`, "out", "a /b out"},
		{"shown and linked", `<noscript><a href=/b><img src=/b alt=x></a></noscript>`, "", "noscript/a /b x,!noscript/image /b x"},
		{"in a link", `<a href=/b>a <noscript><img src=/i alt=x><a href=/c>c</a></noscript>d</a>`, "a d", "a /b a d,!noscript/image /i x,noscript/a /c c"},
		{"in a heading", `<h2>a <noscript><h3>b</h3><img src=/i></noscript>c</h2>`, "a c", "!noscript/image /i"},
		{"nested", `<noscript>a<noscript><a href=/b>b</a></noscript>c`, "c", "noscript/a /b b"},
		{"not closed", `a<noscript><p><a href=/b>b</a><p>c`, "a", "noscript/a /b b"},
		{"a link that is not closed", `a<noscript><a href=/b>b</noscript>c <a href=/c>d</a>`, "ac d", "noscript/a /b b,a /c d"},
		{"an end too many", `a</noscript>b<noscript></a></p><a href=/c>c</noscript>d`, "abd", "noscript/a /c c"},
		{"in a table", `<table><noscript><tr><td><a href=/b>b</a></noscript><tr><td>c</table>`, "c", "noscript/a /b b"},
		{"in a row", `<table><tr><noscript><td><a href=/b>b</a></noscript><td>c</table>`, "c", "noscript/a /b b"},
		{"hidden", `<div hidden>a<noscript hidden><a href=/b>b</a></noscript></div>c`, "c", "noscript/a /b b"},
		{"in a drawing", `<svg><noscript><a href=/no>b</a></noscript></svg>c`, "c", ""},
		{"in a comment", `<noscript><!-- <a href=/no>b</a> --></noscript>c`, "c", ""},
		{"of a frameset", `<frameset><frame src=/f></frameset><noframes><body>Try <a href=/b>this file</a></body></noframes>`, "", "frame /f,noscript/a /b this file"},
		{"of no frameset", `a<noframes><a href=/b>b</a></noframes>c`, "ac", "noscript/a /b b"},
		{"noframes in it", `<noscript><noframes><a href=/b>b</a></noframes><a href=/c>c</a></noscript>`, "", "noscript/a /b b,noscript/a /c c"},
		{"words only", `<noscript>Switch on &lt;a href=/no></noscript>`, "", ""},
	} {
		for path, limit := range map[string]int{"tree": 1 << 20, "tokens": 0} {
			p := newParser(t, func(o *Options) { o.MaxTreeBytes = limit })
			page := p.Document(Input{URL: "http://a.example/", ContentType: "text/html; charset=utf-8", Body: []byte(test.body)})
			var links []string
			for _, l := range page.Links {
				link := strings.Trim(fmt.Sprintf("%s/%s", l.Kind, l.Element), "/") + " " + l.URL + " " + l.Text
				if !page.Follow(l) {
					link = "!" + link
				}
				links = append(links, strings.TrimSpace(link))
			}
			if got := strings.Join(links, ","); page.Text != test.text || got != test.links {
				t.Errorf("%s, %s: got %q and %s\nwant %q and %s", test.name, path, page.Text, got, test.text, test.links)
			}
		}
	}
}

// TestNoscriptOfAPage checks what else of a noscript element is the page's: the base of
// its links and what it asks of robots.
func TestNoscriptOfAPage(t *testing.T) {
	for path, limit := range map[string]int{"tree": 1 << 20, "tokens": 0} {
		p := newParser(t, func(o *Options) { o.MaxTreeBytes = limit })
		page := p.Document(Input{URL: "http://a.example/", ContentType: "text/html", Body: []byte(
			`<head><noscript><base href=/app/><meta name=robots content=nofollow><title>x</title></noscript><base href=/no/><title>t</title></head>
			<noscript><h1>x</h1></noscript><a href=b>b</a>`)})
		if page.Base != "/app/" || page.Title != "t" || !page.Robots.NoFollow || len(page.Headings) > 0 || len(page.Links) != 1 {
			t.Errorf("%s: got %+v", path, page)
		}
	}
}

// TestFollowNoscript checks that flags decide about links in a noscript element, by the kind
// noscript and the kind of the element.
func TestFollowNoscript(t *testing.T) {
	body := []byte(`<noscript><a href=/a>a</a><img src=/i><meta http-equiv=refresh content="0;/r"><form action=/f></form></noscript>`)
	for _, test := range []struct {
		follow []Kind
		want   string
	}{
		{PageKinds(), "/a /r"},
		{[]Kind{KindNoscript, KindAnchor}, "/a"},
		{[]Kind{KindNoscript, KindImage, KindForm}, "/i /f"},
		{[]Kind{KindAnchor, KindImage, KindRefresh}, ""},
		{[]Kind{KindNoscript}, ""},
	} {
		page := newParser(t, func(o *Options) { o.Follow = test.follow }).Document(Input{ContentType: "text/html", Body: body})
		var followed []string
		for _, l := range page.Links {
			if page.Follow(l) {
				followed = append(followed, l.URL)
			}
		}
		if got := strings.Join(followed, " "); got != test.want {
			t.Errorf("%v: got %q, want %q", test.follow, got, test.want)
		}
	}
}
