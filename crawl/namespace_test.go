package crawl_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// insideNamespace is the environment variable of a test that runs again in
// namespaces of its own.
const insideNamespace = "WEFT_TEST_NAMESPACE"

// mounting runs the test again in its own user and mount namespace (as `unshare -Urm` does),
// whose mounts no other process sees. It returns true there, and false, with the test's result,
// here. A machine without such namespaces and without root skips the test.
func mounting(t *testing.T) bool {
	t.Helper()
	if os.Getenv(insideNamespace) != "" {
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			t.Fatal(err)
		}
		return true
	}
	flags := []uintptr{syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS}
	if os.Geteuid() == 0 {
		flags = append(flags, syscall.CLONE_NEWNS)
	}
	for _, f := range flags {
		cmd := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v", "-test.count", "1", "-test.timeout", (2 * patience).String())
		cmd.Env = append(os.Environ(), insideNamespace+"=yes")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: f, Pdeathsig: syscall.SIGKILL}
		if f&syscall.CLONE_NEWUSER != 0 {
			cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}
			cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
		}
		out, err := cmd.CombinedOutput()
		if errors.Is(err, fs.ErrPermission) {
			continue // no such namespaces for us
		}
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		if !strings.Contains(string(out), "--- PASS: "+t.Name()) && !t.Failed() {
			t.Errorf("did not run:\n%s", out)
		}
		t.Logf("in its namespace:\n%s", out)
		return false
	}
	t.Skip("needs a mount namespace: allow user namespaces (sysctl user.max_user_namespaces) or run as root")
	return false
}

// disk is a small file system of its own.
type disk struct{ dir string }

// newDisk mounts a tmpfs of so many MiB.
func newDisk(t *testing.T, mib string) disk {
	t.Helper()
	d := disk{t.TempDir()}
	if err := unix.Mount("weft", d.dir, "tmpfs", 0, "size="+mib+"m"); err != nil {
		t.Fatalf("mount: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(d.dir, unix.MNT_DETACH); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return d
}

// fill leaves so many free bytes to others. It may be called again.
func (d disk) fill(t *testing.T, leave int64) {
	t.Helper()
	d.empty(t)
	var fs unix.Statfs_t
	if err := unix.Statfs(d.dir, &fs); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(d.ballast())
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	size := int64(fs.Bavail)*fs.Bsize - leave
	for block := make([]byte, 64<<10); size > 0; size -= int64(len(block)) {
		_, err := file.Write(block[:min(size, int64(len(block)))])
		if errors.Is(err, unix.ENOSPC) {
			return // the crawler took what it wanted meanwhile
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// empty takes away what fill put there.
func (d disk) empty(t *testing.T) {
	t.Helper()
	if err := os.Remove(d.ballast()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}

func (d disk) ballast() string { return filepath.Join(d.dir, "ballast") }

// readOnly changes what may be done to it.
func (d disk) readOnly(t *testing.T, yes bool) {
	t.Helper()
	flags := uintptr(unix.MS_REMOUNT)
	if yes {
		flags |= unix.MS_RDONLY
	}
	if err := unix.Mount("", d.dir, "", flags, ""); err != nil {
		t.Fatalf("remount: %v", err)
	}
}
