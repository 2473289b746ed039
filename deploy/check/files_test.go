package check

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// problems collects what is wrong.
type problems []error

func (p *problems) addf(format string, args ...any) { *p = append(*p, fmt.Errorf(format, args...)) }

// Flags reads the names of weft's flags from the example of its configuration,
// which names them all (a test of cmd/weft sees to that).
func Flags(files fs.FS) (map[string]bool, error) {
	text, err := fs.ReadFile(files, "docs/weft.example.yaml")
	if err != nil {
		return nil, err
	}
	flags := map[string]bool{"config": true}
	for _, match := range regexp.MustCompile(`(?m)^(?:# )?([a-z][a-z-]*):`).FindAllSubmatch(text, -1) {
		flags[string(match[1])] = true
	}
	if len(flags) < 30 {
		return nil, fmt.Errorf("only %d flags in docs/weft.example.yaml: the search is wrong", len(flags))
	}
	return flags, nil
}

// variables are right as the environment of weft: those that begin with WEFT_
// are flags, and the others mean something to Go or to the AWS SDK.
func (p *problems) variables(where string, flags map[string]bool, names []string) {
	slices.Sort(names)
	for _, name := range names {
		flag, ours := strings.CutPrefix(name, "WEFT_")
		flag = strings.ToLower(strings.ReplaceAll(flag, "_", "-"))
		switch {
		case ours && !flags[flag]:
			p.addf("%s sets %s: weft has no flag --%s", where, name, flag)
		case !ours && !slices.Contains([]string{"GOMEMLIMIT", "TMPDIR", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}, name):
			p.addf("%s sets %s, which nothing reads", where, name)
		}
	}
}

// pinned images name a version: what runs tomorrow is what ran today.
func (p *problems) pinned(where, image string) {
	_, after, _ := strings.Cut(image[strings.LastIndexByte(image, '/')+1:], ":")
	if after == "" || after == "latest" {
		p.addf("%s: image %q is not pinned by a tag", where, image)
	}
}

// keys of a map, for tests and messages.
func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// joined is nil when nothing is wrong.
func (p problems) joined() error { return errors.Join(p...) }

// root is the repository.
const root = "../.."

// repository reads what checks read.
func repository(t *testing.T) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	add := func(name string) {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.ToSlash(name)] = &fstest.MapFile{Data: text}
	}
	for _, name := range []string{
		"docker-compose.yml", "Dockerfile", ".dockerignore", "go.mod",
		"docs/weft.example.yaml", "inspect/metrics/testdata/exposition.txt", "ledger/options.go",
	} {
		add(name)
	}
	for _, dir := range []string{"compose", "grafana", "k8s", "prometheus", "systemd"} {
		err := filepath.WalkDir(filepath.Join(root, "deploy", dir), func(name string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				name, err = filepath.Rel(root, name)
				add(name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// mistake is planted in a file: old becomes new, and the check says want.
type mistake struct {
	name, file, old, new, want string
}

// holds runs a check on the files as they are and with each of the mistakes.
func holds(t *testing.T, check func(fs.FS) error, mistakes []mistake) {
	t.Helper()
	if err := check(repository(t)); err != nil {
		t.Errorf("as it is:\n%v", err)
	}
	for _, m := range mistakes {
		t.Run(m.name, func(t *testing.T) {
			files := repository(t)
			text := string(files[m.file].Data)
			if !strings.Contains(text, m.old) {
				t.Fatalf("%s does not hold %q", m.file, m.old)
			}
			files[m.file] = &fstest.MapFile{Data: []byte(strings.Replace(text, m.old, m.new, 1))}
			if err := check(files); err == nil || !strings.Contains(fmt.Sprint(err), m.want) {
				t.Errorf("the check says %v, want %q in it", err, m.want)
			}
		})
	}
}
