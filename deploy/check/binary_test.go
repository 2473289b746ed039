package check

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
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

// The program sets up what it needs when it needs it. So a short command does not wait for texts,
// tables and engines of others. What packages allocate before main does not depend on how busy the
// machine is.
func TestStartSetsUpLittle(t *testing.T) {
	command := exec.Command(weft(t), "--help")
	command.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var trace strings.Builder
	command.Stderr = &trace
	if err := command.Run(); err != nil {
		t.Fatal(err)
	}
	const most = 128 << 10
	own := regexp.MustCompile(`init (github\.com/weftcrawl/\S+) .* (\d+) bytes, \d+ allocs`).FindAllStringSubmatch(trace.String(), -1)
	if len(own) == 0 {
		t.Fatalf("no package of weft in the trace:\n%s", trace.String())
	}
	for _, each := range own {
		if bytes, err := strconv.Atoi(each[2]); err != nil || bytes > most {
			t.Errorf("%s allocates %s bytes before main, of at most %d", each[1], each[2], most)
		}
	}
}
