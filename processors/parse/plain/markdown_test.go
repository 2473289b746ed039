package plain

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	renderer "github.com/yuin/goldmark/renderer/html"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

func read(text string) *page {
	p := &page{}
	ReadMarkdown(text, p)
	return p
}

func TestMarkdown(t *testing.T) {
	for name, c := range map[string]struct {
		text            string
		lines, headings []string
		links           []string
	}{
		"headings": {
			"# One #\n\nTwo\n===\nThree\nfour\n---\n####### no\n#no\n",
			[]string{"One", "Two", "Three four", "####### no #no"}, []string{"1 One", "1 Two", "2 Three four"}, nil,
		},
		"links": {
			`[a *b*](/c "t") ![d](<e f>) [![g](h)](i) [j](k(l)) <https://m.example/> https://n.example/o. [p]` + "\n\n[p]: /q 'r'\n",
			[]string{"a b j https://m.example/ https://n.example/o. p"}, nil,
			[]string{"a /c a b", "image e f d", "image h g", "a i g", "a k(l) j", "a https://m.example/ https://m.example/", "a https://n.example/o https://n.example/o", "a /q p"},
		},
		"no links": {`\[a](b) [c]d] ` + "`[e](f)`" + ` [g](h`, []string{"[a](b) [c]d] [e](f) [g](h"}, nil, nil},
		"references": {
			"[A  b][] [c][A b] [d][x]\n\n[a b]: <u v>\n", []string{"A b c [d][x]"}, nil, []string{"a u v A b", "a u v c"},
		},
		"emphasis": {"*a* **b** _c_ snake_case_ 2 * 3 *d ~~e~~ ***f***", []string{"a b c snake_case_ 2 * 3 *d e f"}, nil, nil},
		"code": {
			"```go\n# no\n[a](b)\n~~~\n```\n\n    [c](d)\n\n- item\n\n  [e](f)\n", []string{"# no", "[a](b)", "~~~", "[c](d)", "item", "e"}, nil, []string{"a f e"},
		},
		"quotes and lists": {"> - a\n> - b\n>   c\n1. d\n2) e\n", []string{"a", "b c", "d", "e"}, nil, nil},
		"tables":           {"| a | [b](c) |\n|---|:-:|\n| d\\|e | f |\n", []string{"a b", "d|e f"}, nil, []string{"a c b"}},
		"HTML": {
			"<p align=center><a href=\"x\">y <img src=z alt=w></a></p>\n\n<!-- [a](b)\n\nc -->\n\nd<br>e &amp; &lt;f\n",
			[]string{"y", "d e & <f"}, nil, []string{"image z w", "a x y"},
		},
		"code in a quote":  {"> ```\n> a\n> ```\n> b\n\n> ~~~\n> c\n# d\n", []string{"a", "b", "c", "d"}, []string{"1 d"}, nil},
		"headings in HTML": {"<h1 align=center>\n<a href=x>a</a> b\n</h1>\n", []string{"a b"}, []string{"1 a b"}, []string{"a x a"}},
		"rules":            {"a\n\n* * *\n___\nb\n", []string{"a", "b"}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := read(c.text)
			if diff := cmp.Diff(c.lines, p.lines()); diff != "" {
				t.Error("text", diff)
			}
			if diff := cmp.Diff(c.headings, p.headings); diff != "" {
				t.Error("headings", diff)
			}
			if diff := cmp.Diff(c.links, p.links); diff != "" {
				t.Error("links", diff)
			}
		})
	}
}

func TestFrontMatter(t *testing.T) {
	p := read("---\ntitle: \"A: b\"\nx\n---\ntext\n")
	if p.title != "A: b" || fold(p.text.String()) != "text" {
		t.Errorf("%q, %q", p.title, p.text.String())
	}
	if p = read("---\ntitle: a\n\ntext"); p.title != "" || !strings.Contains(p.text.String(), "text") {
		t.Errorf("without an end: %q, %q", p.title, p.text.String())
	}
}

