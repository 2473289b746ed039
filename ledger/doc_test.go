package ledger

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The essay names the test of each crash point; they exist.
func TestEssayNamesTests(t *testing.T) {
	t.Parallel()
	essay, err := os.ReadFile("doc.go")
	check(t, err)
	var code strings.Builder
	files, err := filepath.Glob("*_test.go")
	check(t, err)
	elsewhere, err := filepath.Glob("../crawl/*_test.go")
	check(t, err)
	for _, name := range append(files, elsewhere...) {
		raw, err := os.ReadFile(name)
		check(t, err)
		code.Write(raw)
	}
	named := regexp.MustCompile(`Test[A-Z]\w+`).FindAllString(string(essay), -1)
	if len(named) < 20 {
		t.Errorf("the essay names %d tests", len(named))
	}
	for _, name := range named {
		if !strings.Contains(code.String(), "func "+name+"(t *testing.T)") {
			t.Errorf("there is no %s", name)
		}
	}
}
