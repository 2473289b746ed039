package document

import "testing"

func TestMuted(t *testing.T) {
	trees, tokens := newParser(t, nil), newParser(t, func(o *Options) { o.MaxTreeBytes = 0 })
	for body, want := range map[string]string{
		`a <span hidden>b</span> c`:                                         "a c",
		`a <span hidden=until-found>b</span> c`:                             "a b c",
		`a <div hidden=until-found popover>b</div> c`:                       "a\nc",
		`a <iframe hidden src=/b></iframe> c`:                               "a c",
		`a <noscript hidden>b</noscript> <textarea hidden>b</textarea>c`:    "a c",
		`<dialog>a</dialog>`:                                                "",
		`<dialog open>a</dialog>`:                                           "a",
		`<dialog open popover>a</dialog>`:                                   "a",
		`<dialog open popover hidden>a</dialog>`:                            "",
		`<div popover>a</div>`:                                              "",
		`a <annotation>b</annotation> c`:                                    "a b c",
		`<math><mi>a</mi><annotation>b</annotation></math> c`:               "a c",
		`<math><mi>a</mi><annotation-xml>b</annotation-xml></math> c`:       "a c",
		`<math><annotation>a</annotation></math><annotation>b</annotation>`: "b",

		`<ul><li hidden>a</li><li>b</li></ul>`:                                           "b",
		`<ul><li hidden>a<li>b</ul>`:                                                     "b",
		`<ul><li hidden>a<li hidden>b<li>c</ul>`:                                         "c",
		`<ul><li>a<li hidden>b</ul>c`:                                                    "a\nc",
		`<ul><li hidden>a<ul><li>b</li><li>c</ul>d</li><li>e</li></ul>`:                  "e",
		`<ul><li hidden>a<ol><li><ul><li>b</ul></ol>c<li>d</ul>`:                         "d",
		`<ul><li hidden>a<table><tr><td>b</table>c<li>d</ul>`:                            "d",
		`<select><option hidden>a</option><option>b</option></select>`:                   "b",
		`<select><option hidden>a<option>b<optgroup hidden><option>c</select>d`:          "b\nd",
		`<select><option hidden>a<optgroup><option>b</optgroup></select>`:                "b",
		`<table><tr hidden><td>a</td></tr><tr><td>b</td></tr></table>`:                   "b",
		`<table><tr hidden><td>a<table><tr><td>b</tr></table>c<tr><td>d</table>`:         "d",
		`<table><tr><td hidden>a<th>b<td hidden>c</table>d`:                              "b\nd",
		`<table><thead hidden><tr><td>a<tbody><tr><td>b<tfoot hidden><td>c</table>d`:     "b\nd",
		`<table><caption hidden>a</caption><tr><td>b</table>`:                            "b",
		`<dl><dt hidden>a<dd>b<dd hidden>c<dl><dt>d</dl>e<dt>f</dl>`:                     "b\nf",
		`<my-tab hidden>a<my-tab>b</my-tab>c</my-tab>d<p hidden>e</p>f`:                  "d\nf",
		`<my-a hidden>a<my-b>b</my-b>c</my-a>d`:                                          "d",
		`<p hidden>a<div>b</div>`:                                                        "b",
		`<p hidden>a<p>b<h2>c</h2>`:                                                      "b\nc",
		`<div><p hidden>a</div>b`:                                                        "b",
		`<p hidden>a<select><option>b</select><img><br></br>c</p>d`:                      "d",
		`<p hidden>a<span><template shadowrootmode=open><p>b<p>c</template></span>d</p>`: "",
		`<ruby>a<rp>(</rp><rt>b</rt><rp>)</rp></ruby>c`:                                  "abc",
		`<ruby>a<rp>(<rt>b<rp>)</ruby>c`:                                                 "abc",
		`<ruby>a<rp>(<rb>b<rp>,<rp>;<rtc>c<rp>)</ruby>d`:                                 "abcd",
		`<ruby>a<rt hidden><ruby>b<rt>c</ruby>d<rp>)<rt>e</ruby>`:                        "ae",
		`<p><ruby>a<rt>b<rp>)</p>c`:                                                      "ab\nc",
		`<p hidden><ruby>a<rp>(<rt>b</ruby>c</p>d`:                                       "d",
		`a <meter value=1>b</meter> c <progress max=9><b>d</b></progress> e`:             "a c e",
		`<img hidden>a<input hidden>b<br hidden>c`:                                       "ab\nc",

		// End tags are missing: no more is muted than what is around them.
		`<div><my-icon hidden>a</div>b`:                 "b",
		`<p><my-icon hidden/>a</p>b`:                    "b",
		`<section><div hidden><div>a</div>b</section>c`: "c",
		`<ul><li hidden><div><b>a<li>b</ul>c`:           "b\nc",
		`<ul><li hidden><div>a</ul>b`:                   "b",
		`<table><td hidden><ul><li>a<td>b</table>c`:     "b\nc",
		`<table><td hidden><b>a<tr><td>b</table>c`:      "b\nc",
		`<head hidden><title>a</title><body>b`:          "b",
		`<div><dialog><p>a<p>b</div>c`:                  "c",
		`<table><caption hidden>a<tr><td>b</table>c`:    "b\nc",
	} {
		for what, p := range map[string]*Parser{"tree": trees, "tokens": tokens} {
			if page := p.Document(Input{ContentType: "text/html", Body: []byte(body)}); page.Text != want {
				t.Errorf("%s of %s: got %q, want %q", what, body, page.Text, want)
			}
		}
	}
}
