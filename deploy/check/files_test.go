package check

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

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
		"docs/weft.example.yaml", "metrics/testdata/exposition.txt", "ledger/stage.go",
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
