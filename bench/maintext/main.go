// Command maintext measures how well the main text of pages is found, on pages whose main text
// is labelled (labels.tsv):
//
//	go run ./bench/maintext -deb FOLDER -web FOLDER
//
// The folder of deb is where the packages were unpacked (dpkg-deb -x), one or all in one. The
// measure is the F1 of words: the harmonic mean of the share of the words that were found that
// belong to the main text, and of the share of the words of the main text that were found.
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/PuerkitoBio/goquery"

	"github.com/weftcrawl/weft/processors/parse/article"
	"github.com/weftcrawl/weft/processors/parse/document"
)

//go:embed labels.tsv
var labels string

func main() {
	deb := flag.String("deb", "", "folder with Debian's packages")
	web := flag.String("web", "", "folder with pages of the web")
	each := flag.Bool("each", false, "print each page")
	flag.Parse()
	m, err := newMeasure(*each)
	if err == nil {
		err = m.all(map[string]string{"deb": *deb, "web": *web})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "maintext:", err)
		os.Exit(1)
	}
	for _, group := range []string{"deb", "web", "all"} {
		if s := m.sums[group]; s != nil {
			n := float64(s.pages)
			fmt.Printf("%s: %d pages, precision %.3f, recall %.3f, F1 %.3f, %d below 0.5, %v a page\n",
				group, s.pages, s.precision/n, s.recall/n, s.f1/n, s.bad, (s.took / time.Duration(s.pages)).Round(time.Microsecond))
		}
	}
}

// measure is what was found.
type measure struct {
	documents *document.Parser
	articles  *article.Reader
	each      bool
	sums      map[string]*sum
}

type sum struct {
	pages, bad            int
	precision, recall, f1 float64
	took                  time.Duration
}

func newMeasure(each bool) (*measure, error) {
	documents, err := document.New(document.DefaultOptions())
	if err != nil {
		return nil, err
	}
	opts := article.DefaultOptions()
	opts.Text = true
	articles, err := article.New(opts, documents)
	if err != nil {
		return nil, err
	}
	return &measure{documents: documents, articles: articles, each: each, sums: map[string]*sum{}}, nil
}

// all measures the labelled pages that are below the folders of their groups.
func (m *measure) all(folders map[string]string) error {
	for line := range strings.Lines(labels) {
		field := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") || len(field) < 3 || folders[field[0]] == "" {
			continue
		}
		var not string
		if len(field) > 3 {
			not = field[3]
		}
		path, err := find(folders[field[0]], field[1])
		if err != nil {
			return err
		}
		if err := m.page(field[0], path, field[2], not); err != nil {
			return err
		}
	}
	return nil
}

// find finds a file below a folder, or below a folder in it.
func find(folder, pattern string) (string, error) {
	for _, at := range []string{"", "*"} {
		found, err := filepath.Glob(filepath.Join(folder, at, pattern))
		if err != nil || len(found) > 0 {
			return append(found, "")[0], err
		}
	}
	return "", fmt.Errorf("there is no %s below %s", pattern, folder)
}

func (m *measure) page(group, path, selectors, not string) error {
	body, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	in := document.Input{URL: "https://example.org/dir/page.html", ContentType: "text/html", Body: body}
	page := m.documents.Document(in)
	tree, why := m.documents.Tree(in, page)
	if tree == nil {
		return fmt.Errorf("%s has no tree: %s", path, why)
	}
	want := m.labelled(tree, selectors, not)
	began := time.Now()
	tree, _ = m.documents.Tree(in, page)
	got := words(m.articles.Read(tree.Nodes[0], &url.URL{Scheme: "https", Host: "example.org", Path: "/dir/page.html"}).Text)
	took := time.Since(began)
	both, all, labelled := 0, 0, 0
	for word, n := range got {
		all += n
		both += min(n, want[word])
	}
	for _, n := range want {
		labelled += n
	}
	precision, recall := float64(both)/float64(max(all, 1)), float64(both)/float64(max(labelled, 1))
	f1 := 2 * precision * recall / max(precision+recall, 1e-9)
	if m.each {
		fmt.Printf("%.2f %.2f %.2f %6d %s\n", f1, precision, recall, labelled, filepath.Base(path))
	}
	for _, g := range []string{group, "all"} {
		s := m.sums[g]
		if s == nil {
			s = &sum{}
			m.sums[g] = s
		}
		s.pages++
		s.precision, s.recall, s.f1, s.took = s.precision+precision, s.recall+recall, s.f1+f1, s.took+took
		if f1 < 0.5 {
			s.bad++
		}
	}
	return nil
}

// labelled are the words of what a label selects.
func (m *measure) labelled(tree *goquery.Document, selectors, not string) map[string]int {
	selected := tree.Find(selectors)
	if not != "" {
		selected.Find(not).Remove()
	}
	var all strings.Builder
	for _, n := range selected.Nodes {
		inside := false
		for outer := range n.Ancestors() {
			inside = inside || slices.Contains(selected.Nodes, outer)
		}
		if !inside {
			text, _ := m.documents.Text(n)
			all.WriteString(text + "\n")
		}
	}
	return words(all.String())
}

// words counts the words of a text.
func words(text string) map[string]int {
	counts := map[string]int{}
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		counts[word]++
	}
	return counts
}
