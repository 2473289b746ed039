package weft_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"
)

// Decision record 0039 lists the functions through which a record goes in each stage. Each of
// them exists in its file, and the figures of the record are those of its lists.
func TestDocsListTheWayOfARecord(t *testing.T) {
	const record = "docs/decisions/0039-the-way-of-a-record.md"
	text, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	var (
		row    = regexp.MustCompile(`(?m)^\| ([a-z]\S+\.go) \|(.*?)\|(.*?)\|$`)
		name   = regexp.MustCompile("`([^`]+)`")
		stages = 0
	)
	head, lists, _ := strings.Cut(string(text), "\n## Lists\n")
	for list := range strings.SplitSeq(lists, "\n### ") {
		stage, list, _ := strings.Cut(list, "\n")
		rows := row.FindAllStringSubmatch(list, -1)
		if len(rows) == 0 {
			continue
		}
		stages++
		calls, files, besides := 0, 0, 0
		for _, r := range rows {
			declared := functionsOf(t, r[1])
			if strings.Contains(r[2], "`") {
				files++
			}
			for column, count := range map[int]*int{2: &calls, 3: &besides} {
				for _, n := range name.FindAllStringSubmatch(r[column], -1) {
					*count++
					if !declared[n[1]] {
						t.Errorf("%s, %s: there is no %s in %s", record, stage, n[1], r[1])
					}
				}
			}
		}
		if figures := fmt.Sprintf("| %s | %d | %d | %d |", stage, calls, files, calls+besides); !strings.Contains(head, figures) {
			t.Errorf("%s: the list of %s gives %q", record, stage, figures)
		}
	}
	if stages != 5 {
		t.Errorf("%s lists %d stages, not 5", record, stages)
	}
}

// functionsOf returns the functions of a file, methods as Type.Method.
func functionsOf(t *testing.T, path string) map[string]bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	declared := map[string]bool{}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		name := f.Name.Name
		if f.Recv != nil {
			of := f.Recv.List[0].Type
			if pointer, ok := of.(*ast.StarExpr); ok {
				of = pointer.X
			}
			name = of.(*ast.Ident).Name + "." + name
		}
		declared[name] = true
	}
	return declared
}
