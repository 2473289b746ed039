package check

import (
	"bytes"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
)

// Image is what the last stage of the Dockerfile makes.
type Image struct {
	Base, User  string
	Entrypoint  []string
	Environment map[string]string
}

// Dockerfile says what is wrong with the Dockerfile: what BuildKit's parser says,
// an image that is not static, not pinned or runs as root, or a file of needed, by
// which weft is built, that .dockerignore keeps from the builder.
func Dockerfile(needed []string) func(files fs.FS) error {
	return func(files fs.FS) error {
		image, err := readDockerfile(files, needed)
		if err != nil {
			return err
		}
		var p problems
		if !strings.HasPrefix(image.Base, "gcr.io/distroless/static-") || !strings.HasSuffix(image.Base, ":nonroot") {
			p.addf("the image is based on %s", image.Base)
		}
		if !regexp.MustCompile(`^[1-9]\d*(:\d+)?$`).MatchString(image.User) {
			p.addf("the image runs as %q: Kubernetes needs a number to know that it is not root", image.User)
		}
		if len(image.Entrypoint) != 1 || !path.IsAbs(image.Entrypoint[0]) {
			p.addf("the entrypoint is %q", image.Entrypoint)
		}
		if image.Environment["WEFT_DATA"] == "" {
			p.addf("the image does not say where its data directory is")
		}
		return p.joined()
	}
}

func readDockerfile(files fs.FS, needed []string) (*Image, error) {
	text, err := fs.ReadFile(files, "Dockerfile")
	if err != nil {
		return nil, err
	}
	parsed, err := parser.Parse(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	stages, _, err := instructions.Parse(parsed.AST, nil)
	if err != nil {
		return nil, err
	}
	var p problems
	for _, w := range parsed.Warnings {
		p.addf("%s", w.Short)
	}
	gomod, err := fs.ReadFile(files, "go.mod")
	if err != nil {
		return nil, err
	}
	language := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(gomod)
	image := &Image{Environment: map[string]string{}}
	for i, stage := range stages {
		p.pinned("Dockerfile", stage.BaseName)
		if name, _, _ := strings.Cut(stage.BaseName, ":"); name == "golang" && !strings.HasPrefix(stage.BaseName, "golang:"+string(language[1])+"-") {
			p.addf("the image is built by %s and go.mod asks for %s", stage.BaseName, language[1])
		}
		for _, command := range stage.Commands {
			switch c := command.(type) {
			case *instructions.RunCommand:
				if build := strings.Join(c.CmdLine, " "); strings.Contains(build, "go build") && !strings.Contains(build, "CGO_ENABLED=0") {
					p.addf("the binary is not static")
				}
			case *instructions.CopyCommand:
				if c.From != "" {
					if _, ok := instructions.HasStage(stages[:i], c.From); !ok {
						p.addf("COPY from %s, which is no earlier stage", c.From)
					}
				}
			case *instructions.UserCommand:
				image.User = c.User
			case *instructions.EntrypointCommand:
				image.Entrypoint = c.CmdLine
				if c.PrependShell {
					p.addf("the entrypoint needs a shell, which the image does not have")
				}
			case *instructions.EnvCommand:
				for _, e := range c.Env {
					image.Environment[e.Key] = e.Value
				}
			}
		}
		image.Base = stage.BaseName
	}
	if err := p.context(files, needed); err != nil {
		return nil, err
	}
	return image, p.joined()
}

// context holds every file that is needed.
func (p *problems) context(files fs.FS, needed []string) error {
	text, err := fs.ReadFile(files, ".dockerignore")
	if err != nil {
		return err
	}
	patterns, err := ignorefile.ReadAll(bytes.NewReader(text))
	if err != nil {
		return err
	}
	ignored, err := patternmatcher.New(patterns)
	if err != nil {
		return err
	}
	for _, name := range needed {
		if out, err := ignored.MatchesOrParentMatches(name); err != nil || out {
			p.addf(".dockerignore keeps %s from the builder", name)
		}
	}
	return nil
}

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
