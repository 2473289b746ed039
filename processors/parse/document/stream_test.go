package document

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// reader reads documents by the stream and by the tree.
type reader struct {
	parser           *Parser
	streaming, trees *collector
}

func newReader(tb interface{ Fatal(...any) }, change func(*Options)) *reader {
	p := newParser(tb, change)
	r := &reader{parser: p, streaming: newCollector(&p.opts), trees: newCollector(&p.opts)}
	r.trees.treesOnly = true
	return r
}

// compare reads a document twice. needsTree says why the stream gave up; difference is empty if
// the two pages are equal in every field.
func (r *reader) compare(in Input) (needsTree, difference string) {
	r.streaming.needsTree = ""
	streamed := r.parser.read(r.streaming, in, nil)
	return r.streaming.needsTree, unequal(streamed, r.parser.read(r.trees, in, nil))
}

// unequal names the first field in which two pages differ.
func unequal(streamed, tree *Page) string {
	a, b := reflect.ValueOf(*streamed), reflect.ValueOf(*tree)
	for i := range a.NumField() {
		name := a.Type().Field(i).Name
		x, y := a.Field(i).Interface(), b.Field(i).Interface()
		if reflect.DeepEqual(x, y) {
			continue
		}
		if name == "Links" {
			for i := range max(len(streamed.Links), len(tree.Links)) {
				if i >= len(streamed.Links) || i >= len(tree.Links) || streamed.Links[i] != tree.Links[i] {
					one := func(links []Link) []Link { return links[min(i, len(links)):min(i+1, len(links))] }
					return fmt.Sprintf("link %d: stream %+v, tree %+v", i, one(streamed.Links), one(tree.Links))
				}
			}
		}
		s, t := fmt.Sprintf("%q", x), fmt.Sprintf("%q", y)
		at := 0
		for at < len(s) && at < len(t) && s[at] == t[at] {
			at++
		}
		at = max(at-20, 0)
		return fmt.Sprintf("%s at %d: stream %.80s, tree %.80s", name, at, s[min(at, len(s)):], t[min(at, len(t)):])
	}
	return ""
}

// TestStreamOfCorpus reads the HTML of a directory by the stream and by the tree. The pages must
// be equal, and few may need a tree.
func TestStreamOfCorpus(t *testing.T) {
	if *corpus == "" {
		t.Skip("no -corpus")
	}
	r := newReader(t, nil)
	pages, bytes, unequal := 0, 0, 0
	var streaming, trees time.Duration
	reasons := map[string]int{}
	examples := map[string]string{}
	err := filepath.WalkDir(*corpus, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !strings.HasSuffix(path, ".html") && !strings.HasSuffix(path, ".htm") {
			return err
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if len(body) > r.parser.opts.MaxTreeBytes {
			return nil // by tokens, as ever
		}
		pages++
		bytes += len(body)
		in := Input{URL: "http://site.example/" + path, ContentType: "text/html", Body: body}
		needsTree, difference := r.compare(in)
		if difference != "" {
			if unequal++; unequal < 20 {
				t.Errorf("%s: %s", path, difference)
			}
		}
		if needsTree != "" {
			reasons[needsTree]++
			examples[needsTree] = path
		}
		start := time.Now()
		r.parser.read(r.streaming, in, nil)
		middle := time.Now()
		r.parser.read(r.trees, in, nil)
		streaming += middle.Sub(start)
		trees += time.Since(middle)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	needTrees := 0
	var lines []string
	for reason, n := range reasons {
		needTrees += n
		lines = append(lines, fmt.Sprintf("%6d %s: %s", n, reason, examples[reason]))
	}
	slices.Sort(lines)
	slices.Reverse(lines)
	t.Logf("%d pages of %d bytes on average, %d unequal, %d (%.2f %%) need a tree\n%s\nstream %v, tree %v a page: %.3f",
		pages, bytes/max(pages, 1), unequal, needTrees, 100*float64(needTrees)/float64(max(pages, 1)), strings.Join(lines, "\n"),
		streaming/time.Duration(max(pages, 1)), trees/time.Duration(max(pages, 1)), float64(streaming)/float64(trees))
}
