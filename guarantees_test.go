package weft_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every test and script that docs/guarantees.md names is there. A test without
// a package is of the package named before it.
func TestGuaranteesNameTests(t *testing.T) {
	text, err := os.ReadFile("docs/guarantees.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`(?:([a-z]+)\\.)?(Test[A-Za-z0-9]+)`")
	pkg, tests := "", 0
	for _, match := range named.FindAllStringSubmatch(string(text), -1) {
		if match[1] != "" {
			pkg = match[1]
		}
		tests++
		if !holds(t, filepath.Join(pkg, "*_test.go"), "func "+match[2]+"(") {
			t.Errorf("there is no %s in %s", match[2], pkg)
		}
	}
	if tests < 20 {
		t.Errorf("only %d tests are named: the search is wrong", tests)
	}
	for _, list := range regexp.MustCompile("scripts? (`[a-z]+`(?:, `[a-z]+`)*)").FindAllStringSubmatch(string(text), -1) {
		for _, script := range strings.Split(list[1], ", ") {
			path := filepath.Join("cmd/weft/testdata/script", strings.Trim(script, "`")+".txt")
			if _, err := os.Stat(path); err != nil {
				t.Error(err)
			}
		}
	}
}

// holds tells whether one of the files holds text.
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