// reference is what goldmark, and a reader of HTML, make of Markdown.
func reference(t testing.TB, text string) *page {
	t.Helper()
	var b bytes.Buffer
	md := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(renderer.WithUnsafe()))
	if err := md.Convert([]byte(text), &b); err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	p := &page{}
	for n := range root.Descendants() {
		switch n.DataAtom {
		case atom.P, atom.Li, atom.Td, atom.Th, atom.Pre, atom.Br, atom.Div:
			p.text.WriteByte(' ')
		case atom.A:
			if url := attr(n, "href"); url != "" {
				p.links = append(p.links, "a "+url)
			}
		case atom.Img:
			if url := attr(n, "src"); url != "" {
				p.links = append(p.links, "image "+url)
			}
		case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
			if within(n, func(p *html.Node) bool { return p.DataAtom == atom.Blockquote }) || fold(textOf(n)) == "" {
				continue
			}
			p.text.WriteByte(' ')
			p.headings = append(p.headings, n.Data[1:]+" "+fold(textOf(n)))
		}
		if n.Type == html.TextNode && !within(n, func(p *html.Node) bool { return p.DataAtom == atom.Script || p.DataAtom == atom.Style }) {
			p.text.WriteString(n.Data)
		}
	}
	return p
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

func within(n *html.Node, is func(*html.Node) bool) bool {
	for p := range n.Ancestors() {
		if is(p) {
			return true
		}
	}
	return false
}

// shares is the number of elements of a that are also in b, and the number of elements of a.
func shares(a, b []string) (both, all int) {
	left := map[string]int{}
	for _, s := range b {
		left[s]++
	}
	for _, s := range a {
		if left[s] > 0 {
			left[s]--
			both++
		}
	}
	return both, len(a)
}

// TestMarkdownIsGoldmarks compares the reader with goldmark: by default with the texts of the
// repository, and with MARKDOWN=folder with all that a folder has.
func TestMarkdownIsGoldmarks(t *testing.T) {
	folder, least := "../../..", 0.995
	if f := os.Getenv("MARKDOWN"); f != "" {
		folder = f
	}
	files, differ := 0, 0
	var agreed, total [3][2]int // links, headings, words: found of goldmark's, and goldmark's of those found
	err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".md" {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil || len(text) > 1<<20 {
			return err
		}
		files++
		_, rest, ok := strings.Cut(string(text), "\n---\n")
		if strings.HasPrefix(string(text), "---\n") && ok {
			text = []byte(rest) // goldmark knows no front matter
		}
		ours, theirs := read(string(text)), reference(t, string(text))
		for i, l := range ours.links {
			kind, url, _ := strings.Cut(l, " ")
			url, _, _ = strings.Cut(url, " ")
			ours.links[i] = kind + " " + unescape(url)
		}
		for i, l := range theirs.links {
			theirs.links[i] = strings.ReplaceAll(strings.ReplaceAll(l, "%20", " "), "mailto:", "")
		}
		theirs.links = slices.DeleteFunc(theirs.links, func(l string) bool { return strings.HasPrefix(l, "a ") && strings.Contains(l, "@") })
		ours.links = slices.DeleteFunc(ours.links, func(l string) bool { return strings.HasPrefix(l, "a ") && strings.Contains(l, "@") })
		for i, pair := range [][2][]string{
			{theirs.links, ours.links}, {theirs.headings, ours.headings}, {strings.Fields(theirs.text.String()), strings.Fields(ours.text.String())},
		} {
			for k := range 2 {
				both, all := shares(pair[k], pair[1-k])
				agreed[i][k] += both
				total[i][k] += all
				if i < 2 && both != all {
					differ++
					if os.Getenv("MARKDOWN") != "" && differ < 60 {
						t.Logf("%s: %s", name, cmp.Diff(pair[0], pair[1]))
					}
				}
			}
		}
		return nil
	})
	if err != nil || files < 10 {
		t.Fatalf("%d files: %v", files, err)
	}
	for i, what := range []string{"links", "headings", "words"} {
		for k, of := range []string{"of goldmark's", "of ours"} {
			share := float64(agreed[i][k]) / float64(total[i][k])
			t.Logf("%s: %d of %d %s (%.4f)", what, agreed[i][k], total[i][k], of, share)
			if share < least && os.Getenv("MARKDOWN") == "" {
				t.Errorf("only %.4f of the %s %s are the same", share, what, of)
			}
		}
	}
	t.Logf("%d files", files)
}
