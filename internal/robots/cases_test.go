package robots

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// testCase is a block of a file in testdata.
type testCase struct {
	title, agent, robots string
	verdicts             []verdict
}

type verdict struct {
	path string
	want bool
}

// readCases reads the files in testdata; rfc9309.txt explains their format.
func readCases(t testing.TB) []testCase {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases in testdata: %v", err)
	}
	var cases []testCase
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range strings.Split(string(content), "\n=== ")[1:] {
			parts := strings.Split(block, "\n---\n")
			if len(parts) != 3 {
				t.Fatalf("%s: %q has %d parts", name, block, len(parts))
			}
			title, agent, ok := strings.Cut(parts[0], "\nagent ")
			if !ok {
				t.Fatalf("%s: %q names no agent", name, block)
			}
			c := testCase{title: title, agent: agent, robots: parts[1] + "\n"}
			for line := range strings.Lines(parts[2]) {
				switch path := strings.TrimSpace(line[1:]); line[0] {
				case '+', '-':
					c.verdicts = append(c.verdicts, verdict{path, line[0] == '+'})
				case '\n':
				default:
					t.Fatalf("%s: %q in %q", name, line, title)
				}
			}
			if len(c.verdicts) == 0 {
				t.Fatalf("%s: %q expects nothing", name, title)
			}
			cases = append(cases, c)
		}
	}
	return cases
}

func TestCases(t *testing.T) {
	for _, c := range readCases(t) {
		t.Run(c.title, func(t *testing.T) {
			for _, ending := range []string{"\n", "\r\n", "\r"} {
				record := Parse(200, []byte(strings.ReplaceAll(c.robots, "\n", ending)), c.agent)
				rules := Compile(record)
				for _, v := range c.verdicts {
					if got := rules.Allowed(v.path); got != v.want {
						t.Errorf("with %q: %s allowed is %t; rules:\n%s", ending, v.path, got, record.GetRules())
					}
				}
			}
		})
	}
}
