package document

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func TestShape(t *testing.T) {
	tree, err := html.Parse(strings.NewReader("<head></head><body><p>a<p>b<p>" + strings.Repeat("c", 80)))
	if err != nil {
		t.Fatal(err)
	}
	// The document, html, head, body, three p and three texts; pairs of 80 letters count ten times more.
	want := Shape{Nodes: 10, Depth: 4, Within: 1 + 2 + 2 + 3*3 + 3*4 + 4*10, Beside: 1 + 3}
	if got := ShapeOf(tree); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := ShapeOf(tree.FirstChild.LastChild.FirstChild); got != (Shape{Nodes: 2, Depth: 1, Within: 1}) {
		t.Errorf("of a paragraph: %+v", got)
	}
}
