package parse

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
	} {
		for what, p := range map[string]*Parser{"tree": trees, "tokens": tokens} {
			if page := p.Document(Input{ContentType: "text/html", Body: []byte(body)}); page.Text != want {
				t.Errorf("%s of %s: got %q, want %q", what, body, page.Text, want)
			}
		}
	}
}
