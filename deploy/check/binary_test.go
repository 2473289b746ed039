package check

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// scratch is a directory of all tests.
var scratch string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "weft-deploy-")
	if err != nil {
		panic(err)
	}
	scratch = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// binary is weft, built once for all tests as the Dockerfile does.
var binary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(scratch, "weft")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, "./cmd/weft")
	build.Dir, build.Stderr = root, os.Stderr
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	return path, build.Run()
})

// weft is the path of the binary.
func weft(t *testing.T) string {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// The binary that the Dockerfile builds needs no loader and no library.
func TestBinaryIsStatic(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("images are of Linux")
	}
	file, err := elf.Open(weft(t))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	libraries, err := file.ImportedLibraries()
	if err != nil || len(libraries) > 0 {
		t.Errorf("it needs %v (%v)", libraries, err)
	}
	for _, program := range file.Progs {
		if program.Type == elf.PT_INTERP {
			t.Error("it needs a loader")
		}
	}
}
