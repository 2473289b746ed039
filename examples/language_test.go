package examples_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// language is how the examples in one are run: the beginnings of two commands,
// whose flags are the same in all.
type language struct {
	name          string
	needs         string // what make examples-fetch puts there; empty: nothing
	consume, seed []string
}

// languages are those that can be run here; with CI=true all must be.
func languages(t *testing.T) (all []language) {
	t.Helper()
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin, "./go/...").CombinedOutput(); err != nil {
		t.Fatalf("build the examples: %v\n%s", err, out)
	}
	venv, jars := tool(t, "examples-python"), tool(t, "examples-java")
	python := filepath.Join(venv, "bin", "python")
	// java compiles programs of one file as it starts them; these are too short
	// for its optimising compiler.
	java := func(program string) []string {
		return []string{"java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "-cp", filepath.Join(jars, "*"), program}
	}
	for _, l := range []language{
		{"Go", "", []string{filepath.Join(bin, "consume")}, []string{filepath.Join(bin, "seed")}},
		{"Python", venv, []string{python, "python/consume.py"}, []string{python, "python/seed.py"}},
		{"Java", jars, java("java/Consume.java"), java("java/Seed.java")},
	} {
		_, err := os.Stat(filepath.Join(l.needs, "made-from"))
		switch {
		case l.needs == "" || err == nil:
			all = append(all, l)
		case os.Getenv("CI") == "true":
			t.Fatalf("the examples in %s need %s: make examples-fetch", l.name, l.needs)
		default:
			t.Logf("the examples in %s are not run: they need %s, see make examples-fetch", l.name, l.needs)
		}
	}
	return all
}

// tool is the path of a folder in .tools.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", ".tools", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// do runs a command that must do what it is told, and returns what it says.
func do(t *testing.T, command []string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], append(command[1:len(command):len(command)], args...)...)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%s: %v\n%s%s", strings.Join(cmd.Args, " "), err, out, complaints.String())
	}
	return string(out)
}

// page is what consumers print of one.
type page struct{ id, url, title string }

// pages runs the consumer of a language and returns what it prints.
func (l language) pages(t *testing.T, args ...string) (all []page) {
	t.Helper()
	for line := range strings.Lines(do(t, l.consume, args...)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 3 {
			t.Errorf("%s prints %q", l.name, line)
			continue
		}
		all = append(all, page{fields[0], fields[1], fields[2]})
	}
	return all
}
