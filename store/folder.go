package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// folder is a Bucket in a directory that several machines may share. A key
// cannot be a directory of another key.
type folder struct{ root string }

// String implements Bucket.
func (f *folder) String() string { return f.root }

// Put writes a temporary file beside the object and renames it: a reader opens
// the old file or the new one. File and directory are synced, since the object
// may soon be all that is left.
func (f *folder) Put(ctx context.Context, key string, body io.Reader, size int64) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("put %s: %w", key, err)
		}
	}()
	if err := checkKey(key); err != nil {
		return err
	}
	path := f.path(key)
	if err := makeDurable(filepath.Dir(path)); err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), temporaryPrefix+"*")
	if err != nil {
		return err
	}
	_, err = io.Copy(temporary, &interruptible{ctx, exactly(body, size)})
	if err == nil {
		err = temporary.Sync()
	}
	err = errors.Join(err, temporary.Close())
	if err == nil {
		err = os.Chmod(temporary.Name(), 0o644) // others read it
	}
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	return syncDir(filepath.Dir(path))
}

// Get implements Bucket.
func (f *folder) Get(ctx context.Context, key string, w io.Writer) error {
	if err := checkKey(key); err != nil {
		return fmt.Errorf("get %s: %w", key, err)
	}
	file, err := os.Open(f.path(key))
	if absent(err) {
		err = ErrNotExist
	}
	if err != nil {
		return fmt.Errorf("get %s: %w", key, err)
	}
	defer file.Close()
	_, err = io.Copy(w, &interruptible{ctx, file})
	if errors.Is(err, syscall.EISDIR) {
		err = ErrNotExist
	}
	if err != nil {
		return fmt.Errorf("get %s: %w", key, err)
	}
	return nil
}

// List implements Bucket.
func (f *folder) List(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		if !begins(prefix) {
			return
		}
		err := filepath.WalkDir(f.path(dirOf(prefix)), func(path string, entry fs.DirEntry, err error) error {
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case absent(err):
				return nil // deleted meanwhile, or nothing was ever put here
			case err != nil:
				return err
			case path != f.root && strings.HasPrefix(entry.Name(), "."):
				return nil
			case entry.IsDir():
				return nil
			}
			key, err := filepath.Rel(f.root, path)
			if err != nil {
				return err
			}
			if key = filepath.ToSlash(key); !strings.HasPrefix(key, prefix) {
				return nil
			}
			info, err := entry.Info()
			if absent(err) {
				return nil
			}
			if err != nil {
				return err
			}
			if !yield(Object{Key: key, Size: info.Size()}, nil) {
				return fs.SkipAll
			}
			return nil
		})
		if err != nil {
			yield(Object{}, fmt.Errorf("list %q: %w", prefix, err))
		}
	}
}

// Delete implements Bucket. Directories stay: somebody may be about to put an
// object there.
func (f *folder) Delete(_ context.Context, key string) error {
	err := checkKey(key)
	if err == nil {
		err = os.Remove(f.path(key))
	}
	if err != nil && !absent(err) {
		return fmt.Errorf("delete %s: %w", key, err)
	}
	return nil
}

// Sweep implements Bucket. A temporary file tells by its directory what it was
// to become, and by the time of its last write that somebody is at work.
func (f *folder) Sweep(ctx context.Context, prefix string, then time.Time) error {
	if !begins(prefix) {
		return nil
	}
	err := filepath.WalkDir(f.path(dirOf(prefix)), func(path string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case absent(err):
			return nil
		case err != nil:
			return err
		case entry.IsDir() || !strings.HasPrefix(entry.Name(), temporaryPrefix):
			return nil
		}
		info, err := entry.Info()
		if absent(err) || err == nil && !info.ModTime().Before(then) {
			return nil
		}
		if err == nil {
			err = os.Remove(path)
		}
		if absent(err) {
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("sweep %q: %w", prefix, err)
	}
	return nil
}

// temporaryPrefix begins the names of files that are being written.
const temporaryPrefix = ".put-"

func (f *folder) path(key string) string { return filepath.Join(f.root, filepath.FromSlash(key)) }

// dirOf returns the directory in which all keys with that prefix lie.
func dirOf(prefix string) string { return prefix[:strings.LastIndex(prefix, "/")+1] }

// begins tells whether there can be keys with that prefix. There are none outside
// of the folder.
func begins(prefix string) bool {
	dir := dirOf(prefix)
	return dir == "" || checkKey(strings.TrimSuffix(dir, "/")) == nil
}

// absent tells that a path, or a directory on its way, is not there, or cannot
// be.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}

// makeDurable makes dir and what leads to it, so that it outlives a power cut.
func makeDurable(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := makeDurable(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(parent)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// interruptible is a reader that ends with its context.
type interruptible struct {
	ctx context.Context
	io.Reader
}

// Read implements io.Reader.
func (r *interruptible) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}
