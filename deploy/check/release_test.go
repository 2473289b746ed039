package check

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Two builds of a release have the same bytes, although one is of a copy of the
// sources elsewhere, made by another user at another time.
func TestReleaseIsReproducible(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs GNU tar")
	}
	one, other := t.TempDir(), t.TempDir()
	released(t, root, one, "umask 022")
	released(t, copyOfSources(t), other, "umask 077; export TZ=Asia/Tokyo LANG=de_DE.UTF-8 GOFLAGS=-buildvcs=true GOAMD64=v3")
	sums, err := os.ReadFile(filepath.Join(one, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(filepath.Join(other, "SHA256SUMS")); err != nil || !bytes.Equal(sums, again) {
		t.Errorf("%v\n%s\n%s", err, sums, again)
	}
	archive := filepath.Join(one, "weft_1.2.3_linux_amd64.tar.gz")
	dir := unpack(t, archive)
	said, err := exec.Command(filepath.Join(dir, "weft"), "version").CombinedOutput()
	if runtime.GOARCH == "amd64" && (err != nil || !strings.HasPrefix(string(said), "weft v1.2.3 go")) {
		t.Errorf("weft version: %v\n%s", err, said)
	}
}

// released runs deploy/release for linux/amd64.
func released(t *testing.T, source, folder, environment string) {
	t.Helper()
	build := exec.Command("bash", "-c", environment+`; exec deploy/release "$0" linux/amd64`, folder)
	build.Dir = source
	build.Env = append(os.Environ(), "VERSION=v1.2.3", "SOURCE_DATE_EPOCH=1700000000")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
}

// copyOfSources copies what git knows of, or would add.
func copyOfSources(t *testing.T) string {
	t.Helper()
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	names, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(root, name))
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted, and not committed yet
		}
		info, statErr := os.Stat(filepath.Join(root, name))
		if err = errors.Join(err, statErr); err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(to, name)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), text, info.Mode().Perm())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// unpack unpacks an archive, whose files are to be in one folder, and returns that.
func unpack(t *testing.T, archive string) string {
	t.Helper()
	file, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	plain, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	var names []string
	for entries := tar.NewReader(plain); ; {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if entry.Uid != 0 || entry.Uname != "" || entry.ModTime.Unix() != 1700000000 {
			t.Errorf("%s is of %d %q, at %v", entry.Name, entry.Uid, entry.Uname, entry.ModTime)
		}
		if entry.Typeflag != tar.TypeReg {
			continue
		}
		names = append(names, filepath.Base(entry.Name))
		text, err := io.ReadAll(entries)
		if err == nil {
			err = os.WriteFile(filepath.Join(to, filepath.Base(entry.Name)), text, entry.FileInfo().Mode().Perm())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"CHANGELOG.md", "LICENSE", "README.md", "weft", "weft.example.yaml"}; !slices.Equal(names, want) {
		t.Errorf("it holds %q, want %q", names, want)
	}
	return to
}

// The image's binary is built like the binary of the archives.
func TestImageIsBuiltLikeReleases(t *testing.T) {
	flags := regexp.MustCompile(`go build (.*)main\.described=`)
	var found []string
	for _, name := range []string{"Dockerfile", "deploy/release"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		match := flags.FindSubmatch(text)
		if match == nil {
			t.Fatalf("%s stamps no version", name)
		}
		found = append(found, string(match[1]))
	}
	if found[0] != found[1] {
		t.Errorf("the image is built by go build %s, and archives by go build %s", found[0], found[1])
	}
}
