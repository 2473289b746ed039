package check

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestDockerfile(t *testing.T) {
	const file = "Dockerfile"
	holds(t, Dockerfile(sources(t)), []mistake{
		{"unknown instruction", file, "ENTRYPOINT", "ENTRY", "unknown instruction"},
		{"unknown flag", file, "--chown", "--own", "unknown flag"},
		{"not static", file, "CGO_ENABLED=0 ", "", "not static"},
		{"root", file, "USER 65532:65532", "USER root", `runs as "root"`},
		{"shell", file, `["/usr/bin/weft"]`, "/usr/bin/weft", "needs a shell"},
		{"base", file, "gcr.io/distroless/static-debian12:nonroot", "debian:12", "based on debian"},
		{"unpinned", file, "golang:1.26-bookworm", "golang", "not pinned"},
		{"older Go", file, "golang:1.26-", "golang:1.25-", "go.mod asks for"},
		{"stage", file, "--from=build /out/weft", "--from=builder /out/weft", "no earlier stage"},
		{"ignored source", ".dockerignore", "docs\n", "docs\ncodecs\n", "from the builder"},
		{"ignored version", ".dockerignore", "docs\n", "docs\n.git\n", ".git"},
	})
}

// sources are the files that the Dockerfile's go build reads, and .git.
func sources(t *testing.T) []string {
	t.Helper()
	list := exec.Command("go", "list", "-deps", "-f",
		`{{if and .Module .Module.Main}}{{$dir := .Dir}}{{range .GoFiles}}{{$dir}}/{{.}}
{{end}}{{range .EmbedFiles}}{{$dir}}/{{.}}
{{end}}{{end}}`, "./cmd/weft")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	needed := []string{".git", "go.mod", "go.sum"}
	for _, name := range strings.Fields(string(out)) {
		name, err := filepath.Rel(top, name)
		if err != nil {
			t.Fatal(err)
		}
		needed = append(needed, filepath.ToSlash(name))
	}
	if len(needed) < 100 {
		t.Fatalf("only %d files are needed: the search is wrong", len(needed))
	}
	return needed
}
