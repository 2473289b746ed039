package document

import (
	"strings"
	"testing"
)

// TestSelfClosed holds that an element without contents, written as in XHTML, does not take the
// rest of the page, unless its end tag follows.
func TestSelfClosed(t *testing.T) {
	r := newReader(t, nil)
	for _, test := range []struct{ name, body, title, text string }{
		{"iframe", `<title>t</title><p>a<IFRAME src="/x" /><p>b`, "t", "a\nb"},
		{"two iframes", `<p>a<iframe src=/x /><p>b<iframe src=/y /><p>c`, "", "a\nb\nc"},
		{"script", `<script src="/x"/><p>a`, "", "a"},
		{"title", `<title/><body><p>a<style/><p>b`, "", "a\nb"},
		{"in front of another", `<p>a<iframe src="/x"/><p>b<textarea>c</textarea><p>d`, "", "a\nb\nd"},
		{"its end tag follows", `<p>a<iframe src=/x /><p>b</IFRAME ><p>c`, "", "a\nc"},
		{"inside of another", `<p>a<textarea><iframe src=/x /></textarea><p>b`, "", "a\nb"},
		{"in a comment", `<p>a<!-- <iframe src=/x /> --><p>b`, "", "a\nb"},
		{"in a value", `<p title="<iframe src=/x />">a<p>b`, "", "a\nb"},
		{"the solidus is part of a value", `<p>a<iframe src=/x/><p>b`, "", "a"},
		{"not self-closing", `<p>a<iframe src=/x><p>b`, "", "a"},
		{"plaintext, which has no end", `<p>a<plaintext/><b>`, "", "a\n<b>"},
		{"in SVG", `<svg><title/><text>a</text></svg><p>b`, "", "a\nb"},
		{"behind SVG", `<svg></svg><p>a<iframe src=/x /><p>b`, "", "a"},
		{"in noscript", `<p>a<noscript><iframe src=/x /></noscript><p>b`, "", "a\nb"},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := Input{URL: "http://x.org/", ContentType: "text/html", Body: []byte(test.body)}
			if _, difference := r.compare(in); difference != "" {
				t.Error(difference)
			}
			page := r.parser.Document(in)
			if page.Title != test.title || page.Text != test.text {
				t.Errorf("title %q, text %q, want %q, %q", page.Title, page.Text, test.title, test.text)
			}
			tree, _ := r.parser.Tree(in, page)
			if text, _ := r.parser.Text(tree.Nodes[0]); text != strings.TrimSpace(test.title+"\n"+test.text) && text != test.text {
				t.Errorf("the text of the tree is %q", text)
			}
		})
	}
}
