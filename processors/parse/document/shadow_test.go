package document

import "testing"

func TestShadowRoots(t *testing.T) {
	trees, tokens := newParser(t, nil), newParser(t, func(o *Options) { o.MaxTreeBytes = 0 })
	const in = `<p>a <a href=/b>b</a></p>`
	for _, test := range []struct {
		body, text string
		links      int
	}{
		{`<my-card><template shadowrootmode="open">` + in + `<style>x</style></template> c</my-card>`, "a b\nc", 1},
		{`<div><TEMPLATE ShadowRootMode=CLOSED>` + in + `</TEMPLATE></div>`, "a b", 1},
		{`<div><template hidden shadowrootmode=open>` + in + `</template></div>`, "a b", 1},
		{`<div hidden><template shadowrootmode=open>` + in + `</template></div>`, "", 1},
		{`<x-a><template shadowrootmode=open>1<x-b><template shadowrootmode=open>2</template></x-b>3</template></x-a>4`, "1234", 0},
		{`<x-a><template shadowrootmode=open>1<template>` + in + `</template>2</template></x-a>3`, "123", 0},
		{`<div><template>1<template shadowrootmode=open>` + in + `</template>2</template></div>3`, "3", 0},
		{`<div><template shadowrootmode>` + in + `</template></div>`, "", 0},
		{`<div><template shadowrootmode=opened>` + in + `</template></div>`, "", 0},
		{`<div><template data-x=shadowrootmode>` + in + `</template></div>`, "", 0},
		{`<svg><template shadowrootmode=open>x</template></svg>`, "", 0},
	} {
		for what, p := range map[string]*Parser{"tree": trees, "tokens": tokens} {
			page := p.Document(Input{ContentType: "text/html", Body: []byte(test.body)})
			if page.Text != test.text || len(page.Links) != test.links {
				t.Errorf("%s of %s: got %q and %v, want %q and %d links", what, test.body, page.Text, page.Links, test.text, test.links)
			}
		}
	}
}
