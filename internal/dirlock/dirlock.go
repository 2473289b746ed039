// Package dirlock gives a directory to one process at a time.
package dirlock

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrInUse means that another process has the directory.
var ErrInUse = errors.New("in use by another process")

// Lock is an advisory lock on a directory (flock(2)). The system releases it when the process
// ends, however it ends, so there are no stale locks.
type Lock struct{ file *os.File }

// Take makes dir and locks it for this process, with a lock on the file name in it. The error is
// ErrInUse if another process has it.
func Take(dir, name string) (*Lock, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make directory: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock directory: %w", err)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			owner, _ := os.ReadFile(file.Name()) // for people; may be empty
			return nil, fmt.Errorf("directory %s is %w%s", dir, ErrInUse, process(owner))
		}
		return nil, fmt.Errorf("lock %s: %w", file.Name(), err)
	}
	if err := errors.Join(file.Truncate(0), sign(file)); err != nil {
		return nil, errors.Join(fmt.Errorf("write %s: %w", file.Name(), err), file.Close())
	}
	return &Lock{file}, nil
}

// sign writes this process's id, for people.
func sign(file *os.File) error {
	_, err := fmt.Fprintln(file, os.Getpid())
	return err
}

// process says which process wrote a lock file.
func process(owner []byte) string {
	if pid := strings.TrimSpace(string(owner)); pid != "" {
		return " (" + pid + ")"
	}
	return ""
}

// Release releases the lock. The file stays: if it were removed, a process that has it open could
// lock a file that other processes do not find. To close the file is not enough: a process that is
// being forked has it open, too, until it runs its own program.
func (l *Lock) Release() error {
	return errors.Join(unix.Flock(int(l.file.Fd()), unix.LOCK_UN), l.file.Close())
}
