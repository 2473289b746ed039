package blob

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

// folder is a Bucket in a directory, which several machines may share. A key cannot be a directory
// of another key.
type folder struct{ root string }

// String implements Bucket.
func (f *folder) String() string { return f.root }

// Put writes a temporary file beside the object and renames it: a reader opens the old file or the
// new one. File and directory are synced, because the object may soon be the only copy.
func (f *folder) Put(ctx context.Context, key string, body io.Reader, size int64) error {
	return f.put(ctx, key, body, size, os.Rename)
}

// PutNew links the temporary file instead of renaming it: a link does not replace a file.
func (f *folder) PutNew(ctx context.Context, key string, body io.Reader, size int64) error {
	return f.put(ctx, key, body, size, func(temporary, path string) error {
		err := os.Link(temporary, path)
		if errors.Is(err, fs.ErrExist) {
			return ErrExists
		}
		if err != nil {
			return err
		}
		return os.Remove(temporary)
	})
}

// put writes a temporary file, which publish gives the final name.
func (f *folder) put(ctx context.Context, key string, body io.Reader, size int64, publish func(temporary, path string) error) (err error) {
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
		err = publish(temporary.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	return syncDir(filepath.Dir(path))
}

// Get implements Bucket.
func (f *folder) Get(ctx context.Context, key string, w io.Writer) error {
	return f.read(ctx, key, func(file *os.File) io.Reader { return file }, w)
}

// GetSlowly implements Bucket. Get has little in memory, too.
func (f *folder) GetSlowly(ctx context.Context, key string, w io.Writer) error {
	return f.Get(ctx, key, w)
}

// GetRange implements Bucket.
func (f *folder) GetRange(ctx context.Context, key string, offset, length int64, w io.Writer) error {
	return f.read(ctx, key, func(file *os.File) io.Reader { return io.NewSectionReader(file, offset, length) }, w)
}

// read writes a part of an object to w.
func (f *folder) read(ctx context.Context, key string, part func(*os.File) io.Reader, w io.Writer) error {
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
	_, err = io.Copy(w, &interruptible{ctx, part(file)})
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
		err := f.walk(ctx, prefix, func(path string, info fs.FileInfo) error {
			key, err := filepath.Rel(f.root, path)
			if err != nil {
				return err
			}
			key = filepath.ToSlash(key)
			if strings.HasPrefix(info.Name(), ".") || !strings.HasPrefix(key, prefix) {
				return nil
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

// walk calls visit with the files in the directory of a prefix. It skips files that are deleted
// meanwhile.
func (f *folder) walk(ctx context.Context, prefix string, visit func(path string, info fs.FileInfo) error) error {
	if !begins(prefix) {
		return nil
	}
	return filepath.WalkDir(f.path(dirOf(prefix)), func(path string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil && !entry.IsDir() {
			var info fs.FileInfo
			if info, err = entry.Info(); err == nil {
				err = visit(path, info)
			}
		}
		if absent(err) {
			return nil // or nothing was ever put here
		}
		return err
	})
}

// Delete implements Bucket. Directories stay: another process may be about to put an object there.
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

// Sweep implements Bucket. A temporary file is in the directory of its key. Its last write shows
// whether the Put still runs.
func (f *folder) Sweep(ctx context.Context, prefix string, then time.Time) error {
	err := f.walk(ctx, prefix, func(path string, info fs.FileInfo) error {
		if !strings.HasPrefix(info.Name(), temporaryPrefix) || !info.ModTime().Before(then) {
			return nil
		}
		return os.Remove(path)
	})
	if err != nil {
		return fmt.Errorf("sweep %q: %w", prefix, err)
	}
	return nil
}

const temporaryPrefix = ".put-"

func (f *folder) path(key string) string { return filepath.Join(f.root, filepath.FromSlash(key)) }

// dirOf returns the directory of all keys with that prefix.
func dirOf(prefix string) string { return prefix[:strings.LastIndex(prefix, "/")+1] }

// begins reports whether there can be keys with that prefix. There are no keys outside of the
// folder.
func begins(prefix string) bool {
	dir := dirOf(prefix)
	return dir == "" || checkKey(strings.TrimSuffix(dir, "/")) == nil
}

// absent reports whether a path, or a directory on its way, does not exist or cannot exist.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}

// makeDurable makes dir and its parents, so that they survive a power failure.
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

func (r *interruptible) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}
