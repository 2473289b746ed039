package weft_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every test, fuzz target and script that a document names exists, in the package
// that the document names. A name without a package belongs to the package that is
// named before it in the same paragraph or row, or else to the package that the
// section names.
func TestDocsNameTests(t *testing.T) {
	var (
		named   = regexp.MustCompile("`(?:([a-z/]+)\\.)?((?:Test|Fuzz)[A-Z][A-Za-z0-9]*)`")
		section = regexp.MustCompile("[Tt]ests\\s+are\\s+of\\s+package\\s+`([a-z/]+)`")
		scripts = regexp.MustCompile("scripts? (`[a-z_]+`(?:, `[a-z_]+`)*)")
	)
	found := map[string]int{}
	for doc, text := range docs(t) {
		for chapter := range strings.SplitSeq(text, "\n## ") {
			standard := ""
			if match := section.FindStringSubmatch(chapter); match != nil {
				standard = match[1]
			}
			for _, paragraph := range regexp.MustCompile(`\n\||\n\n|\n- `).Split(chapter, -1) {
				pkg := standard
				for _, match := range named.FindAllStringSubmatch(paragraph, -1) {
					found[doc]++
					if match[1] != "" {
						pkg = match[1]
					}
					if !holds(t, filepath.Join(pkg, "*_test.go"), "func "+match[2]+"(") {
						t.Errorf("%s: there is no %s in package %q", doc, match[2], pkg)
					}
				}
			}
		}
		for _, list := range scripts.FindAllStringSubmatch(text, -1) {
			for script := range strings.SplitSeq(list[1], ", ") {
				path := filepath.Join("cmd/weft/testdata/script", strings.Trim(script, "`")+".txt")
				if _, err := os.Stat(path); err != nil {
					t.Errorf("%s: %v", doc, err)
				}
			}
		}
	}
	if found["docs/guarantees.md"] < 20 || found["docs/conformance.md"] < 100 {
		t.Errorf("too few tests are named: the search is wrong: %v", found)
	}
}

// Every file and heading of the repository that a document links to exists.
func TestDocsLinkToWhatIs(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]*)(?:#([^)]*))?\)`)
	links := 0
	for doc, text := range docs(t) {
		for _, match := range link.FindAllStringSubmatch(text, -1) {
			links++
			path := doc
			if match[1] != "" {
				path = filepath.Join(filepath.Dir(doc), match[1])
			}
			target, err := os.ReadFile(path)
			if info, statErr := os.Stat(path); statErr == nil && info.IsDir() {
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", doc, err)
			} else if match[2] != "" && !anchors(string(target))[match[2]] {
				t.Errorf("%s: %s has no heading #%s", doc, path, match[2])
			}
		}
	}
	if links < 50 {
		t.Errorf("only %d links: the search is wrong", links)
	}
}

// The README leads to every document by links.
func TestDocsAreReached(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+\.md)(?:#[^)]*)?\)`)
	texts := docs(t)
	reached := map[string]bool{}
	var follow func(doc string)
	follow = func(doc string) {
		if reached[doc] || texts[doc] == "" {
			return
		}
		reached[doc] = true
		for _, match := range link.FindAllStringSubmatch(texts[doc], -1) {
			follow(filepath.Join(filepath.Dir(doc), match[1]))
		}
	}
	follow("README.md")
	for doc := range texts {
		if !reached[doc] && doc != "CHANGELOG.md" {
			t.Errorf("no link leads to %s", doc)
		}
	}
}

// anchors are the names of a document's headings, as GitHub makes them.
func anchors(text string) map[string]bool {
	names := map[string]bool{}
	dropped := regexp.MustCompile(`[^\pL\pN _-]`)
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		name := dropped.ReplaceAllString(strings.ToLower(heading[1]), "")
		names[strings.ReplaceAll(name, " ", "-")] = true
	}
	return names
}

// docs reads the documents, by path.
func docs(t *testing.T) map[string]string {
	t.Helper()
	paths := []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"}
	for _, pattern := range []string{"docs/*.md", "docs/decisions/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	texts := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(text)
	}
	return texts
}

// holds reports whether one of the files contains text.
func holds(t *testing.T, files, text string) bool {
	t.Helper()
	paths, err := filepath.Glob(files)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(raw), text) {
			return true
		}
	}
	return false
}
