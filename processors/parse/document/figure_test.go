package document

import (
	"strings"
	"testing"
)

// The caption of a figure is beside the alt text of the images that it shows, on each of the ways
// in which a document is read.
func TestCaptions(t *testing.T) {
	ways := map[string]*Parser{
		"stream or tree": newParser(t, nil), "tokens": newParser(t, func(o *Options) { o.MaxTreeBytes = 0 }),
	}
	long := strings.Repeat("é", 200)
	for _, test := range []struct{ name, body, want string }{
		{"behind the image", `<figure><img src=/a alt=A><figcaption>One <b>two</b>.<br>Three</figcaption></figure><img src=/b alt=B>`, "image /a A: One two. Three,image /b B"},
		{"in front", `<figure><figcaption>C</figcaption><a href=/l><img src=/a alt=A></a></figure>`, "a /l A,image /a A: C"},
		{"of several images", `<figure><img src=/a srcset="/b 2x"><video src=/v poster=/p></video><script src=/s></script><figcaption>C</figcaption></figure>`, "image /a: C,image /b: C,media /v: C,image /p: C,script /s"},
		{"loaded late", `<figure><img src=/a><noscript><img src=/b alt=B></noscript><figcaption>C</figcaption></figure>`, "image /a: C,noscript/image /b B: C"},
		{"ends are missing", `<figure><img src=/a><figcaption>C</figure><figure><img src=/b><figcaption>D`, "image /a: C,image /b: D"},
		{"figures in a figure", `<figure><figure><img src=/a><figcaption>A</figcaption></figure><figure><img src=/b></figure><figcaption>C</figcaption></figure>`, "image /a: A,image /b: C"},
		{"a figure in a caption", `<figure><img src=/a><figcaption>A<figure><img src=/b><figcaption>B</figcaption></figure>C</figcaption></figure>`, "image /a: A B C,image /b: A B C"},
		{"two captions", `<figure><img src=/a><figcaption> </figcaption><figcaption>A</figcaption><figcaption>B</figcaption></figure>`, "image /a: A"},
		{"shown twice", `<img src=/a><figure><img src=/a><figcaption>A</figcaption></figure><figure><img src=/a><figcaption>B</figcaption></figure>`, "image /a: A"},
		{"hidden", `<figure><img src=/a><figcaption hidden>A</figcaption></figure>`, "image /a"},
		{"not in a figure", `<figcaption>A</figcaption><img src=/a></figure><figure></figure></figcaption>`, "image /a"},
		{"long", `<figure><img src=/a><figcaption>` + long + `</figcaption></figure>`, "image /a: " + long[:256]},
		{"deep", strings.Repeat("<figure>", 20) + "<img src=/a><figcaption>A</figcaption>" + strings.Repeat("</figure>", 19) + "<figcaption>B</figcaption>", "image /a: B"},
	} {
		for way, p := range ways {
			var got []string
			for _, l := range p.Document(Input{URL: "http://a.example/", ContentType: "text/html; charset=utf-8", Body: []byte(test.body)}).Links {
				kind := string(l.Kind)
				if l.Element != "" {
					kind += "/" + string(l.Element)
				}
				link := strings.TrimSpace(kind + " " + l.URL + " " + l.Text)
				if l.Caption != "" {
					link += ": " + l.Caption
				}
				got = append(got, link)
			}
			if strings.Join(got, ",") != test.want {
				t.Errorf("%s, by %s: %s, want %s", test.name, way, strings.Join(got, ","), test.want)
			}
		}
	}
}
