package broker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/weftcrawl/weft/dirlock"
)

// ErrNoBroker means that a directory never held a broker.
var ErrNoBroker = errors.New("there is no crawl")

// Reach says how to reach the broker whose data is in o.Dir as a member: that of
// the process that runs it, or else one that is opened for the caller, who must
// call release when done with it. It waits for a process that is just starting.
func Reach(ctx context.Context, o Options) (m Member, release func() error, err error) {
	if _, err := os.Stat(o.Dir); errors.Is(err, fs.ErrNotExist) {
		return Member{}, nil, fmt.Errorf("%w in %s", ErrNoBroker, filepath.Dir(o.Dir))
	}
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		b, err := Open(o)
		if err == nil {
			return b.Member(), b.Close, nil
		}
		if !errors.Is(err, dirlock.ErrInUse) {
			return Member{}, nil, err
		}
		if m, err := member(o.Dir); err == nil {
			return m, func() error { return nil }, nil
		}
		select {
		case <-ctx.Done():
			return Member{}, nil, fmt.Errorf("wait for the broker of another process: %w", context.Cause(ctx))
		case <-ticker.C:
		}
	}
}

// InUse tells whether a process has the broker in dir open.
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

// lockFile is what the process that has the broker open locks.
const lockFile = "broker.lock"

// addressFile tells other processes where the broker is that holds the lock.
func addressFile(dir string) string { return filepath.Join(dir, "address") }

// announce writes the address file whole, or not at all.
func announce(dir, addr string) error {
	fresh := addressFile(dir) + ".new"
	if err := os.WriteFile(fresh, []byte(addr+"\n"), 0o644); err != nil {
		return fmt.Errorf("tell the broker's address: %w", err)
	}
	return os.Rename(fresh, addressFile(dir))
}

// retract removes the address file; there may be none.
func retract(dir string) error {
	if err := os.Remove(addressFile(dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("take back the broker's address: %w", err)
	}
	return nil
}
