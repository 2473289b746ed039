package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// errNoNamespace is returned where the system gives this process no namespaces.
var errNoNamespace = errors.New("run sick needs a network and a mount namespace of its own, because the crawler finds names by /etc/resolv.conf: " +
	"run it as root, or allow user namespaces (sysctl user.max_user_namespaces)")

// inNamespace runs this program again in a network and a mount namespace of its own, as
// unshare -n -m does, and as unshare -r -n -m if that is not permitted.
func inNamespace(ctx context.Context, args []string, out io.Writer) error {
	for _, flags := range []uintptr{syscall.CLONE_NEWNET | syscall.CLONE_NEWNS, syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER} {
		cmd := exec.CommandContext(ctx, "/proc/self/exe", args...)
		cmd.Stdout, cmd.Stderr = out, os.Stderr
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		cmd.WaitDelay = 2 * patience
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags, Pdeathsig: syscall.SIGKILL}
		if flags&syscall.CLONE_NEWUSER != 0 {
			cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}
			cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
		}
		err := cmd.Start()
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.ENOSPC) {
			continue // ENOSPC: too many user namespaces
		}
		if err != nil {
			return err
		}
		return cmd.Wait()
	}
	return errNoNamespace
}

// settle makes the namespaces of this process a network of its own: loopback is up, names
// are looked up at 127.0.0.1, and the files in /etc name no other host. The files are in dir.
func settle(dir string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("separate mounts: %w", err)
	}
	for name, content := range map[string]string{"/etc/resolv.conf": "nameserver 127.0.0.1\n", "/etc/hosts": "127.0.0.1 localhost\n"} {
		own := filepath.Join(dir, filepath.Base(name))
		if err := os.WriteFile(own, []byte(content), 0o644); err != nil {
			return err
		}
		real, err := filepath.EvalSymlinks(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // 127.0.0.1 is what a resolver takes then
		}
		if err != nil {
			return err
		}
		if err := unix.Mount(own, real, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("mount %s: %w", name, err)
		}
	}
	return loopbackUp()
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return fmt.Errorf("bring the loopback interface up: %w", err)
	}
	return nil
}
