package broker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/weftcrawl/weft/internal/dirlock"
	"github.com/weftcrawl/weft/internal/supervise"
)

// ErrNoBroker means that a directory never had a broker.
var ErrNoBroker = errors.New("there is no crawl")

// Reach says how to reach the broker of o.Dir as a member: the broker of the process that runs
// it, or a new one, which release closes. It waits for a process that is just starting.
func Reach(ctx context.Context, o Options) (m Member, release func() error, err error) {
	if _, err := os.Stat(o.Dir); errors.Is(err, fs.ErrNotExist) {
		return Member{}, nil, fmt.Errorf("%w in %s", ErrNoBroker, filepath.Dir(o.Dir))
	}
	release = func() error { return nil }
	var failed error
	waited := supervise.Until(ctx, 50*time.Millisecond, func() (bool, error) {
		b, err := Open(o)
		switch {
		case err == nil:
			m, release = b.Member(), b.Close
			return true, nil
		case !errors.Is(err, dirlock.ErrInUse):
			failed = err
			return true, nil
		}
		m, err = member(o.Dir)
		return err == nil, nil
	})
	if waited != nil {
		failed = fmt.Errorf("wait for the broker of another process: %w", waited)
	}
	if failed != nil {
		return Member{}, nil, failed
	}
	return m, release, nil
}

// Hold keeps other processes from opening the broker in dir until release is called. The error is
// dirlock.ErrInUse if a process has it open.
func Hold(dir string) (release func() error, err error) {
	lock, err := dirlock.Take(dir, lockFile)
	if err != nil {
		return nil, fmt.Errorf("embedded broker: %w", err)
	}
	return lock.Release, nil
}

// InUse reports whether a process has the broker in dir open.
func InUse(dir string) (bool, error) {
	lock, err := dirlock.Take(dir, lockFile)
	if errors.Is(err, dirlock.ErrInUse) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, lock.Release()
}

// lockFile is locked by the process that has the broker open.
const lockFile = "broker.lock"

// addressFile has the address of the broker, for other processes.
func addressFile(dir string) string { return filepath.Join(dir, "address") }

// announce tells other processes the address.
func announce(dir, addr string) error {
	if err := replace(addressFile(dir), []byte(addr+"\n"), 0o644); err != nil {
		return fmt.Errorf("tell the broker's address: %w", err)
	}
	return nil
}

// replace writes a file atomically.
func replace(name string, content []byte, mode fs.FileMode) error {
	fresh := name + ".new"
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // with another mode
	}
	if err := os.WriteFile(fresh, content, mode); err != nil {
		return err
	}
	return os.Rename(fresh, name)
}

// retract removes the address file, if there is one.
func retract(dir string) error {
	if err := os.Remove(addressFile(dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("take back the broker's address: %w", err)
	}
	return nil
}
