package article

import (
	"flag"
	"os"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/weftcrawl/weft/processors/parse/document"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func parse(t testing.TB, body string) *html.Node {
	t.Helper()
	tree, err := html.Parse(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// One page with all that Markdown has, and with what does not belong to its main text.
func TestGolden(t *testing.T) {
	page, err := os.ReadFile("testdata/page.html")
	if err != nil {
		t.Fatal(err)
	}
	a := reader(t).Read(parse(t, string(page)), where)
	if a.Unread != Found || a.Truncated {
		t.Fatalf("%q, %v", a.Unread, a.Truncated)
	}
	for name, got := range map[string]string{"page.txt": a.Text, "page.md": a.Markdown} {
		if *update {
			if err := os.WriteFile("testdata/"+name, []byte(got+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if got+"\n" != string(want) {
			t.Errorf("%s is now\n%s", name, got)
		}
	}
	for _, not := range []string{"Contents", "Terms of use", "Advertisement", "First!", "javascript:", "data:", "¶"} {
		if strings.Contains(a.Text+a.Markdown, not) {
			t.Errorf("%q is part of the main text", not)
		}
	}
}

// Paragraphs that Readability makes, of lines and of div elements, are lines of the text.
func TestParagraphsThatAreMade(t *testing.T) {
	paragraph := strings.Repeat("These are some words, and some more. ", 10) + "The end."
	want := strings.Join([]string{paragraph, paragraph, paragraph}, "\n")
	for name, body := range map[string]string{
		"div": strings.Repeat("<div>"+paragraph+"</div>", 3),
		"p":   strings.Repeat("<p>"+paragraph+"</p>", 3),
		"br":  paragraph + strings.Repeat("<br><br>"+paragraph, 2),
	} {
		a := reader(t).Read(parse(t, "<title>T</title><div>"+body+"</div>"), where)
		if a.Text != want || a.Markdown != strings.ReplaceAll(want, "\n", "\n\n") {
			t.Errorf("%s: %q\n%q", name, a.Text, a.Markdown)
		}
	}
}

// Only what is wanted is made.
func TestWanted(t *testing.T) {
	r := reader(t)
	for _, c := range []Options{{Text: true}, {Markdown: true}, {}} {
		o := DefaultOptions()
		o.Text, o.Markdown = c.Text, c.Markdown
		r, err := New(o, r.documents)
		if err != nil {
			t.Fatal(err)
		}
		a := r.Read(parse(t, text(2000)), where)
		if (a.Text != "") != c.Text || (a.Markdown != "") != c.Markdown || o.Wanted() != (c.Text || c.Markdown) {
			t.Errorf("%+v makes %d bytes of text and %d of Markdown", c, len(a.Text), len(a.Markdown))
		}
	}
	if _, err := New(Options{MaxBytes: -1}, r.documents); err == nil {
		t.Error("a negative bound is taken")
	}
}

// A text that is too long ends behind a line.
func TestTruncated(t *testing.T) {
	r := reader(t)
	r.opts.MaxBytes = 1000
	a := r.Read(parse(t, strings.Repeat("<p>These are some words, and some more. Ä.</p>", 100)), where)
	if !a.Truncated || len(a.Text) > 1000 || len(a.Markdown) > 1000 || !strings.HasSuffix(a.Text, "Ä.") || !strings.HasSuffix(a.Markdown, "Ä.\n") {
		t.Errorf("%v, %d bytes of text, %d of Markdown\n%s", a.Truncated, len(a.Text), len(a.Markdown), a.Markdown)
	}
}

// A panic of a library is the outcome of its page.
func TestPanic(t *testing.T) {
	r := reader(t)
	r.documents = nil
	if a := r.Read(parse(t, text(2000)), where); a != (Article{Unread: Failed}) {
		t.Errorf("%+v", a)
	}
}

func FuzzRead(f *testing.F) {
	page, err := os.ReadFile("testdata/page.html")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(page))
	for _, c := range hostile {
		f.Add(c.write(300))
	}
	r := reader(f)
	f.Fuzz(func(t *testing.T, body string) {
		tree, err := html.Parse(strings.NewReader(body))
		if err != nil || document.ShapeOf(tree).Nodes > 20_000 {
			return
		}
		if a := r.Read(tree, where); a.Unread == Failed {
			t.Error("a library panicked")
		}
	})
}
