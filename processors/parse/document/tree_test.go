package document

import (
	"strings"
	"testing"
)

// A tree is there for HTML with contents that was not read by its tokens.
func TestTree(t *testing.T) {
	p, err := New(DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]struct {
		contentType, why string
		tree             bool
	}{
		"<p>ä":                             {"text/html; charset=utf-8", "", true},
		"<p>x<br/>y":                       {"application/xhtml+xml", "", true},
		"plain <p>":                        {"text/plain", "", false},
		"<p>forbidden":                     {"image/png", "", false},
		strings.Repeat("<div>", 600) + "x": {"text/html", TooDeep, false},
	} {
		in := Input{ContentType: want.contentType, Body: []byte(body)}
		page := p.Document(in)
		tree, why := p.Tree(in, page)
		if (tree != nil) != want.tree || why != want.why {
			t.Errorf("%.20s as %s: a tree is there: %v, because %q", body, want.contentType, tree != nil, why)
		}
		if tree == nil {
			continue
		}
		if text, _ := p.Text(tree.Nodes[0]); text != page.Text {
			t.Errorf("the text of the tree is %q, and that of the page %q", text, page.Text)
		}
	}
}
